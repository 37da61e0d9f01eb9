"""What the page of expressions and the safety report show."""
