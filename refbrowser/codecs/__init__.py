"""Chunk bytes to arrays and back."""
