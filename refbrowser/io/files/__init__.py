"""Files that the program writes: their names, whole or not at all, and what is kept of them."""
