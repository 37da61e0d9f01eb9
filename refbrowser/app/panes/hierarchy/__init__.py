"""The tree of opened documents."""
