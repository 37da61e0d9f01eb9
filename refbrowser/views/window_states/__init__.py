"""What a whole window shows as a value, and the file that holds it: what users call a session."""
