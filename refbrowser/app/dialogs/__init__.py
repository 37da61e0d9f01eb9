"""Dialogs: what the window asks and says in front of itself."""
