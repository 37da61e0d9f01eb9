"""What a plot shows as a value that is written and read again."""
