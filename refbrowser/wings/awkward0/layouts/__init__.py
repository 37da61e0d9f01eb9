"""What expressions of a schema say: the layouts of arrays, and their types."""
