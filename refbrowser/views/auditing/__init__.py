"""Audits as people and programs read them: lines, tables, pages."""
