"""The sheet that merges, and its commands."""
