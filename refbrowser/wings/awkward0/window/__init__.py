"""The page of expressions, the safety report, and the commands of such files."""
