"""Comparing two datasets of any format: references, metadata and values."""
