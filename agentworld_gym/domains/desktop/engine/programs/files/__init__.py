"""The file manager: folders in windows, their listings, menus and views, and how files are moved and copied."""
