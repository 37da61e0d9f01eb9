"""Locks in the window: written, and the new state of files accepted."""
