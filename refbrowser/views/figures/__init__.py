"""Figures and films as values: how large they are, what is written in them, which frames they have."""
