"""What a dataset is: groups, arrays, dimensions, chunk grids, types and references."""
