"""What should be there, in the window."""
