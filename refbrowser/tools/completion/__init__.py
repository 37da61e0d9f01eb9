"""Completion: what a shell offers while a command is typed, made of the table of tools."""
