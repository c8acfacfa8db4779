"""The two forms in which the tools of a made world are implemented."""
