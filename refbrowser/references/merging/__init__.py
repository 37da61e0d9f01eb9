"""Merging documents: what two sides changed of one, as edits of one side, and conflicts."""
