"""What a stream was sent as: its messages, and which of them gave which element."""
