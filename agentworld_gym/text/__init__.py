"""How plain text is prepared for its readers: escaping, and numbers before lines."""
