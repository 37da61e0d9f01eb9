"""Docks whose panes follow the plot or the tree."""
