"""Writing a dataset as a stream of messages: planned, written in one pass, walked again and compared."""
