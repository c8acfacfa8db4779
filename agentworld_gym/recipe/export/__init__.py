"""Recorded sessions as data to train agents on: what the agent wrote is what is learned."""
