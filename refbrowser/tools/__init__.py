"""Tools: what a user can have done, as one table; each tool has a folder."""
