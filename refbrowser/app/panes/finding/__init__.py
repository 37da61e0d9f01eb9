"""Lists that are searched while one types: the command palette, and go to key."""
