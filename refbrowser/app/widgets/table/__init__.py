"""The table of values: a grid of any size over the slice that the plot shows."""
