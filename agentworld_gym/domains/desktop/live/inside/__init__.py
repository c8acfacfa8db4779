"""What runs inside the sandbox of a live desktop, with the Python of the system and Debian's `gi` and `Xlib`.

These modules are copied there. They import one another and nothing else of this package.
"""
