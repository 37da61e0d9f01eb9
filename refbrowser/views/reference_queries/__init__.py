"""Which references of a document are meant: by key, URL, size, offset, kind and state; and in which order."""
