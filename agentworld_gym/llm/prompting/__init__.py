"""What a language model is told and what it wrote: prompts, completions, and the forms in which answers are written."""
