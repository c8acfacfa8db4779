"""`python -m agentworld_gym` is the command `agentworld`."""

from agentworld_gym.cli import main

if __name__ == "__main__":
    main()
