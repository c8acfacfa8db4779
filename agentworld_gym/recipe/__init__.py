"""The recipe: training a world model on recorded sessions, and importing and exporting these."""
