"""What draws over a picture."""
