"""The directories that the keys of a rule can be in."""

from __future__ import annotations

from refbrowser.errors import RefbrowserError
from refbrowser.references.rules.gen_columns import RuleColumns, print_text, slots_of
from refbrowser.references.rules.gen_keys import KeyPattern
from refbrowser.references.rules.gen_search import FieldSpace, KeySearch
from refbrowser.references.rules.lowering import Text

#: More directories than this are not listed.
_MOST = 1_000


def rule_directories(
    pattern: KeyPattern | None, columns: RuleColumns, search: KeySearch | None
) -> tuple[str, ...] | None:
    """Return what keys have before their last ``/`` in order of first use; None where that is not bounded."""
    if pattern is not None:
        return _of_pattern(pattern, columns)
    if search is None:
        return ()
    if search.where.inner.count > _MOST:
        return None
    found: dict[str, None] = {}
    for row in range(search.where.inner.count):
        try:
            key = str(search.field.evaluate(search.where.values(row)))
        except RefbrowserError:
            continue
        found[key.rpartition("/")[0]] = None
    return tuple(found)


def _of_pattern(pattern: KeyPattern, columns: RuleColumns) -> tuple[str, ...] | None:
    pieces = _before_last_slash(pattern.pieces)
    where = FieldSpace(columns.space, tuple(sorted(slots_of(pieces))))
    if where.inner.count > _MOST:
        return None
    return tuple(dict.fromkeys(print_text(pieces, where.values(row)) for row in range(where.inner.count)))


def _before_last_slash(pieces: Text) -> Text:
    for number in range(len(pieces) - 1, -1, -1):
        piece = pieces[number]
        if isinstance(piece, str) and "/" in piece:
            return (*pieces[:number], piece.rpartition("/")[0])
    return ()
