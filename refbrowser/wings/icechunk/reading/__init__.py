"""A snapshot of a repository to a document: its files, its metadata, its references."""
