"""A model of git 2.39 over texts in memory: objects, history, index and the commands that people use."""
