"""A generator over a server that speaks the protocol of OpenAI's chat completions, and its parts."""
