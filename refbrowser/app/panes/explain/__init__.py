"""The pane that explains an element or a key."""
