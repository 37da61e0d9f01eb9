"""Writing a dataset as another format: planned first, then carried out as independent tasks, then verified."""
