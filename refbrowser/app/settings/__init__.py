"""What is kept between runs: the layout, what was opened, preferences."""
