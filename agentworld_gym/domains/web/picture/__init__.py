"""How a web page is drawn: the frame of a browser, the elements of the page, and their flow."""
