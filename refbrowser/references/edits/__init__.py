"""Edits of documents, and the history of them."""
