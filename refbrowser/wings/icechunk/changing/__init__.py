"""Changes of a snapshot as values, merging them with what others committed, and committing them."""
