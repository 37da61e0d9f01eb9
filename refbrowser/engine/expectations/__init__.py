"""Expectations held against a dataset, and the file beside it that says them."""
