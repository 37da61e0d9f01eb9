"""Opening an index of a GRIB file: of that file a message of each kind is read, without its values."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from typing import Any

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.grib_index.index_options import GribIndexOptions
from refbrowser.formats.grib_index.inventory import Entry, Inventory, read_inventory, with_lengths
from refbrowser.formats.grib_index.message_table import FORMAT, table_of
from refbrowser.formats.library.grib import HEAD, HEADS, LIBRARY, described_arrays
from refbrowser.formats.library.grib_indexed import CHECKED, KNOWN, READ
from refbrowser.formats.library.joined_files import ROOM, JoinedFiles
from refbrowser.formats.library.named_file import LibraryOrigin, NamedFile
from refbrowser.formats.library.process import library_file
from refbrowser.formats.sniffing import HEAD as FIRST_BYTES
from refbrowser.formats.sniffing import FileKind, NotThisError, file_kind
from refbrowser.io.access.access import Access
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import ByteSource, LocalBytes, RemoteBytes
from refbrowser.io.identity import identity_on_disk
from refbrowser.io.named_places import named_origin, names_folder
from refbrowser.io.origins import Origin, local_path, split_url
from refbrowser.io.plan import LOCAL
from refbrowser.limits import LIMITS
from refbrowser.references.content.origins import Fact

#: What the names of indexes end with, and those of GRIB files.
SUFFIXES = (".idx", ".index", ".inv")
_GRIB = (".grib2", ".grb2", ".grib", ".grb", ".grib1", ".grb1")
#: Bytes that a message ends with, and that are read at a time.
_END = 4
_PORTION = 1 << 20


@dataclass(frozen=True, eq=False, kw_only=True)
class GribIndexOrigin(LibraryOrigin):
    """The index that a document was made from, and the GRIB file that it is of (`DocumentOrigin`).

    Attributes
    ----------
    source
        The bytes of that file, where it is not of this machine.
    offsets
        Where its messages begin.
    joined
        The files that the index names itself.
    """

    source: RemoteBytes | None
    offsets: tuple[int, ...]
    joined: JoinedFiles | None = None

    def compared(self, token: CancelToken | None = None) -> list[Finding]:
        """Return in what messages are not as the index says, by the heads of all of them."""
        found: list[Finding] = []

        def take(told: dict[str, Any], data: memoryview) -> None:
            place = Place(url=self.file.url)
            problems = told["problems"]
            if self.joined is not None:
                problems = map(self.joined.named, problems)
            found.extend(
                Finding(severity=Severity.FAULT, kind=ErrorKind.FORMAT, message=each, place=place)
                for each in problems
            )

        if self.source is not None:
            # The end of a message is read with the head of the one behind it.
            ends = [each - _END for each in self.offsets if each >= _END]
            self.source.read_ahead([*ends[:HEADS], self.source.size - _END], HEAD)
        self.file.ask("compare", {}, take, token)
        if self.source is not None:
            self.source.read_ahead((), 0)
        return found


def index_findings(dataset: Any, control: Any) -> list[Finding]:
    """Return in what the messages of a GRIB file are not as its index says: the facet ``check``."""
    origin = dataset.document.origin
    return origin.compared(control.token) if isinstance(origin, GribIndexOrigin) else []


def open_named_grib_index(opening: Opening) -> Opened:
    """Open the index of a GRIB file at a path or URL.

    Where the GRIB file is not there, or nothing is installed that reads it, the messages are a table, and the
    arrays say what is missing.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is no index; else it cannot be read.
    """
    chosen = opening.chosen(GribIndexOptions)
    url, inventory, identity = _read_index(opening)
    if chosen.messages:
        return replace(table_of(opening, url, inventory, None), identity=identity)
    try:
        LIBRARY.check(Place(document=opening.path))
        if inventory.files:
            return replace(_open_joined(opening, url, inventory, chosen.grib), identity=identity)
        named, source = _grib_file(opening, chosen.grib)
    except RefbrowserError as error:
        return replace(table_of(opening, url, inventory, error), identity=identity)
    entries = tuple(with_lengths(inventory.entries, named.size))
    rows = [*_rows(entries, named.size)]
    if source is not None:
        looked = [each.offset for each, row in zip(entries, rows, strict=True) if row[4] != KNOWN]
        source.at_first = partial(source.read_ahead, sorted(set(looked))[:HEADS], HEAD)
    arrays = described_arrays(named, opening.token, _asked(inventory, entries, rows))
    if source is not None:
        source.read_ahead((), 0)
    origin = GribIndexOrigin(
        path=url,
        format=FORMAT,
        file=named.file,
        findings=tuple(arrays.array_findings),
        sources=arrays.sources,
        facts=(Fact("GRIB file", named.url), Fact("Size", named.size, is_size=True), inventory.listed),
        source=source,
        offsets=tuple(sorted({each.offset for each in entries})),
    )
    notes = (*inventory.findings, *arrays.findings)
    document = arrays.manifest.document(name=opening.path, origin=origin, notes=notes)
    return Opened(document, named.access, identity)


def _open_joined(opening: Opening, url: str, inventory: Inventory, named: str | None) -> Opened:
    """Open an index that names its GRIB files itself.

    Raises
    ------
    RefbrowserError
        One of which something is to be known is not there, or cannot be read.
    """
    if named is not None and not names_folder(named) and len(inventory.files) > 1:
        message = f"the index names {len(inventory.files)} GRIB files itself: one cannot stand for all"
        advice = "name the folder that they are in, with / at its end"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=opening.path), advice)
    access = Access.for_document(opening.path, _allowed(opening, named), opening.settings)
    urls = inventory.files if named is None else (named,)
    if named is not None and names_folder(named):
        urls = tuple(f"{named}{each.rpartition('/')[2]}" for each in inventory.files)
    entries = inventory.entries
    rows = [*_rows(entries, ROOM * len(urls))]
    ahead: dict[int, list[int]] = {}
    for each, row in zip(entries, rows, strict=True):
        if row[4] != KNOWN:
            ahead.setdefault(each.file, []).append(each.offset)

    def opened(place: str) -> LocalBytes | RemoteBytes:
        local = local_path(place)
        if local is None:
            return RemoteBytes(place, access, opening.fetcher(), opening.token, first=HEAD, link=LOCAL)
        return LocalBytes(access.resolve(place).path)

    joined = JoinedFiles(urls, opened, ahead, HEAD)
    file = library_file(LIBRARY.script, LIBRARY.called, url, joined)
    of_index = NamedFile(url, file, access, None, joined.size)
    arrays = described_arrays(of_index, opening.token, _asked(inventory, entries, rows), joined)
    facts = [Fact("GRIB file", urls[0])] if len(urls) == 1 else [Fact("GRIB files", len(urls))]
    origin = GribIndexOrigin(
        path=url,
        format=FORMAT,
        file=file,
        findings=tuple(arrays.array_findings),
        sources=arrays.sources,
        facts=(*facts, inventory.listed),
        source=None,
        offsets=(),
        joined=joined,
    )
    notes = (*inventory.findings, *arrays.findings)
    return Opened(arrays.manifest.document(name=opening.path, origin=origin, notes=notes), access)


def _read_index(opening: Opening) -> tuple[str, Inventory, Any]:
    """Return the place of the index, what it lists, and its state."""
    identity = opening.identity()
    with ExitStack() as stack:
        source: LocalBytes | RemoteBytes
        if opening.seen.local is not None:
            source = stack.enter_context(LocalBytes(opening.seen.local))
            url = source.path
        else:
            source = opening.remote()
            url = source.access.resolve(opening.path).url
        kind = file_kind(bytes(source.read(0, FIRST_BYTES)))
        if kind not in (FileKind.GRIB_INDEX, FileKind.PARQUET):
            raise NotThisError(ErrorKind.FORMAT, f"{quoted(opening.path)} is no index of a GRIB file")
        if source.size > LIMITS.index_size:
            message = f"the index has more than {LIMITS.index_size} bytes (index_size)"
            raise RefbrowserError(ErrorKind.BUDGET, message, Place(document=opening.path))
        data = b"".join(_portions(source, opening))
        if kind is FileKind.PARQUET:
            from refbrowser.formats.grib_index.chunk_table import read_chunk_table

            inventory = read_chunk_table(BytesIO(data), opening.path)
        else:
            inventory = read_inventory(data, opening.path)
        return url, inventory, identity or source.identity


def _portions(source: ByteSource, opening: Opening) -> Iterator[bytes]:
    for start in range(0, source.size, _PORTION):
        opening.token.check()
        yield bytes(source.read(start, _PORTION))


# The GRIB file


def places_beside(path: str) -> list[str]:
    """Return where the GRIB file of an index may lie, the likeliest place first."""
    base, mark, query = path.partition("?") if "://" in path else (path, "", "")
    suffix = next((each for each in SUFFIXES if base.lower().endswith(each)), "")
    root = base[: -len(suffix)] if suffix else os.path.splitext(base)[0]
    named = [root] if suffix and suffix != ".index" else []
    others = [] if root.lower().endswith(_GRIB) else [f"{root}{each}" for each in _GRIB]
    return [f"{each}{mark}{query}" for each in named + others or [root]]


def _grib_file(opening: Opening, named: str | None) -> tuple[NamedFile, RemoteBytes | None]:
    """Return the GRIB file, and what reads it where it is not of this machine.

    Raises
    ------
    RefbrowserError
        It is not there, or cannot be read: `E_BLOCKED` where it may not be.
    """
    first: AbsentError | None = None
    allow = _allowed(opening, named)
    for place in _places(opening.path, named):
        try:
            return _grib_at(opening, place, allow)
        except AbsentError as error:
            first = first or error
    assert first is not None
    raise first


def _allowed(opening: Opening, named: str | None) -> tuple[Origin, ...]:
    """Return what may be read: also where the index is, and the folder of a file that the user named."""
    own = () if opening.seen.local is not None else (split_url(opening.path).origin,)
    return (*opening.allow, *own, *(() if named is None else (named_origin(named),)))


def _places(path: str, named: str | None) -> list[str]:
    """Return where the GRIB file of an index may lie, as it is said, the likeliest place first."""
    if named is None:
        return places_beside(path)
    if not names_folder(named):
        return [named]
    base = path.partition("?")[0] if "://" in path else path
    return [f"{named}{each.rpartition('/')[2]}" for each in places_beside(base.replace(os.sep, "/"))]


def _grib_at(opening: Opening, place: str, allow: Sequence[Origin]) -> tuple[NamedFile, RemoteBytes | None]:
    local = local_path(place)
    if local is None:
        access = Access.for_document(place, allow, opening.settings)
        source = RemoteBytes(place, access, opening.fetcher(), opening.token, first=HEAD, link=LOCAL)
        url = access.resolve(place).url
        file = library_file(LIBRARY.script, LIBRARY.called, url, source)
        return NamedFile(url, file, access, source.identity, source.size), source
    if not os.path.isfile(local):
        raise AbsentError(ErrorKind.IO, "there is no such file", Place(url=os.path.realpath(local)))
    base = place if opening.seen.local is None else opening.path
    access = Access.for_document(base, allow, opening.settings)
    # Links may lead out of the folder of the index.
    url = access.resolve(os.path.abspath(local)).path
    identity = identity_on_disk(url)
    file = library_file(LIBRARY.script, LIBRARY.called, url, None, identity)
    return NamedFile(url, file, access, identity, os.path.getsize(url)), None


# What is asked of the library


def _rows(entries: Sequence[Entry], size: int) -> Iterator[list[Any]]:
    """Yield what the process of the library is told of each field (`grib_indexed.Row`).

    Of each kind the first message is read, and one more, by which the others are checked; and each that the
    index does not tell from another one.

    Parameters
    ----------
    size
        Of the GRIB file, in bytes: what lies behind it checks nothing.
    """
    numbers: dict[Any, int] = {}
    counts = Counter((each.kind, each.place) for each in entries)
    uses, last = [], {}
    for row, each in enumerate(entries):
        is_new = each.kind not in numbers
        numbers.setdefault(each.kind, len(numbers))
        is_read = is_new or each.part or counts[each.kind, each.place] > 1
        uses.append(READ if is_read else KNOWN)
        if not is_read and ROOM * each.file + each.offset < size:
            last[each.kind] = row
    for row in last.values():
        uses[row] = CHECKED
    for use, each in zip(uses, entries, strict=True):
        yield [ROOM * each.file + each.offset, each.length, each.part, numbers[each.kind], use, *each.place]


def _asked(inventory: Inventory, entries: Sequence[Entry], rows: Sequence[list[Any]]) -> dict[str, Any]:
    kinds: dict[int, dict[str, Any]] = {}
    for each, row in zip(entries, rows, strict=True):
        quantity = None if each.quantity is None else list(each.quantity)
        kinds.setdefault(row[3], {"edition": inventory.edition, "quantity": quantity})
    return {
        "rows": rows,
        "kinds": [kinds[number] for number in range(len(kinds))],
        "is_length": inventory.is_length,
    }
