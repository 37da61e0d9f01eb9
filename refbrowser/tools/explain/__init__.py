"""Explaining why an element, or a key, shows as it does."""
