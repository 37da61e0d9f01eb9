"""The sheet that computes arrays, and the command that shows it."""
