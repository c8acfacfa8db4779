"""How faithful a world is: what it answers beside the grounded world, step by step."""
