"""What the command line does with Icechunk repositories."""
