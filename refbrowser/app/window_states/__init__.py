"""What a window shows as a value: told, kept while it is open, and restored."""
