"""CDM Remote: datasets of a server, asked for in ncstream."""
