"""Writing streams: datasets as headers, values as messages, and the file that they go into."""
