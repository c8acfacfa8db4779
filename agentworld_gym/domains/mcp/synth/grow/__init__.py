"""Grows worlds from the shipped scenarios: a seed varies names, rows and policies, and no model is asked."""
