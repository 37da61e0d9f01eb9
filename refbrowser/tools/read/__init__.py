"""Values of an array, printed or written."""
