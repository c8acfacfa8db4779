"""How a phone is drawn: its screen, and the elements on it."""
