"""The stored bytes of one key."""
