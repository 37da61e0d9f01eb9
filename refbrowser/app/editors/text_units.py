"""Positions in text: Python counts characters, Qt counts units of UTF-16."""

from __future__ import annotations

from collections.abc import Callable


def utf16_offsets(text: str) -> Callable[[int], int]:
    """Return what turns a number of characters of `text` into a number of UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda position: position
    return lambda position: position + sum(character > "\uffff" for character in text[:position])


def character_offset(text: str, units: int) -> int:
    """Return how many characters of `text` its first `units` UTF-16 units are."""
    if text.isascii():
        return units
    position = 0
    while units > 0 and position < len(text):
        units -= 2 if text[position] > "\uffff" else 1
        position += 1
    return position
