"""Several views of arrays: as tabs, side by side and in windows of their own."""
