"""Work on ncstream files: append, compact, repair, and what each message gave."""
