"""Free agents: they do what people and language models do in a domain, whatever its tasks ask for."""
