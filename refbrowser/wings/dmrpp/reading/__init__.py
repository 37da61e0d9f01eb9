"""Reading DMR++: nodes, and where their chunks are."""
