"""Which other software reads a dataset."""
