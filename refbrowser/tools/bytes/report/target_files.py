"""The files that a document refers to: how many references, and how many bytes, in each."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from refbrowser.errors import RefbrowserError
from refbrowser.formats.sniffing import HEAD, FileKind, file_kind
from refbrowser.io.access.access import Access, is_chained, storage_url
from refbrowser.io.access.local_files import open_regular, read_exactly
from refbrowser.model.reference import ReferenceKind
from refbrowser.model.selection import Selection
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.table import TextTable
from refbrowser.references.document.document import Document
from refbrowser.references.rules.gen import GenRule
from refbrowser.references.rules.integer_expressions import Affine
from refbrowser.references.rules.layouts import ChunkLayout, Generated, RangeLayout
from refbrowser.references.rules.rule_urls import RuleUrls
from refbrowser.tools.bytes.report.file_source import DOCUMENT, FileSource

#: Files that are listed; and files of one rule, or objects of one array, that are.
LISTED_MOST, OF_RULE_MOST = 1_000_000, 20_000
_PAGE = 1 << 18
#: A rule whose lengths differ is added up where it has at most so many rows.
_SUMMED = 1 << 20


@dataclass(slots=True)
class TargetFile:
    """One file.

    Attributes
    ----------
    url
        As the document spells it after rendering; `DOCUMENT` for the document's own text.
    count, whole
        References to ranges of it, and to all of it.
    size
        Bytes that ranges refer to, each counted; None where that is not known.
    """

    url: str
    count: int = 0
    whole: int = 0
    size: int | None = 0


@dataclass(frozen=True, slots=True)
class TargetFiles:
    """The files of a document, those of most bytes first.

    Attributes
    ----------
    notes
        What is not listed, in words.
    """

    files: tuple[TargetFile, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sum:
    files: dict[str, TargetFile] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, url: str, count: int, size: int | None, whole: int = 0) -> None:
        found = self.files.get(url)
        if found is None:
            if len(self.files) >= LISTED_MOST:
                return
            found = self.files[url] = TargetFile(url)
        found.count += count
        found.whole += whole
        found.size = None if size is None or found.size is None else found.size + size


def target_files(source: FileSource, check: Callable[[], object]) -> TargetFiles:
    """Return the files that a document refers to; nothing is read."""
    document, total = source.document, _Sum()
    _of_refs(document, total, check)
    for number, rule in enumerate(document.expansion.generated):
        check()
        if rule.count:
            _of_generated(rule, number, total)
    _of_pieces(source, total, check)
    _of_document(document, total)
    files = sorted(total.files.values(), key=lambda file: (file.url == DOCUMENT, -(file.size or 0)))
    return TargetFiles(tuple(files), tuple(total.notes))


def _of_refs(document: Document, total: _Sum, check: Callable[[], object]) -> None:
    refs, view = document.refs, document.view
    for first in range(0, len(refs), _PAGE):
        check()
        columns = view.columns(refs.slot_column(first, min(first + _PAGE, len(refs))))
        rows = np.flatnonzero((columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE))
        if not len(rows):
            continue
        whole = columns.kind[rows] == ReferenceKind.WHOLE
        url, most = columns.url[rows], len(columns.urls)
        lengths = np.where(whole, 0, columns.length[rows]).astype(np.float64)
        counts = np.bincount(url, ~whole, most).tolist()
        wholes = np.bincount(url, whole, most).tolist()
        sizes = np.bincount(url, lengths, most).tolist()
        for number in np.flatnonzero(np.bincount(url, minlength=most)).tolist():
            text = storage_url(columns.urls[number])
            total.add(text, int(counts[number]), int(sizes[number]), int(wholes[number]))


def _of_generated(rule: Generated, number: int, total: _Sum) -> None:
    if isinstance(rule, RangeLayout):
        total.add(rule.head, rule.count, rule.count * rule.length)
    elif isinstance(rule, ChunkLayout):
        if is_chained(rule.head):
            total.add(storage_url(rule.head + rule.tail), 0, 0, rule.count)
        elif rule.count > OF_RULE_MOST:
            total.notes.append(f"{rule.count:,} objects of one chunk each below {rule.head}")
        else:
            for url in rule.rows(0, rule.count).urls:
                total.add(url or "", 0, 0, 1)
    elif isinstance(rule, GenRule):
        _of_rule(rule, number, total)


def _of_rule(rule: GenRule, number: int, total: _Sum) -> None:
    urls = RuleUrls.of(rule)
    if urls is None:
        return
    if urls.are_more_than(OF_RULE_MOST):
        total.notes.append(f"gen rule {number} points to very many files, which are not listed")
        return
    each = rule.count // urls.count
    is_whole = "offset" not in rule.fields
    sizes = [0] * urls.count if is_whole else _sizes(rule, urls, each)
    for text, size in zip(urls.texts(0, urls.count), sizes, strict=True):
        if text:
            total.add(text, 0 if is_whole else each, size, each if is_whole else 0)


def _sizes(rule: GenRule, urls: RuleUrls, each: int) -> list[int] | list[None]:
    """Return the bytes in each file of a rule, in the order of the dimensions of its URL."""
    assert rule.columns is not None
    length = rule.columns.integers.get("length")
    if isinstance(length, Affine) and not length.terms:
        return [each * length.constant] * urls.count
    if length is None or rule.count > _SUMMED:
        return [None] * urls.count
    rows = np.arange(rule.count)
    lengths = rule.references(rows).length.astype(np.float64)
    columns = rule.space.index_columns(rows)
    at = np.zeros(rule.count, np.int64)
    for slot in urls.slots:
        at = at * rule.space.lengths[slot] + columns[slot]
    return [int(size) for size in np.bincount(at, lengths, urls.count).tolist()]


def _of_pieces(source: FileSource, total: _Sum, check: Callable[[], object]) -> None:
    """Add the pieces of arrays whose chunks have no references of their own."""
    from refbrowser.model.nodes import ArrayNode

    for node in source.hierarchy.walk():
        if not isinstance(node, ArrayNode) or node.assembled is None:
            continue
        check()
        try:
            needed = source.session.needs(node, source.access, Selection.whole(node.shape))
        except RefbrowserError:
            continue
        columns = needed.columns
        rows = np.flatnonzero(columns.kind == ReferenceKind.RANGE)
        for number, text in enumerate(columns.urls):
            mine = rows[columns.url[rows] == number]
            if len(mine) and text not in total.files:
                total.add(text, len(mine), int(columns.length[mine].sum()))


def _of_document(document: Document, total: _Sum) -> None:
    table = document.refs.table
    if not isinstance(table, TextTable) or document.is_made:
        return
    kinds = [int(kind) for kind in (ValueKind.TEXT, ValueKind.BASE64, ValueKind.OBJECT)]
    rows = np.flatnonzero(np.isin(table.url, kinds))
    if len(rows):
        total.add(DOCUMENT, len(rows), int(table.length[rows].astype(np.int64).sum()))


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file beside the references to it.

    Attributes
    ----------
    size
        Bytes; None where it was not read and its size is not known.
    kind
        What it is by its first bytes; None where these are not known.
    """

    size: int | None = None
    kind: FileKind | None = None


def file_facts(url: str, access: Access, document: Document) -> FileFacts:
    """Return what is known of a file; the first bytes of a local one that may be read are looked at."""
    if url == DOCUMENT:
        table = document.refs.table
        return FileFacts(table.text.size if isinstance(table, TextTable) else None, FileKind.TEXT)
    try:
        location = access.locate(url)
        access.check(location)
    except RefbrowserError:
        return FileFacts()
    known = access.memory.identities.known(location.url)
    size = None if known is None else known.total
    if location.scheme != "file" or location.member:
        return FileFacts(size)
    try:
        found = os.stat(location.path)
        if not stat.S_ISREG(found.st_mode):
            return FileFacts()
        with open_regular(location.path) as (descriptor, identity):
            head = bytearray(min(HEAD, identity.size))
            read_exactly(descriptor, [memoryview(head)], 0)
    except (OSError, ValueError, RefbrowserError):
        return FileFacts(size)
    return FileFacts(found.st_size, file_kind(bytes(head)))
