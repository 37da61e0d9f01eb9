"""Writing a dataset as another format: planned first, carried out as independent tasks, then verified."""
