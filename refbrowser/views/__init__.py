"""What a view of an array shows, as values: slices, coordinates, levels, pictures; no Qt."""
