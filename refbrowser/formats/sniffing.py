"""What a file is by its first bytes, where it is not a reference document."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from refbrowser.errors import DistinctError, ErrorKind, Place, RefbrowserError
from refbrowser.formats.compression import decompress, find_compression
from refbrowser.references.text.json_text import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from refbrowser.formats.lead import Lead

#: Bytes that are looked at.
HEAD = 4096
#: First bytes that are kept to be shown.
SHOWN = 48
#: Entries of a folder that are looked at, and documents in it that are named.
ENTRIES, NAMED = 10_000, 50
_FITS = b"SIMPLE  ="
_HDF5 = b"\x89HDF\r\n\x1a\n"
#: What the names of reference documents end with.
DOCUMENTS = (".json", ".json.gz", ".json.zst")
#: How the lists of conflicts begin that `refbrowser merge` writes.
_CONFLICTS = re.compile(rb'\s*\{\s*"merge_conflicts"\s*:')
_ZARR = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")


class FileKind(StrEnum):
    """What a file may be, as people call it."""

    NETCDF3 = "netCDF classic"
    HDF5 = "HDF5 or netCDF-4"
    GRIB = "GRIB"
    TIFF = "TIFF"
    HDF4 = "HDF4"
    FITS = "FITS"
    ZARR = "Zarr store"
    FOLDER = "folder"
    ZIP = "zip archive"
    PARQUET = "parquet file"
    NPY = "NumPy array"
    PICTURE = "picture"
    PDF = "PDF"
    PAGE = "web page"
    NCML = "NcML description"
    VRT = "virtual raster of GDAL"
    GRIB_INDEX = "index of a GRIB file"
    URL_LIST = "list of URLs"
    GEOJSON = "GeoJSON file"
    STAC = "STAC document"
    NOTEBOOK = "Jupyter notebook"
    PACKAGE = "package description of npm"
    TEXT = "text"
    EMPTY = "empty file"
    UNKNOWN = "unknown"


#: Kinds that hold data which references can point into.
DATA_KINDS = (
    FileKind.NETCDF3,
    FileKind.HDF5,
    FileKind.GRIB,
    FileKind.TIFF,
    FileKind.HDF4,
    FileKind.FITS,
    FileKind.ZARR,
)
_BEGINNINGS = (
    (b"CDF\x01", FileKind.NETCDF3),
    (b"CDF\x02", FileKind.NETCDF3),
    (b"CDF\x05", FileKind.NETCDF3),
    (_HDF5, FileKind.HDF5),
    (b"II*\x00", FileKind.TIFF),
    (b"MM\x00*", FileKind.TIFF),
    (b"II+\x00", FileKind.TIFF),
    (b"MM\x00+", FileKind.TIFF),
    (b"\x0e\x03\x13\x01", FileKind.HDF4),
    (_FITS, FileKind.FITS),
    (b"PK\x03\x04", FileKind.ZIP),
    (b"PK\x05\x06", FileKind.ZIP),
    (b"PAR1", FileKind.PARQUET),
    (b"\x93NUMPY", FileKind.NPY),
    (b"\x89PNG", FileKind.PICTURE),
    (b"\xff\xd8\xff", FileKind.PICTURE),
    (b"GIF8", FileKind.PICTURE),
    (b"%PDF", FileKind.PDF),
)
#: JSON objects of other software: what their keys have, and of which they have one at least.
_OBJECTS: tuple[tuple[FileKind, Set[str], Set[str]], ...] = (
    (FileKind.STAC, {"stac_version", "type"}, frozenset()),
    (FileKind.GRIB_INDEX, {"_offset", "_length"}, frozenset()),
    (FileKind.GEOJSON, {"type"}, {"features", "geometry", "coordinates", "geometries"}),
    (FileKind.NOTEBOOK, {"nbformat", "cells"}, frozenset()),
    (FileKind.PACKAGE, {"name", "version"}, {"dependencies", "devDependencies", "scripts", "main"}),
)
#: How texts of other software begin.
_TEXTS = (
    (
        FileKind.NCML,
        re.compile(rb"(?s).{0,512}?<(\w+:)?netcdf\b[^>]*unidata\.ucar\.edu/namespaces/netcdf/ncml"),
    ),
    (FileKind.VRT, re.compile(rb"(?s)\s*(<\?xml[^>]*>\s*)?(<!--.{0,999}?-->\s*)?<VRTDataset\b")),
    (FileKind.GRIB_INDEX, re.compile(rb"\d+(\.\d+)?:\d+:[dD]=\d{8,14}:")),
    (
        FileKind.GRIB_INDEX,
        re.compile(rb'\{(?=[^\n{}\[]*"_length": ?\d)[^\n{}\[]*"_offset": ?\d+[^\n{}\[]*\}'),
    ),
    (FileKind.URL_LIST, re.compile(rb"(#[^\n]*\n|\s)*([a-z][a-z0-9+]{1,9}://\S+\s*\n){2}")),
)
#: What leads on from a file without references.
_ADVICE = {
    FileKind.NCML: "Combine the files that it lists: refbrowser make FILE... --concat DIMENSION -o NAME.json",
    FileKind.VRT: "Open the files that it names.",
    FileKind.URL_LIST: (
        "Name what it lists to a command: refbrowser make URL... --concat DIMENSION -o NAME.json"
    ),
    FileKind.HDF4: (
        "pip install 'refbrowser[hdf4]' has it opened; a few lines of Python make references to it as well."
    ),
    FileKind.PARQUET: (
        "Open the folder that references in the parquet form are. A table of messages of GRIB files, as "
        "kerchunk's grib_idx makes it, has columns varname, uri, offset and length."
    ),
    FileKind.STAC: (
        "Open the href of one of its assets: a Zarr store, a reference document, or a file of data."
    ),
}
_SPACE = b" \t\n\r"
_PAGES = (b"<!doctype", b"<html", b"<?xml")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found where a reference document was expected.

    Attributes
    ----------
    kind
        What it is.
    head
        Its first bytes, at most `SHOWN`.
    documents
        Of a folder: names of files in it that may be reference documents, at most `NAMED`.
    names
        Of a folder: names of what lies in it, those of the first `ENTRIES`; hidden ones are left out.
    is_cut
        Of a folder: it has more entries than were looked at.
    lead
        Of a file that names others: these, and what is to become of them.
    """

    kind: FileKind
    head: bytes = b""
    documents: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    is_cut: bool = False
    lead: Lead | None = None

    @property
    def is_data(self) -> bool:
        """Whether it holds data that references can point into."""
        return self.kind in DATA_KINDS


class NotThisError(RefbrowserError):
    """What is named is not of the format that was tried; another one may have it.

    Attributes
    ----------
    found
        What it is instead; None where that is not known.
    """

    found: Found | None = None

    @classmethod
    def of(cls, error: RefbrowserError) -> NotThisError:
        """Return what an error of one format means where others may be tried."""
        return NotThisError(error.kind, error.message, error.place, error.advice)


class ConflictListError(DistinctError):
    """It lists the conflicts of a merge: there are no arrays in it."""


class NotReferencesError(NotThisError):
    """What was opened is no reference document, and no store; `found` is what it is."""

    found: Found

    def __init__(self, error: RefbrowserError, found: Found) -> None:
        super().__init__(error.kind, error.message, error.place, error.advice)
        self.args = (error, found)
        self.found = found


def looks_like_references(head: bytes) -> bool:
    """Return whether a file that begins with `head` may be a reference document (packed ones too)."""
    if find_compression(head) is not None:
        return True
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(_SPACE)[:1] == b"{"


def lists_conflicts(head: bytes) -> bool:
    """Return whether a file that begins with `head` lists the conflicts of a merge."""
    return _CONFLICTS.match(head) is not None


def json_kind(keys: Set[str]) -> FileKind | None:
    """Return what a JSON object is by its keys, where it is a known one without references."""
    for kind, needed, one_of in _OBJECTS:
        if needed <= keys and (not one_of or one_of & keys):
            return kind
    return None


def is_dmr(head: bytes) -> bool:
    """Return whether a file that begins with `head` is a DMR++."""
    return b"<Dataset" in head and b"opendap.org/ns/DAP/4.0" in head


def text_kind(head: bytes) -> FileKind | None:
    """Return what a text is that begins as one of other software does."""
    return next((kind for kind, begins in _TEXTS if begins.match(head)), None)


def file_kind(head: bytes) -> FileKind:
    """Return what a file is by its first `HEAD` bytes, where it is no reference document."""
    if not head:
        return FileKind.EMPTY
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    # A user block of 512 bytes or twice as many, and so on, may stand before the data.
    if any(head[at : at + len(_HDF5)] == _HDF5 for at in (512, 1024, 2048)):
        return FileKind.HDF5
    if _unpacked_head(head).startswith(_FITS):
        return FileKind.FITS
    # A bulletin's heading of some lines may stand before the message.
    at = head.find(b"GRIB", 0, 256)
    if at >= 0 and head[at + 7 : at + 8] in (b"\x01", b"\x02"):
        return FileKind.GRIB
    if (told := text_kind(head)) is not None:
        return told
    if head.lstrip().lower().startswith(_PAGES):
        return FileKind.PAGE
    return FileKind.TEXT if _is_text(head) else FileKind.UNKNOWN


def _unpacked_head(head: bytes) -> bytes:
    """Return the first bytes of what is packed by gzip; nothing where it is not."""
    if find_compression(head) != "gzip":
        return b""
    try:
        return next(decompress("gzip", (head,)), b"")
    except ValueError:
        return b""


def _is_text(head: bytes) -> bool:
    try:
        # The last character may be cut.
        text = head.decode("utf-8") if len(head) < HEAD else head[:-4].decode("utf-8", "ignore")
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character in "\r\n\t\ufeff" for character in text[:512])


def found_in_file(head: bytes) -> Found:
    """Return what a file is by its first `HEAD` bytes."""
    return Found(file_kind(head), head[:SHOWN])


def found_in_folder(path: str | os.PathLike[str]) -> Found:
    """Return what a folder is: a Zarr store, or one with reference documents in it; reads names alone.

    Raises
    ------
    OSError
        It cannot be listed.
    """
    names, is_cut = [], False
    with os.scandir(path) as entries:
        for number, entry in enumerate(entries):
            if entry.name in _ZARR:
                return Found(FileKind.ZARR)
            if number >= ENTRIES:
                is_cut = True
                break
            if not entry.name.startswith("."):
                names.append(entry.name)
    names.sort()
    documents = [name for name in names if name.lower().endswith(DOCUMENTS)]
    return Found(FileKind.FOLDER, documents=tuple(documents[:NAMED]), names=tuple(names), is_cut=is_cut)


def data_error(found: Found, name: str | None) -> NotReferencesError:
    """Return the error for a file that holds data, not references."""
    error = RefbrowserError(
        ErrorKind.FORMAT,
        f"the file is {found.kind}: it holds data, not references",
        Place(document=name),
        _ADVICE.get(found.kind, "A few lines of Python make references to it; the window shows them."),
    )
    return NotReferencesError(error, found)


def other_error(found: Found, name: str | None) -> NotReferencesError:
    """Return the error for a file of other software: neither data that can be read nor references."""
    article = "an" if found.kind.startswith(("a", "e", "i", "o", "u", "Nc")) else "a"
    message = f"the file is {article} {found.kind}: it has no references"
    error = RefbrowserError(ErrorKind.FORMAT, message, Place(document=name), _ADVICE.get(found.kind, ""))
    return NotReferencesError(error, found)


def unknown_error(found: Found, name: str | None) -> NotReferencesError:
    """Return the error for a file of which nothing is known."""
    error = RefbrowserError(ErrorKind.FORMAT, "the file has no known format", Place(document=name))
    return NotReferencesError(error, found)


def hex_lines(head: bytes, width: int = 16) -> Sequence[str]:
    """Return bytes as lines of hex with their text beside them."""
    lines = []
    for start in range(0, len(head), width):
        part = head[start : start + width]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{part.hex(' '):<{width * 3}} {text}")
    return lines
