"""Statistics of a region of an array: the verb and the function."""
