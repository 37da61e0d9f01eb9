"""Replacing the beginning of URLs: a change of the table of URLs, not of a million entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.references.json_edit import rewrite
from refbrowser.references.json_text import parse
from refbrowser.references.refs import Patch, References
from refbrowser.references.table import ReferenceTable
from refbrowser.references.values import ValueKind


def with_new_prefix(text: Any, old: str, new: str) -> Any:
    """Return text that begins with `old` beginning with `new`, anything else as it is."""
    return new + text[len(old) :] if isinstance(text, str) and text.startswith(old) else text


def replaced_urls(refs: References, old: str, new: str, slots: Sequence[int] | None) -> References:
    """Return the references with another beginning of the URLs that begin with `old`.

    Parameters
    ----------
    slots
        The entries that change; None for all.
    """
    chosen = None if slots is None else set(slots)
    rows = None if slots is None else np.array([slot for slot in slots if slot >= 0], np.int64)
    changed = replace(refs, table=_with_urls(refs.table, old, new, rows))
    # Entries whose URL is not in the table: those of the overlay, and those with numbers beyond 64 bits.
    large = np.flatnonzero(refs.table.url == ValueKind.LARGE).tolist()
    single = [row for row in large if row not in refs.replaced and refs.stands(row)]
    single += [*refs.replaced, *(-2 - number for number in range(len(refs.appended)))]
    for slot in single:
        if chosen is None or slot in chosen:
            changed = _with_entry(changed, slot, old, new)
    return changed


def _with_entry(refs: References, slot: int, old: str, new: str) -> References:
    if refs.value(slot).kind not in (None, ValueKind.LARGE):
        return refs
    before = refs.value_text(slot)
    node = parse(before)
    value = node.to_python()
    value[0] = with_new_prefix(value[0], old, new)
    raw = rewrite(before, node, value)
    if raw == before:
        return refs
    return refs.with_patch(slot, Patch.of(refs.key_of(slot), refs.key_text(slot), raw))


def _with_urls(
    table: ReferenceTable, old: str, new: str, rows: np.ndarray[Any, Any] | None
) -> ReferenceTable:
    matching = [number for number, url in enumerate(table.urls) if url.startswith(old)]
    if not matching:
        return table
    written = table.written or table
    if rows is None:
        urls = tuple(with_new_prefix(url, old, new) for url in table.urls)
        return replace(table, urls=urls, written=written)
    moved = rows[np.isin(table.url[rows], matching)]
    used = np.unique(table.url[moved]).tolist()
    numbers = np.arange(len(table.urls), dtype=np.int32)
    numbers[used] = len(table.urls) + np.arange(len(used))
    column = table.url.astype(np.int32)
    column[moved] = numbers[table.url[moved]]
    urls = (*table.urls, *(with_new_prefix(table.urls[number], old, new) for number in used))
    return replace(table, urls=urls, url=column, written=written)
