"""What a dataset holds: groups, dimensions, arrays, findings."""
