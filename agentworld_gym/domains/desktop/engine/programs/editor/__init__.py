"""The text editor: its window, and the helper object for code."""
