"""What a reference document holds: metadata and references by key, read, viewed, expanded and written."""
