"""GRIB: messages of one quantity put together to arrays, of which each is a chunk that eccodes decodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.chunk_proof import Stored
from refbrowser.formats.library.joined_files import ROOM, JoinedFiles
from refbrowser.formats.library.library_source import LibrarySource, Tree, asked_grid, data_type_of
from refbrowser.formats.library.named_file import Library, LibraryOrigin, NamedFile, open_named_file
from refbrowser.formats.library.process import GRIB, LibraryFile, ask_once
from refbrowser.formats.sniffing import FileKind
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.byte_sources import FIRST, RemoteBytes
from refbrowser.io.plan import LOCAL
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks, CodecSpec, Pieces, SourceManifest
from refbrowser.references.content.origins import Fact
from refbrowser.references.document.manifest import ManifestBuilder, unheld_name

Told = Mapping[str, Any]
LIBRARY = Library(FileKind.GRIB, GRIB, "GRIB", "GRIB", "eccodes", "grib")
#: Messages of one file that may end the process of the library.
_TRIES = 16
#: Files of so many bytes are worth a look for an index beside them; how much is read of it.
_WORTH, _INDEX = 4 << 20, 16 << 20
#: Heads of messages that are read together, and bytes of each: so many are asked for (`grib_reader`).
HEADS, HEAD = 1 << 14, 1 << 12
#: Where a message begins, in the lines that wgrib2 writes (``1:0:d=2024010100:TMP:...``), and ECMWF, in JSON.
_OFFSET = re.compile(rb'^\d{1,9}(?:\.\d{1,9})?:(\d{1,15}):|"_offset": *(\d{1,15})', re.MULTILINE)
_TREE: Tree = {"kind": "plain", "dtype": "<f8", "exact": True}


@dataclass(eq=False)
class GribArrays:
    """Makes the nodes of a file as the library tells them.

    Attributes
    ----------
    array_findings
        Which arrays cannot be referenced.
    sources
        What has arrays that are chunks here read by the library, by path.
    reads
        Where the message begins that the library looked into last.
    joined
        The files that the messages are in, where these are several.
    """

    file: LibraryFile
    manifest: ManifestBuilder
    messages: int = 0
    findings: list[Finding] = field(default_factory=list)
    array_findings: list[Finding] = field(default_factory=list)
    sources: dict[str, LibrarySource] = field(default_factory=dict)
    reads: int | None = None
    joined: JoinedFiles | None = None
    _groups: set[str] = field(default_factory=set)

    def take(self, told: dict[str, Any], data: memoryview) -> None:
        """Take one answer."""
        if "reads" in told:
            self.reads = told["reads"]
            return
        if "messages" in told:
            self.messages = told["messages"]
            self.findings += [
                self._finding(self._named(each), None, Severity.FAULT) for each in told["problems"]
            ]
            return
        path = told.get("array") or told["coordinate"]
        if (unnamed := unheld_name(path)) is not None:
            self.findings.append(unnamed)
            return
        self.add_group(path.rpartition("/")[0] or "/")
        if "dtype" in told:
            self._add_coordinate(path, told, data)
        elif len(told["shape"]) <= LIMITS.rank:
            self._add_array(path, told, data)

    def add_group(self, path: str) -> None:
        """Add a group where it is not there."""
        if path not in self._groups:
            self._groups.add(path)
            self.manifest.add_node(GroupNode(path=path))

    def _add_coordinate(self, path: str, told: Told, data: memoryview) -> None:
        dtype = np.dtype(told["dtype"])
        shape = (len(data) // dtype.itemsize,)
        node = self._node(path, shape, told, DataType.of(dtype))
        self.manifest.add_node(replace(node, values=Chunks(grid=RegularChunkGrid(shape, shape))))
        self.manifest.add_bytes(f"{node.key_prefix}0", bytes(data))

    def _add_array(self, path: str, told: Told, data: memoryview) -> None:
        shape = tuple(told["shape"])
        node = self._node(path, shape, told, data_type_of(_TREE))
        sides = tuple(told.get("sides", shape))
        asked = asked_grid(shape, sides, 8)
        if asked.size > LIMITS.references:
            error = RefbrowserError(
                ErrorKind.BUDGET,
                f"its messages would make {asked.size} chunks, more than {LIMITS.references} (references)",
                Place(url=self.file.url, path=path),
            )
            self.findings.append(self._finding(error.message, path, Severity.FAULT))
            self.manifest.add_node(replace(node, error=error))
            return
        node = replace(node, fill_value=np.float64(np.nan))
        place = Place(url=self.file.url, path=path)
        lost = {
            tuple(at): RefbrowserError(ErrorKind.DECODE, text, place) for at, text in told.get("lost", ())
        }
        source = LibrarySource(self.file, path, _TREE, asked, lost=lost)
        why = self._named(told["why"])
        if 8 * prod(sides) > LIMITS.chunk_size:
            why = f"a field of it has more than {LIMITS.chunk_size} bytes (chunk_size)"
        if why:
            message = f"it cannot be referenced: {why}"
            self.array_findings.append(
                replace(self._finding(message, path, Severity.WARNING), kind=ErrorKind.META)
            )
            values = Pieces(
                grid=asked,
                manifest=SourceManifest(source, path, asked),
                source=source,
                unreferenced=why,
                stored_in="messages of GRIB",
            )
            self.manifest.add_node(replace(node, values=values))
            return
        codec = CodecSpec("grib", {"var": path.rpartition("/")[2], "dtype": "float64"})
        chunks = Chunks(
            grid=RegularChunkGrid(shape, sides), codecs=(codec,), order="F" if told["columns"] else "C"
        )
        self.manifest.add_node(replace(node, values=chunks))
        self._add_ranges(node.key_prefix, Stored.of(data, len(shape)))
        self.sources[path] = source

    def _add_ranges(self, prefix: str, stored: Stored) -> None:
        if self.joined is None:
            self.manifest.add_ranges(prefix, stored.coords, stored.offsets, stored.sizes)
            return
        numbers, offsets = np.divmod(stored.offsets, ROOM)
        self.manifest.add_ranges(
            prefix, stored.coords, offsets, stored.sizes, urls=self.joined.urls, url=numbers
        )

    def _named(self, text: str) -> str:
        """Return what the library says with the places of the files that messages are in."""
        return text if self.joined is None else self.joined.named(text)

    def _node(self, path: str, shape: tuple[int, ...], told: Told, type: DataType) -> ArrayNode:
        names = tuple(told["dimensions"])
        return ArrayNode(
            path=path,
            shape=shape,
            type=type,
            dimensions=names,
            attributes=dict(told["attributes"]),
            internal_attributes={DIMENSIONS_ATTRIBUTE: list(names)},
        )

    def _finding(self, message: str, path: str | None, severity: Severity) -> Finding:
        place = Place(url=self.file.url, path=path)
        return Finding(severity=severity, kind=ErrorKind.FORMAT, message=message, place=place)


def described_arrays(
    named: NamedFile,
    token: CancelToken | None,
    index: Mapping[str, Any] | None = None,
    joined: JoinedFiles | None = None,
) -> GribArrays:
    """Return what the library tells; a message by which its process dies is passed over by the next one.

    Parameters
    ----------
    index
        What is known of the messages, as `grib_indexed` has it; all are looked for when None.
    joined
        The files that these messages are in, where they are in several.

    Raises
    ------
    RefbrowserError
        The library cannot read the file.
    """
    skipped: list[int] = []
    known = {} if index is None else {"index": index}
    named.file.always = {"objects": LIMITS.library_objects, "skipped": skipped, **known}
    while True:
        arrays = GribArrays(named.file, ManifestBuilder(named.url), joined=joined)
        arrays.add_group("/")
        try:
            request = {"skipped": skipped, **known}
            ask_once(named.file, "describe", request, arrays.take, named.identity, token)
        except RefbrowserError as error:
            has_died = error.kind is ErrorKind.FORMAT and not named.file.has_process
            if not has_died or arrays.reads is None or len(skipped) >= _TRIES:
                raise
            skipped.append(arrays.reads)
        else:
            return arrays


def _look_ahead(opening: Opening, source: RemoteBytes) -> None:
    """Read the heads of messages together where an index beside a file elsewhere tells where they are.

    It is a hint: what is read otherwise is the same, one head after the other.
    """
    for url in (f"{opening.path}.idx", f"{opening.path.rpartition('.')[0]}.index"):
        try:
            index = RemoteBytes(url, source.access, opening.fetcher(), opening.token, first=FIRST, link=LOCAL)
            text = bytes(index.read(0, min(index.size, _INDEX)))
        except RefbrowserError:
            continue
        found = {int(plain or of_ecmwf) for plain, of_ecmwf in _OFFSET.findall(text)}
        # The end of a message is read with the head of the one behind it.
        starts = [each - 4 for each in sorted(found)[:HEADS] if each >= 4]
        source.read_ahead([*starts, source.size - 4], HEAD)
        return


def open_named_grib(opening: Opening) -> Opened:
    """Open a file of GRIB at a path or URL: what its messages say of themselves is read, and no values.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; `E_USAGE`: eccodes is not installed; else it cannot be read.
    """
    named = open_named_file(opening, LIBRARY)
    source = None if named.file.is_here else opening.remote()
    if source is not None and source.size >= _WORTH and "?" not in opening.path:
        source.at_first = partial(_look_ahead, opening, source)
    arrays = described_arrays(named, opening.token)
    if source is not None:
        source.read_ahead((), 0)
    origin = LibraryOrigin(
        path=named.url,
        format="grib",
        file=named.file,
        findings=tuple(arrays.array_findings),
        sources=arrays.sources,
        facts=(Fact("Size", named.size, is_size=True), Fact("Messages", arrays.messages)),
    )
    document = arrays.manifest.document(name=opening.path, origin=origin, notes=tuple(arrays.findings))
    return Opened(document, named.access, named.identity)
