"""The sheet that folds, and the command that shows it."""
