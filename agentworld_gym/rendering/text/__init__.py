"""Screens and pages as text for a terminal."""
