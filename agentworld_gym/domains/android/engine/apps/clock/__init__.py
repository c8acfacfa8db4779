"""The clock app: its state, its messages and its screens."""
