"""Several agents in one world: teams of roles with a channel of messages, and directors who choose the controls."""
