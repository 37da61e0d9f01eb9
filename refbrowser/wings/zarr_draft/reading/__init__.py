"""Stores of the drafts: keys, metadata documents, types and codecs to a hierarchy."""
