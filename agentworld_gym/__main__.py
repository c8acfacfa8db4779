"""The command `agentworld`, also as `python -m agentworld_gym`."""


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, also while it is being imported."""
    try:
        # Worker processes import this module as well, and they need no command line.
        from agentworld_gym.cli.app import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
