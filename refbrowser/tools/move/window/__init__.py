"""Where the files of a document lie, and moving their URLs."""
