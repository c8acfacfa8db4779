"""Makes tool worlds with a language model: each stage is checked by running it, and errors go back to the model."""
