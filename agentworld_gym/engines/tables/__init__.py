"""Databases in memory that data files describe: secured connections, rows from a seed, rows that are given."""
