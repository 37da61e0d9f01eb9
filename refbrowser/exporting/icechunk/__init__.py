"""Icechunk repositories as targets: references stay references, a commit is made as a whole."""
