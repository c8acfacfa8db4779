"""The data card of a recording: its statistics, its charts, and the page that shows them."""
