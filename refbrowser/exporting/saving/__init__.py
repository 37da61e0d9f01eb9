"""Saving a document under another name, in another version, in another folder."""
