"""How plain text is prepared for its readers: escaping, numbers before lines, scalars of YAML, reports of commands."""
