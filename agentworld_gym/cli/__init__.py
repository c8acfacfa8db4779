"""The command line `agentworld`; `agentworld_gym.cli.app` holds all of it."""
