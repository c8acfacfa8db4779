"""Recording sessions of grounded worlds, and the data card that describes a recording."""
