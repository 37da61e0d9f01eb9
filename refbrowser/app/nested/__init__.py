"""Values that are lists and records, and rows of their own length: a page of them, and their charts."""
