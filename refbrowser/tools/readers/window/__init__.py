"""The sheet of readers, and its command."""
