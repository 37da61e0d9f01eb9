"""Locks: what is known of the files of a document is written down, to notice when one is replaced."""
