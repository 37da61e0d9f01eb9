"""Faults and warnings of documents."""
