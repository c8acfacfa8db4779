"""A model of git 2.39 over texts in memory: objects, history, index and the commands that people use.

Identifiers are git's own, and every command prints what git prints, which a library such as dulwich does not.
"""
