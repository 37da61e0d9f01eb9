"""Statistics of very many values, in one pass over their chunks."""
