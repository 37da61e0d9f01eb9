"""Axes, and the charts that are drawn on them."""
