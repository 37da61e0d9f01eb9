"""Serving datasets as CDM Remote, on this machine."""
