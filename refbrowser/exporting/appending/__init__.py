"""Adding files to a document: at the end of an axis, or into its holes."""
