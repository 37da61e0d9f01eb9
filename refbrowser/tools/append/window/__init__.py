"""What the window shows of appending."""
