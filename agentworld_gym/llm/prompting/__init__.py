"""Prompts, completions, and the forms in which answers are written."""
