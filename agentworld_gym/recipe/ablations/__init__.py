"""Ablations of the recipe: arms trained alike but for one choice, and the table that compares them."""
