"""What the chunk map shows: classes, colours, pixels and facts of chunks."""
