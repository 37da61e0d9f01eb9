"""NcStream, grammar version 2: streams of messages."""
