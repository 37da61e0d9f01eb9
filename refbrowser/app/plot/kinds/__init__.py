"""What draws each kind of plot."""
