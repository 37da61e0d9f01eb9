"""Merging what two sides changed of one reference document."""
