"""What the window's parts act on: opened documents, without any widget."""
