"""Ranges of anything that can be read, fetched; what is read so: archives, locks, whole files."""
