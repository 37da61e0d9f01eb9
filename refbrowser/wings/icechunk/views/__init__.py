"""What the page of snapshots shows."""
