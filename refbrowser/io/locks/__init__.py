"""Locks: what was known of files when references to them were right, and whether they still are the same."""
