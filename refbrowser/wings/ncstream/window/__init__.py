"""What the window shows of streams, and what can be done with them there."""
