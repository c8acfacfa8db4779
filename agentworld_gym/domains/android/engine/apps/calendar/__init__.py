"""The calendar app: its messages and its screens."""
