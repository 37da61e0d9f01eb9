"""What tables and charts of nested values show."""
