"""What commands and pages of a window get: all of it that they may use, as one typed object."""
