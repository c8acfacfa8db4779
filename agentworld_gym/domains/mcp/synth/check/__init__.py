"""Checks worlds that are there already, declarative ones and AWM's: everything is run, and what fails is named."""
