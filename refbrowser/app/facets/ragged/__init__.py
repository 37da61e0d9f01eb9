"""Rows of lengths of their own."""
