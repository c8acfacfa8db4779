"""The terminal window, and the shell that shares the files of the desktop."""
