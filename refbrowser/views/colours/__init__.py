"""Colour tables that users bring."""
