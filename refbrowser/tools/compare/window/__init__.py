"""The window in which two datasets are compared, and its commands."""
