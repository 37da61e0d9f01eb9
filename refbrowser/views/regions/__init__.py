"""Regions of arrays: which elements are in them, how much each weighs, and the statistics of their values."""
