"""The pane Explain, and its commands."""
