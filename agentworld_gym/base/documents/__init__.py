"""Typed documents: strict models, plain YAML and JSON, JSON lines, and templates that nobody vouches for."""
