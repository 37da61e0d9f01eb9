"""Writing a dataset in another format."""
