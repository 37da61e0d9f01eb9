"""The pane of attributes and metadata of the selected node."""
