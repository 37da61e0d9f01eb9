"""Readers that are installed, tried on a sample of a dataset."""
