"""Rarer formats, a folder for each with all that it has: reading, writing, changing, views, verbs, window.

Nothing else imports them: they are known by their rows in the tables of formats and tools, which name their
modules as text.
"""
