"""Settings of the command line, shown and changed."""
