"""Colour maps of plots, and how colours are laid over values."""
