"""How plain text is prepared and read: escaping, numbers before lines, scalars of YAML, reports of commands, Python."""
