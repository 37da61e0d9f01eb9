"""What saving a document somewhere else will mean, told before it is done: size, and relative URLs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refbrowser.errors import RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.edits.many_edits import prefix_between, relative_urls

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Rows of a rule that are written out to learn how long they are: in blocks spread over it.
_BLOCKS, _BLOCK = 8, 64
#: Around key, URL, offset and length in the text of one entry.
_PUNCTUATION = 12
#: Relative URLs that are counted.
COUNTED = 100_000
#: Rows of a store that are written out without being asked for.
PROPOSED_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class SavePreview:
    """What will become of a document.

    Attributes
    ----------
    rows, size
        Rows of its Version 0 form and its bytes, about; None where it is not asked for.
    is_larger_than_opened
        Whether the Version 0 form has more entries than are opened again.
    rules
        Gen rules of an opened store, at most, that fsspec passes over by default.
    relative, example
        Number of relative URLs that would mean something else, and the first; `prefix` keeps their meaning.
    obstacle
        Why the prefix cannot be put before the URLs; empty where it can.
    """

    rows: int | None = None
    size: int | None = None
    is_larger_than_opened: bool = False
    rules: int = 0
    relative: int = 0
    example: str = ""
    prefix: str = ""
    obstacle: str = ""


def save_preview(
    document: Document,
    version: int,
    base: str,
    folder: str,
    pause: Callable[[], None] = lambda: None,
) -> SavePreview:
    """Return what saving means.

    Parameters
    ----------
    base
        Folder of the document as it is now, or the URL that it came from.
    folder
        Where it goes.
    """
    rows = size = None
    document = document.written()
    if version == 0 and document.version == 1:
        rows, size = document.expansion.rows, version0_size(document, pause)
    prefix = prefix_between(base, folder)
    count, example, obstacle = 0, "", ""
    if prefix:
        try:
            # Values that the user gave are never saved.
            for url in relative_urls(document.with_template_values({})):
                pause()
                example = example or url
                count += 1
                if count == COUNTED:
                    break
        except RefbrowserError as error:
            obstacle = str(error)
    too_large = rows is not None and rows > LIMITS.references
    rules = rules_kept(document) if version == 1 else 0
    return SavePreview(rows, size, too_large, rules, count, example, prefix, obstacle)


def proposed_version(document: Document) -> int:
    """Return the version that a document is best saved in: of a store, one that fsspec reads by default."""
    if document.store is None:
        return document.version
    return 0 if document.expansion.rows <= PROPOSED_ROWS else 1


def rules_kept(document: Document) -> int:
    """Return how many gen rules the Version 1 form of a store has at most: that of an archive has none."""
    store = document.store
    return 0 if store is None or store.container == "zip" else len(document.generated)


def version0_size(document: Document, pause: Callable[[], None] = lambda: None) -> int:
    """Return about how many bytes the Version 0 form of a document has."""
    size = max(0, sum(len(chunk) for chunk in document.to_chunks()) - len(document.written().outer))
    for rule in document.rules:
        pause()
        size += _rule_size(rule)
    return size


def _rule_size(rule: GenRule) -> int:
    count = rule.count
    if not count:
        return 0
    step = max(1, count // _BLOCKS)
    seen = length = 0
    for start in range(0, count, step)[:_BLOCKS]:
        rows = rule.rows(start, min(start + _BLOCK, count))
        for at, key in enumerate(rows.keys):
            numbers = [column[at] for column in (rows.offsets, rows.lengths) if column is not None]
            words = (key or "", rows.urls[at] or "", *(str(number) for number in numbers))
            length += sum(map(len, words)) + _PUNCTUATION
            seen += 1
    return length * count // max(seen, 1)
