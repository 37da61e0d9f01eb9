"""Declared properties held against a dataset."""
