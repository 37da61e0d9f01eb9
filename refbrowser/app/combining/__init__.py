"""The sheets that combine files: what these differ in, where each lies, and what is done about it."""
