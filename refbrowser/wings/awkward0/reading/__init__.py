"""A file to a document: its arrays, their buffers, what it names, how many rows there are."""
