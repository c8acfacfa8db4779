"""Families of tasks in which the rules of a grown world decide: limits, deadlines, and who may do what."""
