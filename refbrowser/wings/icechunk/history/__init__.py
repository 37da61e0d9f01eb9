"""The tool that shows the history of an Icechunk repository."""
