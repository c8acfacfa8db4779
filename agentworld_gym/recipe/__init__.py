"""The recipe: recording sessions of grounded worlds and training a world model on them."""
