"""Comparing datasets of any format: structure, metadata by meaning, references, values."""
