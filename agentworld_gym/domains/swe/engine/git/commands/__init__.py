"""The commands of git, each a function of the call and of its arguments."""
