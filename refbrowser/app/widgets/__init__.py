"""Pieces of windows that know nothing of datasets."""
