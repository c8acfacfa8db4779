"""Models and tokenizers as files: how they are found, loaded and digested."""
