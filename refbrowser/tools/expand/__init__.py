"""The Version 0 rows of a document."""
