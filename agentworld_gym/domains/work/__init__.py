"""An office and a repository in one episode: mail, a tracker, a shell and code."""
