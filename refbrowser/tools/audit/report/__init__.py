"""What an audit found, as lines, pages, JSON and tables."""
