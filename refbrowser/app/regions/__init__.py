"""Regions of a plot: drawn over its picture, with the statistics of their values below it."""
