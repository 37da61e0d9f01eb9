"""Keys of a gen rule that the document has elsewhere: written out in `refs`, or given by another rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

import numpy as np

from refbrowser.app.editors.preview_source import Tally
from refbrowser.errors import quoted
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.references.document.chunk_codes import BITS, unpack_many
from refbrowser.references.document.table import ODD
from refbrowser.references.rules.gen import GenRule

if TYPE_CHECKING:
    from refbrowser.references.document.document import ReferenceDocument

#: Rows of another rule that are looked up, and other rules that are looked at.
RULE_ROWS = 2_000
RULES = 200
_BLOCK = 1 << 14
_MISSING, _UNDECIDED = -1, -2

Found = tuple[int, str, str]
"""Row of the rule, its key, and where the key is too."""


def collisions(document: ReferenceDocument, rule: GenRule, pause: Callable[[], None]) -> Tally:
    """Count the keys of a rule that stand in `refs` or that another rule gives.

    Parameters
    ----------
    rule
        As it is typed; it takes the place of the document's rule of its number.
    pause
        Called between blocks of work; may raise to end it.
    """
    if not rule.count:
        return Tally()
    count, first, open_rows = 0, None, 0
    for row, key, where in _all(document, rule, pause):
        if row == _UNDECIDED:
            open_rows += 1
            continue
        count += 1
        if first is None or row < first[0]:
            first = (row, f"{quoted(key)} is in {where}")
    checked = RULE_ROWS if open_rows else None
    return Tally(count, None if first is None else first[0], checked, "" if first is None else first[1])


def _all(document: ReferenceDocument, rule: GenRule, pause: Callable[[], None]) -> Iterator[Found]:
    yield from _in_table(document, rule, pause)
    refs = document.refs
    patched = [patch.key for patch in (*refs.replaced.values(), *refs.appended.values())]
    for key in (*(key for key, _slot in refs.odd_keys()), *patched):
        if key.startswith(rule.static_prefix):
            pause()
            yield from _looked_up(rule, key, "refs")
    yield from _in_rules(document, rule, pause)


def _in_table(document: ReferenceDocument, rule: GenRule, pause: Callable[[], None]) -> Iterator[Found]:
    """Yield the chunk keys of `refs` that the rule gives too, a block of a group at a time."""
    table, prefix = document.refs.table, rule.static_prefix
    touched = np.array([*document.refs.removed.tolist(), *document.refs.replaced], np.int64)
    for number, (start, separator) in enumerate(table.groups):
        if number == ODD or not _compatible(start, prefix):
            continue
        group = table.rows_of((start, separator))
        if group is None:
            continue
        rows, codes = group.rows(), group.codes(table.code)
        kept = ~np.isin(rows, touched)
        encoding = ChunkKeyEncoding("v2", "." if separator == "." else "/")
        for ndim, part in _by_dimensions(codes[kept]):
            pause()
            coords = np.stack(unpack_many(part, ndim), axis=1)
            found = rule.find_chunks(start, coords, encoding)
            for at in np.flatnonzero(found != _MISSING).tolist():
                key = start + encoding.encode(tuple(coords[at].tolist()))
                yield int(found[at]), key, "refs"


def _by_dimensions(codes: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield blocks of codes of the same number of coordinates."""
    ndims = codes >> np.uint64(BITS)
    for ndim in np.unique(ndims).tolist():
        part = codes[ndims == ndim]
        for start in range(0, len(part), _BLOCK):
            yield ndim, part[start : start + _BLOCK]


def _compatible(start: str, prefix: str) -> bool:
    return start.startswith(prefix) or prefix.startswith(start)


def _looked_up(rule: GenRule, key: str, where: str) -> Iterator[Found]:
    found = rule.find(key)
    if isinstance(found, int):
        yield found, key, where
    elif found is not None:
        yield _UNDECIDED, key, where


def _in_rules(document: ReferenceDocument, rule: GenRule, pause: Callable[[], None]) -> Iterator[Found]:
    """Yield keys that another rule gives too, among the first rows of the smaller one."""
    near = [
        other
        for other in document.rules
        if other.index != rule.index and other.count and _compatible(other.static_prefix, rule.static_prefix)
    ]
    for other in near[:RULES]:
        small, large = (rule, other) if rule.count <= other.count else (other, rule)
        where = f"gen rule {other.index}"
        for row, key in enumerate(small.rows(0, RULE_ROWS).keys):
            if row % 64 == 0:
                pause()
            found = None if key is None else large.find(key)
            if isinstance(found, int):
                yield (row if small is rule else found), cast(str, key), where
        if small.count > RULE_ROWS:
            yield _UNDECIDED, "", where
    if len(near) > RULES:
        yield _UNDECIDED, "", "more rules"
