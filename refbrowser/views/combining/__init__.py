"""What the sheets show that combine files, append them, and fold what came of it."""
