"""The page of snapshots."""
