"""Icechunk repositories: read, committed to, and their history in the window."""
