"""Writing a dataset as Awkward 0: names checked, rows read in blocks, blobs put, read again and compared."""
