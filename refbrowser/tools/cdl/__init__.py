"""A dataset as CDL."""
