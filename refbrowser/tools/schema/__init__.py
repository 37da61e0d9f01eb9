"""What verbs print as JSON, as JSON Schema."""
