"""The chunk map: the grid of an array, coloured by what is known of its chunks."""
