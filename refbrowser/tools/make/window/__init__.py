"""What the window shows of making references, and of combining files."""
