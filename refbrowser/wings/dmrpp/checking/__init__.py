"""Comparing DMR++ with the files that they describe."""
