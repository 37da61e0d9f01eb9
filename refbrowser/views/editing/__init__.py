"""What the editors show and make of what is typed, without Qt: drafts, and rows of what they would change."""
