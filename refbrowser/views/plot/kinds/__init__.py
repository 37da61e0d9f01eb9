"""The kinds of plots, as values."""
