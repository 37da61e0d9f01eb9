"""Changing streams: appending, compacting, repairing."""
