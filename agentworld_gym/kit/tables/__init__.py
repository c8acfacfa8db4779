"""Databases in memory that data files describe: restricted connections, rows made from a seed, rows that tasks state.

They are SQLite databases by way of Python's `sqlite3`, which an authorizer and a progress handler confine.
"""
