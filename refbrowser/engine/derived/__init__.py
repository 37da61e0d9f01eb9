"""Arrays that are derived from others: nothing of them is stored, each part is computed when it is read."""
