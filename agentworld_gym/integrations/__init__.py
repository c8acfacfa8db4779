"""Bridges to other libraries; each module imports its library, this package imports none."""
