"""Changing URLs by a rule: a change of the table of URLs, not of a million entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from refbrowser.references.document.groups import Rows
from refbrowser.references.document.refs import Patch, References
from refbrowser.references.document.table import ReferenceTable
from refbrowser.references.document.values import ValueKind
from refbrowser.references.text.json_edit import rewrite
from refbrowser.references.text.json_text import parse


def with_new_prefix(text: Any, old: str, new: str) -> Any:
    """Return text that begins with `old` beginning with `new`, anything else as it is."""
    return new + text[len(old) :] if isinstance(text, str) and text.startswith(old) else text


def replaced_urls(refs: References, old: str, new: str, slots: Sequence[int] | Rows | None) -> References:
    """Return the references with another beginning of the URLs that begin with `old`.

    Parameters
    ----------
    slots
        The entries that change; None for all.
    """
    return changed_urls(refs, lambda url: with_new_prefix(url, old, new), slots)


def changed_urls(
    refs: References, change: Callable[[str], str], slots: Sequence[int] | Rows | None = None
) -> References:
    """Return the references with the URLs that `change` makes of them, asked once for each distinct URL.

    Parameters
    ----------
    slots
        The entries that change; None for all.
    """
    chosen = None if slots is None else np.asarray(slots, np.int64)
    rows = None if chosen is None else chosen[chosen >= 0]
    changed = replace(refs, table=_with_urls(refs.table, change, rows))
    # Entries whose URL is not in the table: those of the overlay, and those with numbers beyond 64 bits.
    large = np.flatnonzero(refs.table.url == ValueKind.LARGE).tolist()
    single = [row for row in large if row not in refs.replaced and refs.stands(row)]
    single += [*refs.replaced, *(-2 - number for number in range(len(refs.appended)))]
    # Where there is none, numpy would sort all that is chosen to find that out.
    if chosen is not None and single:
        single = np.array(single, np.int64)[np.isin(single, chosen)].tolist()
    for slot in single:
        changed = _with_entry(changed, slot, change)
    return changed


def _with_entry(refs: References, slot: int, change: Callable[[str], str]) -> References:
    if refs.value(slot).kind not in (None, ValueKind.LARGE):
        return refs
    before = refs.value_text(slot)
    node = parse(before)
    value = node.to_python()
    if isinstance(value[0], str):
        value[0] = change(value[0])
    raw = rewrite(before, node, value)
    if raw == before:
        return refs
    return refs.with_patch(slot, Patch.of(refs.key_of(slot), refs.key_text(slot), raw))


def _with_urls(
    table: ReferenceTable, change: Callable[[str], str], rows: np.ndarray[Any, Any] | None
) -> ReferenceTable:
    made = {
        number: url for number, old in enumerate(table.urls) if (url := change(old)) is not old and url != old
    }
    if not made:
        return table
    written = table.written or table
    if rows is None:
        urls = tuple(made.get(number, url) for number, url in enumerate(table.urls))
        return replace(table, urls=urls, written=written)
    moved = rows[np.isin(table.url[rows], list(made))]
    used = np.unique(table.url[moved]).tolist()
    numbers = np.arange(len(table.urls), dtype=np.int32)
    numbers[used] = len(table.urls) + np.arange(len(used))
    column = table.url.astype(np.int32)
    column[moved] = numbers[table.url[moved]]
    urls = (*table.urls, *(made[number] for number in used))
    return replace(table, urls=urls, url=column, written=written)
