"""The worlds of Agent World Model (arXiv 2602.10090): played by their own code, or by a language model beside it."""
