"""Bridges to other libraries: each module imports its library, and this package imports none."""
