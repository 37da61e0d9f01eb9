"""Stores of the v3 draft of 2019: in memory, in a folder, in a zip file (Store interface)."""
