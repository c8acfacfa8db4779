"""Makes tool worlds: a language model writes them, each stage checked by running it, or they grow from a seed."""
