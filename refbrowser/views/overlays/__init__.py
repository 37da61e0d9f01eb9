"""What can be drawn over a picture, as values."""
