"""Findings, and the table of their kinds."""
