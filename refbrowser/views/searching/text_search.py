"""Finds words in all texts of a document: keys, URLs, values, attributes, names, templates, gen rules."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.references.content.reference_values import decode_inline
from refbrowser.references.document.document import Document
from refbrowser.views.searching.pattern import SearchPattern

if TYPE_CHECKING:
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.content.refs import References

#: Hits of one kind that are listed, and seconds that a search takes at most.
LISTED, SECONDS = 500, 20.0
#: Entries whose keys are made at once: 3 ms.
_KEYS = 8192
#: Characters of one value that are looked at, and that are shown around what is found.
_VALUE, _AROUND = 1 << 20, 48
#: Values in one attribute that are looked at.
_VALUES = 1000


class TextKind(StrEnum):
    """What a hit stands in; the value is the heading of its group."""

    NAME = "Names of groups, arrays and dimensions"
    ATTRIBUTE = "Attributes"
    TEMPLATE = "Templates"
    RULE = "Gen rules"
    KEY = "Keys"
    URL = "URLs"
    METADATA = "Metadata"
    INLINE = "Inline values"


@dataclass(frozen=True, slots=True)
class TextHit:
    """One place where what is sought stands.

    Attributes
    ----------
    at
        The key, the path of the node, or the name of the template.
    text
        What stands around it.
    spans
        Where it stands in `text`: characters.
    number
        Of a gen rule.
    name
        Of an attribute, or of a field of a rule.
    """

    kind: TextKind
    at: str
    text: str
    spans: tuple[tuple[int, int], ...]
    number: int = 0
    name: str = ""

    @property
    def where(self) -> str:
        """What it stands in, in few words; empty where the text says it."""
        if self.kind is TextKind.RULE:
            return f"gen rule {self.number}, {self.name}"
        if self.kind is TextKind.ATTRIBUTE:
            return f"{self.at} {self.name}"
        return "" if self.kind in (TextKind.KEY, TextKind.NAME) else self.at


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """How a search ended: kinds of which there are more hits than are listed, and whether time ran out."""

    cut: frozenset[TextKind] = frozenset()
    is_whole: bool = True


class _Full(Exception):  # noqa: N818  not an error: enough of a kind was found
    """No more hits of a kind are wanted."""


class _TimeIsUp(Exception):  # noqa: N818
    """The search has taken as long as it may."""


class _Search:
    """One search in one document."""

    def __init__(
        self,
        document: Document,
        hierarchy: Hierarchy | None,
        pattern: SearchPattern,
        pause: Callable[[], None],
    ) -> None:
        self._document, self._hierarchy, self._pattern = document, hierarchy, pattern
        self._pause, self._end = pause, time.monotonic() + SECONDS
        self._counts: Counter[TextKind] = Counter()
        self.cut: set[TextKind] = set()

    def beat(self) -> None:
        """Do what is to be done often."""
        self._pause()
        if time.monotonic() > self._end:
            raise _TimeIsUp

    def parts(self) -> tuple[Iterator[TextHit], ...]:
        """Return the searches, the quick ones first."""
        return (self._nodes(), self._templates(), self._rules(), self._keys(), self._urls(), self._values())

    def _hits(self, kind: TextKind, at: str, text: str, number: int = 0, name: str = "") -> Iterator[TextHit]:
        """Yield the hit in a text, where there is one."""
        spans = self._pattern.spans(text)
        if not spans:
            return
        if self._counts[kind] >= LISTED:
            self.cut.add(kind)
            raise _Full
        self._counts[kind] += 1
        first = max(0, spans[0][0] - _AROUND)
        stop = min(len(text), max(spans[0][1], first + 3 * _AROUND))
        before = "…" if first else ""
        shown = f"{before}{text[first:stop]}{'…' if stop < len(text) else ''}"
        moved = len(before) - first
        kept = tuple((start + moved, end + moved) for start, end in spans if end <= stop)
        yield TextHit(kind, at, shown, kept, number, name)

    # Structure

    def _nodes(self) -> Iterator[TextHit]:
        for node in () if self._hierarchy is None else self._hierarchy.walk():
            self.beat()
            dimensions = node.dimensions if hasattr(node, "shape") else ()
            for text in (node.path, *(str(name) for name in dimensions if name)):
                yield from self._guarded(TextKind.NAME, node.path, text)
            for name, value in node.attributes.items():
                for text in (name, *_texts_in(value)):
                    yield from self._guarded(TextKind.ATTRIBUTE, node.path, text, name=name)

    def _guarded(
        self, kind: TextKind, at: str, text: str, number: int = 0, name: str = ""
    ) -> Iterator[TextHit]:
        try:
            yield from self._hits(kind, at, text, number, name)
        except _Full:
            return

    def _templates(self) -> Iterator[TextHit]:
        for name, text in self._document.templates.texts.items():
            for each in (name, str(text)):
                yield from self._hits(TextKind.TEMPLATE, name, each)

    def _rules(self) -> Iterator[TextHit]:
        if self._document.rules_are_made:
            return
        for number, rule in enumerate(self._document.rules):
            if number % 256 == 0:
                self.beat()
            fields = {"key": rule.key, "url": rule.url, "offset": rule.offset, "length": rule.length}
            for name, _values in rule.dimensions:
                fields[f"dimension {name}"] = name
            for name, text in fields.items():
                if text is not None:
                    yield from self._hits(TextKind.RULE, "", text, number, name)

    # Entries

    @property
    def _refs(self) -> References | None:
        return None if self._document.is_unread else self._document.refs

    def _keys(self) -> Iterator[TextHit]:
        refs = self._refs
        if refs is None:
            return
        for start in range(0, len(refs), _KEYS):
            self.beat()
            stop = min(start + _KEYS, len(refs))
            keys = refs.keys(start, stop) if refs.is_edited else refs.table.keys(range(start, stop))
            for number in self._matching(keys):
                yield from self._hits(TextKind.KEY, keys[number], keys[number])

    def _matching(self, texts: list[str]) -> Iterable[int]:
        """Return which of many texts may hold what is sought."""
        joined = "\n".join(texts)
        places = self._pattern.places(joined)
        if places is None:
            return range(len(texts))
        if not places:
            return ()
        ends = list(accumulate(len(text) + 1 for text in texts))
        return dict.fromkeys(bisect_right(ends, place) for place in places)

    def _urls(self) -> Iterator[TextHit]:
        refs, document = self._refs, self._document
        if refs is None:
            return
        urls = list(refs.table.urls)
        if document.rules_are_made:
            urls = [document.shown_url(url) for url in urls]
        found: list[int] = []
        for start in range(0, len(urls), _KEYS):
            self.beat()
            some = urls[start : start + _KEYS]
            found += [start + number for number in self._matching(some) if self._pattern.spans(some[number])]
        if found:
            rows = np.flatnonzero(np.isin(refs.table.url, found))
            rows = rows[refs.standing()[rows]][: LISTED + 1]
            for row, key in zip(rows.tolist(), refs.table.keys(rows.tolist()), strict=True):
                yield from self._hits(TextKind.URL, key, urls[int(refs.table.url[row])])
        for slot in refs.slots_beside_table():
            url = refs.value(slot).url
            if url:
                yield from self._hits(TextKind.URL, refs.key_of(slot), url)

    def _values(self) -> Iterator[TextHit]:
        """Search in what is written into the document: metadata, and data in it."""
        refs = self._refs
        if refs is None:
            return
        rows = np.flatnonzero(np.asarray(refs.table.url) < 0)
        slots = [*rows[refs.standing()[rows]].tolist(), *refs.slots_beside_table()]
        for slot in slots:
            self.beat()
            try:
                data = self._inline(refs, slot)
            except (RefbrowserError, ValueError):
                continue
            if data is not None:
                key = refs.key_of(slot)
                kind = TextKind.METADATA if is_metadata_key(key) else TextKind.INLINE
                text = data[:_VALUE].decode("utf-8", "replace")
                yield from self._guarded(kind, key, text)

    def _inline(self, refs: References, slot: int) -> bytes | None:
        if slot >= 0 and refs.patch(slot) is None:
            return self._document.view.inline(slot)
        value = refs.value(slot)
        return None if value.url else decode_inline(value.text)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in the value of an attribute, numbers as they are written."""
    pending = [value]
    for number, each in enumerate(pending):
        if number > _VALUES:
            return
        if isinstance(each, str):
            yield each[:_VALUE]
        elif isinstance(each, Mapping):
            pending += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, int | float):
            yield str(each)


def search_texts(
    document: Document,
    hierarchy: Hierarchy | None,
    pattern: SearchPattern,
    send: Callable[[list[TextHit]], None],
    pause: Callable[[], None] = lambda: None,
) -> SearchEnd:
    """Find what is sought in all texts of a document; `send` takes the hits as they are found.

    Parameters
    ----------
    pause
        Called often; may raise to end the work.
    """
    search = _Search(document, hierarchy, pattern, pause)
    try:
        for part in search.parts():
            hits: list[TextHit] = []
            try:
                for hit in part:
                    hits.append(hit)
                    if len(hits) >= 100:
                        send(hits)
                        hits = []
            except _Full:
                pass
            if hits:
                send(hits)
    except _TimeIsUp:
        return SearchEnd(frozenset(search.cut), is_whole=False)
    return SearchEnd(frozenset(search.cut))
