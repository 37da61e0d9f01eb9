"""What draws figures and films, and the sheets that ask for them."""
