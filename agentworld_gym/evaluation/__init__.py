"""How good a world model is: on recorded rows, against the grounded worlds, and by what agents learn in it."""
