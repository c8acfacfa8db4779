"""How a desktop is drawn: its windows, menus and dialogs, and the elements in them."""
