"""The settings window, and the panels that its data file describes."""
