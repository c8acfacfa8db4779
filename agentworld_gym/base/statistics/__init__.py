"""Intervals for means and proportions."""
