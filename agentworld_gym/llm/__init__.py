"""Asking a language model: prompts, generators, judges, retrieval, and recorded sessions as rows and samples."""
