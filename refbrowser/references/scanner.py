"""Reads entries of `refs` in blocks by vector operations."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.references.table_builder import TableBuilder


@dataclass
class Layout:
    """What stands between the strings and numbers of entries, as the writer of the document spaces them."""


def scan(
    data: bytes, at: int, base: int, builder: TableBuilder, layout: Layout, avoid: tuple[str, ...]
) -> int:
    """Read entries from `at`, the beginning of a key; return how many bytes were taken."""
    return 0
