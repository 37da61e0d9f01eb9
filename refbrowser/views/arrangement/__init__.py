"""How the views of a window are arranged, and what of them is linked, as values."""
