"""Draws maps: where elements lie on the Earth, and the lines of the Earth over them."""
