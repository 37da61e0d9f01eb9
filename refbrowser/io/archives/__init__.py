"""Archives of the zip format: their directories, their members, what can be rescued of damaged ones."""
