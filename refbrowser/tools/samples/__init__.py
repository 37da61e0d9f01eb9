"""Public datasets of the field, listed."""
