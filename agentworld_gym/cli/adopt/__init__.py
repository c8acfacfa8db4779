"""`agentworld adopt`: a world model of a user's own system, from its first recording to a report of what to trust."""
