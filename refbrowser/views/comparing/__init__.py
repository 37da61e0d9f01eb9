"""Comparisons and merges in words, as text and as a page of HTML."""
