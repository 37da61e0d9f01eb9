"""Folding: references that stand one by one become templates and gen rules."""
