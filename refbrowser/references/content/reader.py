"""Reads the text of a document portion by portion: the entries of `refs` into columns, the rest left as text.

The whole text is checked to be JSON. Entries of the common shapes go through the scanner in blocks; whatever
it does not take goes through the exact reader, entry by entry, in short slices: between two slices `pause` is
called, so that a worker thread can let the window's thread run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from refbrowser.errors import ErrorKind, Place, RefbrowserError, SpareCommaError
from refbrowser.limits import LIMITS
from refbrowser.references.content.scan_texts import Layout
from refbrowser.references.content.scanner import BLOCK, scan
from refbrowser.references.content.table import TableBuilder, TextTable
from refbrowser.references.text.document_text import DocumentText, TextBuilder, locate
from refbrowser.references.text.json_text import (
    BYTE_ORDER_MARK,
    Incomplete,
    JsonError,
    JsonReader,
    Member,
    Node,
    NodeKind,
    SpareCommaFoundError,
    pointer,
)

_OBJECTS = ("refs", "templates")


@dataclass(frozen=True, slots=True)
class Detected:
    """The version, and whether the member `version` is missing although all else says Version 1."""

    version: int
    version_missing: bool = False


def detect(special: Mapping[str, Node], others: bool) -> Detected:
    """Return the version of a document.

    Parameters
    ----------
    special
        Value of each of `version`, `templates`, `gen` and `refs` that the top level has.
    others
        Whether it has any other member.

    Raises
    ------
    JsonError
        E_SCHEMA: the version is not one that exists; E_BUDGET: there are too many gen rules.
    """
    found = _version(special, others)
    if found.version == 1 and "gen" in special:
        _check_rules(special["gen"])
    return found


def _check_rules(gen: Node) -> None:
    """Refuse more rules than can be compared, or more templates in them than can be parsed."""
    size = 0
    for number, rule in enumerate(gen.items):
        if number >= LIMITS.gen_rules:
            message = f"there are more than {LIMITS.gen_rules} gen rules"
            raise JsonError(rule.start, message, kind=ErrorKind.BUDGET, pointer=pointer("gen", number))
        for member in rule.members:
            if member.value.kind is NodeKind.STRING and "{" in member.value.content:
                size += member.value.stop - member.value.start
            if size > LIMITS.rules_source:
                message = f"the gen rules have more than {LIMITS.rules_source} bytes of templates"
                place = pointer("gen", number, member.key)
                raise JsonError(member.value.start, message, kind=ErrorKind.BUDGET, pointer=place)


def _version(special: Mapping[str, Node], others: bool) -> Detected:
    version = special.get("version")
    looks = _looks_like_version_1(special)
    if version is None:
        missing = looks and not others
        return Detected(1, version_missing=True) if missing else Detected(0)
    if version.kind in (NodeKind.INTEGER, NodeKind.FRACTION) and version.content == 1:
        return Detected(1)
    if version.kind in (NodeKind.STRING, NodeKind.LIST) and not looks:
        return Detected(0)
    what = str(version.content) if version.kind is NodeKind.INTEGER else version.kind.value
    raise JsonError(
        version.start,
        f"the version is {what}, not the number 1",
        'Version 1 documents have the member "version": 1, those of Version 0 have no version.',
        ErrorKind.SCHEMA,
        pointer("version"),
    )


def _looks_like_version_1(special: Mapping[str, Node]) -> bool:
    if any(name in special and special[name].kind is NodeKind.OBJECT for name in _OBJECTS):
        return True
    return "gen" in special and special["gen"].kind is NodeKind.LIST


#: Members of the top level that make a document Version 1.
SPECIAL = ("version", "templates", "gen", "refs")
#: Bytes asked for at a time; the first block of the first portion makes the first rows.
PORTION = 1024 * 1024

#: Entries that are read exactly before the scanner is asked, in refs and at the top level; after it refused
#: twice as many each time, up to a bound.
_EXACT_FIRST, _EXACT_TOP, _EXACT_MOST = 4, 64, 4096
#: Entries that are worth being shown before the rest is read.
_FIRST_ROWS = 1000
#: Fewer bytes than this are quicker read exactly.
_SCAN_LEAST = 4096
_SLICE = 512

_PLAIN = rb'"([^"\\\x00-\x1f\x80-\xff]*+)"'
_SPACE = rb"[ \t\n\r]*+"
_NUMBER = rb"(0|[1-9][0-9]{0,17})"
_ENTRY = re.compile(
    _PLAIN
    + _SPACE + b":" + _SPACE
    + rb"(?:\[" + _SPACE + _PLAIN + _SPACE + b"," + _SPACE + _NUMBER + _SPACE + b"," + _SPACE + _NUMBER
    + _SPACE + rb"\]|(" + _PLAIN + b"))"
    + _SPACE + b"," + _SPACE + b'(?=")'
)  # fmt: skip
_ENCODED = b"base64:"

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """How far the reading is.

    Attributes
    ----------
    read
        Bytes of text so far.
    rows
        Entries so far.
    first
        The entries of the first portion, given once: something to show while the rest is read.
    """

    read: int
    rows: int
    first: TextTable | None = None


@dataclass
class ReadResult:
    """What was read.

    Attributes
    ----------
    text
        All of it.
    mark
        Bytes of the byte-order mark (0 or 3).
    top
        Every member of the top level as if it were an entry of `refs`.
    top_region
        What stands between the brackets of the top level.
    refs, refs_region
        Of the last member `refs` of the top level, where it is an object.
    special
        Value of the last member of each name in `SPECIAL`; a `refs` object without its members.
    others
        Whether the top level has any other member.
    """

    text: DocumentText
    mark: int
    top: TextTable
    top_region: tuple[int, int]
    refs: TextTable | None = None
    refs_region: tuple[int, int] | None = None
    special: dict[str, Node] = field(default_factory=dict)
    others: bool = False


@dataclass
class _Region:
    """One object whose members are being read as entries."""

    builder: TableBuilder
    top: bool
    start: int
    stop: int = 0
    last: int = 0


def _nothing() -> None:
    return None


class DocumentReader:
    """Reads one document.

    Parameters
    ----------
    portions
        The text, decompressed, in portions of some MB.
    on_progress
        Called after each portion; what it raises ends the reading.
    pause
        Called between slices of slow work.
    """

    def __init__(
        self,
        portions: Iterable[bytes],
        on_progress: Callable[[ReadProgress], None] | None = None,
        pause: Callable[[], None] = _nothing,
    ) -> None:
        self._portions: Iterator[bytes] = iter(portions)
        self._on_progress = on_progress
        self._pause = pause
        self._text = TextBuilder()
        self._json = JsonReader(b"", 0, complete=False)
        self._at = 0  # absolute
        self._size = 0
        self._special: dict[str, Node] = {}
        self._others = False
        self._values = 0
        self._refs: _Region | None = None
        self._layout = Layout()
        self._published = False

    def read(self) -> ReadResult:
        """Read all of it.

        Raises
        ------
        JsonError
            It is not JSON, not one object, or a limit is reached.
        """
        mark = self._begin()
        self._at = self._retry(lambda: self._json.space(self._local))
        top = _Region(TableBuilder(), True, 0)
        self._open_top(top)
        self._entries(top)
        self._end()
        self._check_outer(top)
        text = self._text.finish()
        result = ReadResult(text, mark, top.builder.finish(text, top.last), (top.start, top.stop))
        result.special = self._special
        result.others = self._others
        if self._refs is not None:
            result.refs = self._refs.builder.finish(text, self._refs.last)
            result.refs_region = (self._refs.start, self._refs.stop)
        return result

    def locate(self, position: int) -> tuple[int, int]:
        """Return line and column of a byte of the text that was read so far; for after an error."""
        return locate(self._text.finish().chunks(), [position])[position]

    # The window of text

    @property
    def _local(self) -> int:
        return self._at - self._json.base

    def _more(self, least: int = 1) -> None:
        """Take the next portion into the window; more of them until they have `least` bytes."""
        json = self._json
        found = [json.data[self._local :]]
        least = max(least, 1)
        while least > 0 and (portion := next(self._portions, b"")):
            self._size += len(portion)
            if self._size > LIMITS.json_size:
                raise JsonError(
                    self._at, f"the document has more than {LIMITS.json_size} bytes", kind=ErrorKind.BUDGET
                )
            self._text.append(portion)
            found.append(portion)
            least -= len(portion)
        if len(found) == 1:
            self._json = JsonReader(json.data, json.base, complete=True)
        else:
            self._json = JsonReader(b"".join(found), self._at, complete=False)

    def _retry(self, ask: Callable[[], _Result]) -> _Result:
        """Ask until the window holds enough."""
        while True:
            try:
                result = ask()
            except Incomplete:
                # As much again, so that a long value is not read from its start for each of its portions.
                self._more(len(self._json.data) - self._local)
                continue
            return result

    def _begin(self) -> int:
        while len(self._json.data) < 4 and not self._json.complete:
            self._more()
        head = self._json.data[:4]
        if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head:
            raise JsonError(0, "the document is not UTF-8", "Save it as UTF-8.", ErrorKind.ENCODING)
        if head.startswith(BYTE_ORDER_MARK):
            self._at = len(BYTE_ORDER_MARK)
            return len(BYTE_ORDER_MARK)
        return 0

    def _byte(self, position: int) -> bytes:
        local = position - self._json.base
        found = self._json.data[local : local + 1]
        if not found and not self._json.complete:
            raise Incomplete
        return found

    def _space(self) -> int:
        end = self._json.space(self._local)
        if end == len(self._json.data) and not self._json.complete:
            raise Incomplete
        return self._json.base + end

    def _open_top(self, top: _Region) -> None:
        self._at = self._retry(self._space)
        if self._retry(lambda: self._byte(self._at)) != b"{":
            node = self._retry(lambda: self._json.value(self._local))
            raise JsonError(
                node.start,
                f"the document is {node.kind.value}, not an object",
                "A reference document is one JSON object.",
                ErrorKind.SCHEMA,
            )
        self._at += 1
        top.start = self._at

    def _end(self) -> None:
        self._at = self._retry(self._space)
        if self._retry(lambda: self._byte(self._at)):
            raise JsonError(self._at, "there is text after the end of the document")

    # Entries

    def _entries(self, region: _Region) -> None:
        """Read members up to the closing bracket of the region."""
        region.last = self._at
        self._at = self._retry(self._space)
        if self._retry(lambda: self._byte(self._at)) == b"}":
            region.stop = self._at
            self._at += 1
            return
        exactly = _EXACT_TOP if region.top else _EXACT_FIRST
        while True:
            for _ in range(exactly):
                if self._entry(region, min(exactly, _SLICE)):
                    return
                self._pause()
            before = region.builder.count
            self._scan(region)
            worth = region.builder.count - before > exactly
            exactly = _EXACT_FIRST if worth else min(2 * exactly, _EXACT_MOST)
            self._report(region)

    def _scan(self, region: _Region) -> None:
        """Read as many entries as the scanner takes, over all portions that it takes whole."""
        while True:
            if len(self._json.data) - self._local < BLOCK and not self._json.complete:
                self._more()
            if len(self._json.data) - self._local < _SCAN_LEAST:
                return
            avoid = SPECIAL if region.top else ()
            taken = scan(self._json.data, self._local, self._json.base, region.builder, self._layout, avoid)
            if not taken:
                return
            self._at += taken
            if region.top:
                self._others = True
            self._report(region)
            self._pause()

    def _report(self, region: _Region) -> None:
        if self._on_progress is None:
            return
        first = None
        enough = region.builder.count >= _FIRST_ROWS or self._at >= PORTION // 2
        if not self._published and enough:
            self._published = True
            first = self._first_rows(region)
        self._on_progress(ReadProgress(self._at, region.builder.count, first))

    def _first_rows(self, region: _Region) -> TextTable | None:
        """Return the rows so far, while all of the text so far is in the window."""
        if self._json.base:
            return None
        data = self._json.data
        return region.builder.snapshot(DocumentText(data), self._at)

    def _entry(self, region: _Region, most: int) -> bool:
        """Read one entry exactly (or some of the common shapes); return whether the region ends with it."""
        if not region.top and self._common(region, most):
            return False
        start = self._at
        key, key_stop, value_at = self._retry(self._key)
        if region.top and key == "refs" and self._retry(lambda: self._byte(value_at)) == b"{":
            node = self._refs_object(value_at)
            raw = b"{}"
        else:
            node = self._value(region, key, value_at)
            raw = self._json.data[node.start - self._json.base : node.stop - self._json.base]
        if region.top:
            self._note_top(key, node)
        region.last = node.stop
        ended = self._retry(lambda: self._after(node.stop))
        region.builder.add_member(Member(start, key_stop, key, node), raw)
        if ended:
            region.stop = self._at - 1
        return ended

    def _value(self, region: _Region, key: str, start: int) -> Node:
        depth = 1 if region.top else 2
        try:
            node, count = self._retry(lambda: self._json.bounded_value(start - self._json.base, depth))
        except JsonError as error:
            if error.kind is ErrorKind.BUDGET:
                error.pointer = pointer(key) if region.top else pointer("refs", key)
            raise
        if region.top:
            self._values += count
        return node

    def _check_outer(self, top: _Region) -> None:
        """Refuse a Version 1 document with too much beside its `refs`: all of it is held as values."""
        version = self._special.get("version")
        numbered = version is not None and version.kind in (NodeKind.INTEGER, NodeKind.FRACTION)
        if (numbered or not self._others) and self._values + top.builder.count > LIMITS.json_values:
            message = f"there are more than {LIMITS.json_values} values beside refs"
            raise JsonError(top.start, message, kind=ErrorKind.BUDGET)

    def _key(self) -> tuple[str, int, int]:
        base = self._json.base
        key, stop = self._json.string(self._local)
        return key, base + stop, base + self._json.colon(stop)

    def _after(self, position: int) -> bool:
        base = self._json.base
        after, ended = self._json.after_item(position - base, b"}")
        if not ended and after == len(self._json.data) and not self._json.complete:
            raise Incomplete
        self._at = base + after
        return ended

    def _note_top(self, key: str, node: Node) -> None:
        if key in SPECIAL:
            self._special[key] = node
            if key == "refs" and node.kind is not NodeKind.OBJECT:
                self._refs = None
        else:
            self._others = True

    def _refs_object(self, start: int) -> Node:
        self._at = start + 1
        region = _Region(TableBuilder(), False, self._at)
        self._entries(region)
        self._refs = region
        return Node(start, self._at, NodeKind.OBJECT, [])

    def _common(self, region: _Region, most: int) -> bool:
        """Read entries of the two common shapes, up to `most` of them; return whether there were any."""
        data, base = self._json.data, self._json.base
        builder = region.builder
        at = self._local
        for _ in range(most):
            match = _ENTRY.match(data, at)
            if match is None:
                break
            start = match.start() + base
            key, url, offset, length, text, inner = match.groups()
            if len(key) > LIMITS.key_length:
                break
            if text is None:
                if len(url) > LIMITS.url_length or int(offset) + int(length) >= 2**63:
                    break
                builder.add_range(start, key.decode("ascii"), url.decode("ascii"), int(offset), int(length))
            else:
                if inner.startswith(_ENCODED) or len(inner) > LIMITS.inline_value:
                    break
                builder.add_text(start, key.decode("ascii"), match.start(5) + base, len(text))
            at = match.end()
        if at == self._local:
            return False
        self._at = base + at
        return True


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """What was read, which version of the specification it follows, and what messages call it."""

    result: ReadResult
    found: Detected
    name: str | None


def read_source(
    portions: Iterable[bytes],
    *,
    name: str | None = None,
    on_progress: Callable[[ReadProgress], None] | None = None,
    pause: Callable[[], None] = lambda: None,
) -> DocumentSource:
    """Read the portions of a document's text.

    Parameters
    ----------
    name
        For messages.
    on_progress
        Called in this thread after each portion; once with the first references.
    pause
        Called between short slices of work.

    Raises
    ------
    RefbrowserError
        E_JSON, E_ENCODING, E_SCHEMA or E_BUDGET, with line and column.
    """
    reader = DocumentReader(portions, on_progress, pause)
    try:
        result = reader.read()
        return DocumentSource(result, detect(result.special, result.others), name)
    except JsonError as error:
        line, column = reader.locate(error.position)
        place = Place(document=name, pointer=error.pointer, line=line, column=column)
        kind = SpareCommaError if isinstance(error, SpareCommaFoundError) else RefbrowserError
        raise kind(error.kind, error.message, place, error.advice) from None
