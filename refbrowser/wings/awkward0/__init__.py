"""Files of Awkward 0: schemas that are expressions, and the blobs that they lead to."""
