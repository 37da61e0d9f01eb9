"""What a document refers to: each distinct URL with the number of its references and their bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.io.access.access import Source, is_chained, sources_in, storage_url

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.rules.gen import GenRule

#: Rows of a rule that are looked at for its URLs and the sum of their lengths.
ROWS_SEEN = 1_000
#: URLs of one rule that are listed one by one.
URLS_LISTED = 10_000
#: Edited entries are few; of more than this, only so many are looked at one by one.
EDITED_SEEN = 20_000


def sources_of(document: Document) -> list[Source]:
    """Return each distinct URL of `refs` with its count and bytes, and the origin of each gen rule.

    Of very many references that were not read yet, what their URLs begin with.
    """
    if document.is_unread:
        left = document.urls_left()
        edited = document.edited_chunks
        return [
            *(Source(each.beginning, each.references, is_pattern=not each.is_url) for each in left),
            *sources_in(edited.columns(edited.refs.edited_slots()[:EDITED_SEEN])),
        ]
    rules = [_rule_source(document, rule) for rule in document.rules if rule.count]
    lacking = [Source(url, 1) for url in document.lacking]
    return [*_refs_sources(document), *rules, *_places(document), *lacking]


def listed_sources_of(document: Document, check: Callable[[], None] = lambda: None) -> list[Source]:
    """Return what `sources_of` does, and of gen rules each URL, where these are at most `URLS_LISTED`.

    Parameters
    ----------
    check
        Called now and then; what it raises ends the search.
    """
    found = _refs_sources(document)
    for rule in document.rules:
        check()
        if rule.count:
            found += _listed_of_rule(document, rule)
    return [*found, *_places(document)]


def _listed_of_rule(document: Document, rule: GenRule) -> list[Source]:
    # Opening a document needs nothing of it.
    from refbrowser.engine.locking import urls_of_rule

    whole = _rule_source(document, rule)
    if not whole.is_pattern:
        return [whole]
    urls: list[str] = []
    try:
        for page in urls_of_rule(rule):
            urls += page
            if len(urls) > URLS_LISTED:
                return [whole]
    except RefbrowserError:
        # They may be more than anything is done with.
        return [whole]
    if not urls:
        return [whole]
    each = rule.count // len(urls)
    size = None if whole.size is None or whole.size % len(urls) else whole.size // len(urls)
    counts = Counter(urls)
    return [Source(url, n * each, None if size is None else n * size) for url, n in counts.items()]


def _places(document: Document) -> Iterator[Source]:
    """Yield the folders and archives that chunks with computed references lie in."""
    counts: Counter[str] = Counter()
    for each in document.layouts:
        counts[each.place] += each.count
    for place, count in counts.items():
        yield Source(place, count, is_pattern=place.endswith("/"))


def _refs_sources(document: Document) -> list[Source]:
    refs, urls = document.refs, document.urls.texts
    table = refs.table
    kept = refs.standing() & (table.url >= 0)
    ids = table.url[kept].astype(np.int64)
    lengths = table.length[kept].astype(np.float64)
    counts = np.bincount(ids, minlength=len(urls))
    sizes = np.bincount(ids, weights=lengths, minlength=len(urls))
    whole = np.bincount(ids, weights=lengths < 0, minlength=len(urls)) > 0
    found = [
        Source(urls[number], int(counts[number]), None if whole[number] else int(sizes[number]))
        for number in np.flatnonzero(counts).tolist()
    ]
    return found + sources_in(document.view.columns(refs.edited_slots()[:EDITED_SEEN]))


def _rule_source(document: Document, rule: GenRule) -> Source:
    """Return the origin of a rule: its URL where it does not change, else its static beginning."""
    size = None
    url = rule.static_origin()
    first = rule.rows(0, min(rule.count, ROWS_SEEN))
    if rule.count <= ROWS_SEEN and first.lengths is not None and all(n is not None for n in first.lengths):
        size = sum(n for n in first.lengths if n is not None)
    distinct = {text for text in first.urls if text is not None}
    if len(distinct) == 1 and rule.count <= ROWS_SEEN:
        return Source(distinct.pop(), rule.count, size)
    archive = _archive(document, rule)
    if archive is not None:
        return Source(archive, rule.count)
    return Source(url, rule.count, size, is_pattern=True)


def _archive(document: Document, rule: GenRule) -> str | None:
    """Return the zip archive that all rows of a rule are members of; None where there is no such one."""
    url = rule.url or ""
    if not is_chained(url):
        return None
    try:
        return document.templates.render(storage_url(url))
    except RefbrowserError:
        # It depends on a dimension.
        return None
