"""Icechunk repositories, read: branches, tags and snapshots, and where their chunks lie."""
