"""Changing what URLs begin with, in a document or a part of it: a change of the table of URLs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import translate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.references.content.chunk_codes import Rows
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.refs import Patch, References
from refbrowser.references.content.table import ODD, ReferenceTable
from refbrowser.references.text.json_edit import rewrite
from refbrowser.references.text.json_text import parse

if TYPE_CHECKING:
    from refbrowser.references.content.content import DocumentContent


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
    single = refs.slots_beside_table()
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
    urls = tuple(map(change, table.urls))
    if urls == table.urls:
        return table
    written = table.written or table
    if rows is None:
        return replace(table, urls=urls, written=written)
    made = {number: new for number, (new, old) in enumerate(zip(urls, table.urls, strict=True)) if new != old}
    moved = rows[np.isin(table.url[rows], list(made))]
    used = np.unique(table.url[moved]).tolist()
    numbers = np.arange(len(table.urls), dtype=np.int32)
    numbers[used] = len(table.urls) + np.arange(len(used))
    column = table.url.astype(np.int32)
    column[moved] = numbers[table.url[moved]]
    urls = (*table.urls, *(made[number] for number in used))
    return replace(table, urls=urls, url=column, written=written)


#: Keys that are made and looked at between two calls of `pause`.
STEP = 4_096

#: Positions of entries of `refs` in document order, as first ones and ends that do not belong.
Runs = tuple[tuple[int, int], ...]


class ScopeKind(StrEnum):
    """What a part of a document is named by."""

    ALL = "all"
    PATTERN = "pattern"
    UNDER = "under"
    ENTRIES = "entries"
    TEMPLATE = "template"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class PrefixScope:
    """A part of a document.

    Attributes
    ----------
    text
        The shell pattern of keys (``temp/*``), the path of an array or group, or the name of a template.
    number
        Of a gen rule.
    runs
        Positions in `refs`.
    """

    kind: ScopeKind = ScopeKind.ALL
    text: str = ""
    number: int = 0
    runs: Runs = ()

    @property
    def has_references(self) -> bool:
        """Whether entries of `refs` can belong to it."""
        return self.kind not in (ScopeKind.TEMPLATE, ScopeKind.RULE)

    def holds_template(self, name: str) -> bool:
        """Return whether a template belongs to it."""
        return self.kind is ScopeKind.ALL or (self.kind is ScopeKind.TEMPLATE and self.text == name)

    def holds_rule(self, document: DocumentContent, index: int) -> bool:
        """Return whether a gen rule belongs to it: below a path where all its keys are."""
        if self.kind is ScopeKind.UNDER:
            directories = document.generated[index].directories()
            return bool(directories) and all(_is_below(each, self.text) for each in directories or ())
        return self.kind is ScopeKind.ALL or (self.kind is ScopeKind.RULE and self.number == index)


def entries_with_prefix(
    document: DocumentContent, old: str, scope: PrefixScope, pause: Callable[[], None] = lambda: None
) -> Rows:
    """Return the slots of the entries of a part whose URL begins with `old`; `pause` may raise to end it.

    What changes with the place of a store or file is not among them.
    """

    def begins(url: str) -> bool:
        return url.startswith(old) and not document.is_at_place(url)

    return entries_of_scope(document.refs, scope, pause, begins)


def entries_of_scope(
    refs: References,
    scope: PrefixScope,
    pause: Callable[[], None] = lambda: None,
    is_meant: Callable[[str], bool] = lambda url: True,
) -> Rows:
    """Return the slots of the entries of a part that have a URL, one that is meant."""
    if not scope.has_references:
        return np.zeros(0, np.int64)
    table = refs.table
    wanted = np.array([number for number, url in enumerate(table.urls) if is_meant(url)], np.int64)
    rows = np.flatnonzero(np.isin(table.url, wanted)) if len(wanted) else np.zeros(0, np.int64)
    rows = rows[refs.standing()[rows]]
    pause()
    values = ((slot, refs.value(slot)) for slot in refs.slots_beside_table())
    found = [slot for slot, value in values if value.kind in (None, ValueKind.LARGE) and is_meant(value.url)]
    kept = rows[_in_scope(refs, rows, scope, pause)]
    return np.concatenate([kept, np.array([*_single_in_scope(refs, found, scope)], np.int64)])


def entries_of(refs: References, runs: Runs) -> Rows:
    """Return the slots of the entries at positions, those that are there."""
    parts = [refs.slot_column(max(start, 0), min(stop, len(refs))) for start, stop in runs]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def entries_below(refs: References, path: str) -> Rows:
    """Return the slots of the entries whose keys are below a path, such as those of an array or group."""
    rows = np.flatnonzero(refs.standing())
    below = f"{path}/"
    edited = [slot for slot in refs.edited_slots().tolist() if refs.key_of(slot).startswith(below)]
    return np.concatenate([rows[_rows_below(refs, rows, path)], np.array(edited, np.int64)])


def _in_scope(
    refs: References, rows: Rows, scope: PrefixScope, pause: Callable[[], None]
) -> npt.NDArray[np.bool_]:
    """Return which rows of the table belong to a part."""
    if scope.kind is ScopeKind.ENTRIES:
        return np.isin(rows, entries_of(refs, scope.runs))
    if scope.kind is ScopeKind.UNDER:
        return _rows_below(refs, rows, scope.text.strip("/"))
    if scope.kind is not ScopeKind.PATTERN:
        return np.ones(len(rows), bool)
    matches = re.compile(translate(scope.text)).match
    found = np.zeros(len(rows), bool)
    for start in range(0, len(rows), STEP):
        pause()
        keys = refs.table.keys(rows[start : start + STEP].tolist())
        found[start : start + STEP] = [matches(key) is not None for key in keys]
    return found


def _rows_below(refs: References, rows: Rows, path: str) -> npt.NDArray[np.bool_]:
    """Return which rows have keys below a path: by group, by key where a group is cut by the path."""
    if not path:
        return np.ones(len(rows), bool)
    table, below = refs.table, f"{path}/"
    inside = [
        number
        for number, (prefix, _) in enumerate(table.groups)
        if number != ODD and prefix.startswith(below)
    ]
    cut = [
        number
        for number, (prefix, mark) in enumerate(table.groups)
        if number == ODD or (mark == "/" and below.startswith(prefix) and prefix != below)
    ]
    groups = table.group.of(rows)
    found = np.isin(groups, inside)
    doubtful = np.flatnonzero(np.isin(groups, cut))
    if len(doubtful):
        keys = table.keys(rows[doubtful].tolist())
        found[doubtful] = [key.startswith(below) for key in keys]
    return found


def _single_in_scope(refs: References, slots: Sequence[int], scope: PrefixScope) -> Iterator[int]:
    if not slots:
        return
    if scope.kind is ScopeKind.ENTRIES:
        yield from np.array(slots, np.int64)[np.isin(slots, entries_of(refs, scope.runs))].tolist()
        return
    matches = re.compile(translate(scope.text)).match
    for slot in slots:
        key = refs.key_of(slot)
        if (
            scope.kind is ScopeKind.ALL
            or (scope.kind is ScopeKind.UNDER and _is_below(key, scope.text))
            or (scope.kind is ScopeKind.PATTERN and matches(key))
        ):
            yield slot


def _is_below(text: str, path: str) -> bool:
    path = path.strip("/")
    return not path or text == path or text.startswith(f"{path}/")
