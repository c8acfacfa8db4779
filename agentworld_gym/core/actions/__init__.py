"""What an agent may write: the syntaxes of actions, the parser that reads them, and the tools that they call."""
