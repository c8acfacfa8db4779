"""`python -m agentworld_gym` is the command `agentworld`."""

if __name__ == "__main__":
    # Worker processes import this module as well, and they need no command line.
    from agentworld_gym.cli.app import main

    main()
