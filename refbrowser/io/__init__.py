"""Bytes: where they may come from, planning ranges, fetching them, and atomic writing."""
