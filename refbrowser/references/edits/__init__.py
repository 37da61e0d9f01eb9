"""Edits of documents."""
