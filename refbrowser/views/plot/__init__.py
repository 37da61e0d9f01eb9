"""What the plot and the table of values show: slices, plans, pictures, coordinates, levels, series."""
