"""What the command line does with streams."""
