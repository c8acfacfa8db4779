"""The web browser of the desktop: its window, its pages as widgets, and the helper object for code."""
