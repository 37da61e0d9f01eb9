"""Writing streams: what datasets become as messages."""
