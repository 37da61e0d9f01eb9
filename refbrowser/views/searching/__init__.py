"""Search in all texts of documents: what is sought, and where it stands."""
