"""Adding files to a document, or values to a stream of messages."""
