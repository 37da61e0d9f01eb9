"""The formats: one table of what can be opened and written, each with a score for what is named.

What opens a format is named as ``module:function`` and loaded once it has won. Formats of other packages
come by the entry points of the group `GROUP`, each of which leads to a `Format`; they are trusted as the
packages are that the user installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.ncstream import magics
from refbrowser.formats.sniffing import HEAD, FileKind, Found, NotThisError, file_kind, looks_like_references
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import REMOTE, http_url, local_path, scheme_of
from refbrowser.model.flavour import Flavour

if TYPE_CHECKING:
    from refbrowser.formats.ncstream.options import StreamOptions
    from refbrowser.io.access import Access
    from refbrowser.io.fetch import Fetcher
    from refbrowser.io.identity import FileIdentity, ObjectIdentity
    from refbrowser.io.origins import ConnectionSettings, Origin
    from refbrowser.references.document.content import DocumentContent
    from refbrowser.references.document.document import Document
    from refbrowser.references.document.table import ReferenceTable

#: The group of entry points by which other packages add formats.
GROUP = "refbrowser.formats"


class Score(IntEnum):
    """How much speaks for a format."""

    NO = 0
    #: It is asked for where all else was tried.
    LAST = 1
    #: Files and folders of this kind may hold it.
    PERHAPS = 2
    #: It may be anything, this among it.
    LIKELY = 3
    #: So it is looked for first where nothing is known of what is named.
    FIRST = 4
    #: What is named is of this format by its kind, its suffix, its first bytes, its place, its scheme.
    KIND = 5
    SUFFIX = 6
    MAGIC = 7
    PLACE = 8
    SCHEME = 9


# What is named, opened, and got


@dataclass(frozen=True, slots=True)
class Seen:
    """What is named, as far as it was looked at.

    Attributes
    ----------
    path
        As the user named it.
    local
        Its path; None of a URL elsewhere.
    is_folder, is_parquet
        Whether it is a folder, and one in the parquet form of references.
    head
        First `HEAD` bytes of a file; None where there is none, or its first bytes are not known yet.
    kind
        What it was found to be; None where that is not known yet.
    """

    path: str
    local: str | None
    is_folder: bool = False
    is_parquet: bool = False
    head: bytes | None = None
    kind: FileKind | None = None

    @classmethod
    def of(cls, path: str) -> Seen:
        """Look at what is at a path, once; of a URL, at how it is spelled.

        Raises
        ------
        RefbrowserError
            A file is there and cannot be read.
        """
        local = local_path(path)
        real = "" if local is None else os.path.realpath(local)
        if local is None or not os.path.exists(real):
            return cls(path, local)
        if os.path.isdir(real):
            from refbrowser.formats.parquet_text import is_parquet_references

            return cls(path, local, is_folder=True, is_parquet=is_parquet_references(real))
        if not os.path.isfile(real):
            return cls(path, local)
        # Not before: with numpy behind it; menus and help have the table alone.
        from refbrowser.io.local import open_regular

        with open_regular(real) as (descriptor, _):
            head = os.read(descriptor, HEAD)
        return cls(path, local, head=head, kind=file_kind(head))

    def ends(self, suffixes: Sequence[str]) -> bool:
        """Return whether its name ends so; what follows a ``?`` in a URL is no part of that."""
        return self.path.partition("?")[0].lower().endswith(tuple(suffixes))

    @property
    def says_nothing(self) -> bool:
        """Whether it is a URL by whose spelling it may be anything."""
        others = (each.suffixes for each in BUILT_IN if each is not REFERENCES)
        return self.local is None and not any(map(self.ends, others))

    def learned(self, error: NotThisError) -> Seen:
        """Return this with what an opening that failed has found."""
        found = error.found
        return self if found is None else replace(self, kind=found.kind, head=found.head or self.head)


@dataclass(frozen=True, slots=True)
class OpenProgress:
    """How far the opening of a document is.

    Attributes
    ----------
    bytes_read
        Of the file, as it is stored.
    total
        Bytes of the file, or None where it is not known.
    rows
        References so far.
    first
        Once, as soon as there are some: the first references, to be shown while the rest is read.
    """

    bytes_read: int
    total: int | None
    rows: int
    first: ReferenceTable | None = None


def _no_fetcher() -> Fetcher:
    raise RefbrowserError(ErrorKind.USAGE, "nothing is there that reads URLs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a format gets to open.

    Attributes
    ----------
    path
        As the user named it.
    seen
        What it is, as far as that is known.
    allow
        Origins that may be read from, besides what is named.
    settings
        How to connect, per origin.
    values
        Values for templates; used, never saved.
    flavour
        Whose rules the metadata of a store follows; found out when None.
    stream
        How messages are read; the rule when None.
    allow_functions
        Of files of Awkward 0: see `Awkward0Options`.
    fetcher
        Gives what reads URLs; it is made when it is first wanted.
    token
        Ends the opening.
    report
        Called with how far the reading of a document is.
    progress
        Called with what is done, of how much, and ``note``: what is counted.
    confirm
        Asked about a document of unusual size, with its bytes.
    """

    path: str
    seen: Seen
    allow: tuple[Origin, ...] = ()
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    flavour: Flavour | None = None
    stream: StreamOptions | None = None
    allow_functions: tuple[str, ...] = ()
    fetcher: Callable[[], Fetcher] = _no_fetcher
    token: CancelToken = field(default_factory=CancelToken)
    report: Callable[[OpenProgress], None] = lambda progress: None
    progress: Callable[..., None] = lambda done, total=None, **facts: None
    confirm: Callable[[int], bool] = lambda size: True

    def identity(self) -> FileIdentity | None:
        """Return the state of the file as it is now; None of what is not local."""
        from refbrowser.io.atomic import identity_on_disk

        return None if self.seen.local is None else identity_on_disk(self.seen.local)


@dataclass(frozen=True, slots=True)
class Opened:
    """A document, what it may read, and the state of its file when it was read."""

    document: Document
    access: Access
    identity: FileIdentity | ObjectIdentity | None = None


# Formats


@dataclass(frozen=True, slots=True)
class Written:
    """A form in which datasets are written.

    Attributes
    ----------
    name
        As ``refbrowser export --to`` takes it.
    title
        In the dialog.
    suffix
        What the names of targets end with.
    target
        What says how it is exported, as ``module:class``: a `refbrowser.exporting.exporter.Target`.
    layout
        Of a store: what lays out arrays and writes metadata, as ``module:class``: a
        `refbrowser.exporting.layout.StoreLayout`.
    options
        What can be chosen, as ``module:class``: a group of `refbrowser.exporting.option_fields`. Empty where
        there is nothing.
    unit
        What data is written as, in the singular.
    resumes
        Whether an export that was interrupted can be gone on with.
    readers
        Other software that reads it, so that a result can be checked with it.
    rank
        Its place in the dialog: what most look for has the lowest.
    note
        Why there is nothing to choose, without a full stop.
    """

    name: str
    title: str
    suffix: str
    target: str
    layout: str = ""
    options: str = ""
    unit: str = "chunk"
    resumes: bool = False
    readers: tuple[str, ...] = ()
    rank: int = 100
    note: str = "There is nothing to choose for this format"

    @property
    def units(self) -> str:
        """What data is written as, in the plural."""
        return f"{self.unit}es" if self.unit.endswith("ch") else f"{self.unit}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format.

    Attributes
    ----------
    name
        As ``info --json`` has it, and `DerivedOrigin.format`.
    title
        What it is called in the window.
    holds
        What can be opened of it, in a sentence.
    opener
        The function that opens it, as ``module:function``: from an `Opening` to what is `Opened`. It raises
        `NotThisError` where what is named is none of it after all; any other error is the answer. Empty for
        a format that is only written.
    suffixes
        What names end with, in small letters.
    begins
        First bytes of its files, each of which tells it.
    sniff
        Gives the `Score` where first bytes do not tell it; by suffix when None.
    noun
        What one of it is called; a file of its title when empty.
    plural
        What files of it are called in dialogs; those of its title when empty.
    files
        Suffixes of its files in dialogs where they are not `suffixes`.
    brief
        A few words of it on the start page and in help; its title and first suffix when empty.
    flavours
        What ``--as`` can name it as.
    writes
        The forms in which it is written.
    parts
        What can be named in its files beside keys, in words.
    facets
        What it adds to the program, by the name of the place: ``module:function``.

        ``complete(document, resources, access, token)`` returns a document that knows what only data tell;
        ``check(dataset, control)`` returns what is wrong with what is stored; ``portable(dataset, control)``
        returns a document that other software follows, and what that lost; ``foreseen(dataset)`` yields of
        that what is known before; ``name(part)`` returns the name that a part of a path stands for.
    """

    name: str
    title: str
    holds: str
    opener: str = ""
    suffixes: tuple[str, ...] = ()
    begins: tuple[bytes, ...] = ()
    sniff: Callable[[Seen], Score] | None = None
    noun: str = ""
    plural: str = ""
    files: tuple[str, ...] = ()
    brief: str = ""
    flavours: tuple[Flavour, ...] = ()
    writes: tuple[Written, ...] = ()
    parts: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        suffix = f" ({self.suffixes[0]})" if self.suffixes else ""
        words: dict[str, Any] = {
            "noun": f"the {self.title} file",
            "plural": f"{self.title} files",
            "files": self.suffixes,
            "brief": f"{self.title}{suffix}",
        }
        for name in (each for each in words if not getattr(self, each)):
            object.__setattr__(self, name, words[name])

    def score(self, seen: Seen) -> Score:
        """Return how much speaks for it, by what is known of what is named."""
        if seen.head is not None and seen.head.startswith(self.begins):
            return Score.MAGIC
        if self.sniff is not None:
            return self.sniff(seen)
        # The first bytes of a file are known: those of another format are not overruled by its name.
        is_told = bool(self.begins) and seen.head is not None
        return Score.SUFFIX if seen.ends(self.suffixes) and not is_told else Score.NO

    def open(self, opening: Opening) -> Opened:
        """Open what is named as this format.

        Raises
        ------
        RefbrowserError
            `NotThisError`: it is none of it; else it cannot be read.
        Cancelled
            The opening was cancelled.
        """
        opened: Opened = resolve_name(self.opener)(opening)
        return opened


# What speaks for formats


def _of_references(seen: Seen) -> Score:
    if seen.local is None:
        return Score.FIRST if seen.says_nothing else Score.NO
    if seen.is_folder:
        return Score.KIND if seen.is_parquet else Score.NO
    if seen.head is None:
        return Score.FIRST
    if looks_like_references(seen.head):
        return Score.KIND
    return Score.NO if seen.kind is FileKind.ZIP else Score.LIKELY


def _of_store(seen: Seen) -> Score:
    if seen.local is not None:
        is_one = seen.kind is FileKind.ZIP or (seen.is_folder and not seen.is_parquet)
        return Score.KIND if is_one else Score.NO
    if seen.kind is not None and Found(seen.kind).is_data:
        return Score.NO
    return Score.KIND if seen.ends(ZARR.suffixes) else Score.LIKELY if seen.says_nothing else Score.NO


def _of_stream(seen: Seen) -> Score:
    if not seen.ends(STREAM.suffixes) or (seen.local is not None and seen.head is None):
        return Score.NO
    # What looks like a document is one, whatever its name.
    return Score.NO if seen.head is not None and seen.head[:1] in (b"{", b"\xef", b" ") else Score.SUFFIX


def _of_awkward0(seen: Seen) -> Score:
    if seen.ends(AWKWARD0.suffixes):
        return Score.SUFFIX
    if seen.local is not None and (seen.kind is FileKind.HDF5 or (seen.is_folder and not seen.is_parquet)):
        return Score.PERHAPS
    return Score.PERHAPS if seen.kind is FileKind.ZIP else Score.NO


def _of_service(seen: Seen) -> Score:
    if http_url(seen.path) != seen.path:
        return Score.SCHEME
    if scheme_of(seen.path) not in ("http", "https"):
        return Score.NO
    if f"/{REMOTE}/" in seen.path.partition("?")[0].lower():
        return Score.PLACE
    is_other = seen.kind is FileKind.ZIP or (seen.kind is not None and Found(seen.kind).is_data)
    return Score.LAST if seen.says_nothing and not is_other else Score.NO


_TARGETS = "refbrowser.exporting.targets"
_OPTIONS = f"{_TARGETS}.options"
_REFERENCES: dict[str, Any] = {
    "target": f"{_TARGETS}.references:ReferencesTarget",
    "note": "References keep containers, chunks and codecs as they are: no data is written",
}
_STORE: dict[str, Any] = {
    "target": f"{_TARGETS}.store:StoreTarget",
    "options": f"{_OPTIONS}:StoreOptions",
    "resumes": True,
}
_TABLES: dict[str, Any] = {
    "target": f"{_TARGETS}.tables:TableTarget",
    "options": f"{_OPTIONS}:TableOptions",
}

_MESSAGES = {
    "portable": "refbrowser.exporting.streams.virtual:virtual_document",
    "foreseen": "refbrowser.exporting.streams.virtual:foreseen",
}

REFERENCES = Format(
    name="references",
    title="Reference document",
    holds="reference documents of Version 0 and 1 as JSON (plain, .gz, .zst), folders in the parquet form",
    opener="refbrowser.formats.references:open_named_references",
    suffixes=(".json", ".json.gz", ".json.zst", ".zst", ".gz", ".parq", ".parquet"),
    sniff=_of_references,
    noun="the document",
    plural="Reference documents",
    brief="kerchunk: JSON or parquet",
    writes=(
        Written("refs-v0", "Reference document, Version 0", ".refs.json", rank=10, **_REFERENCES),
        Written("refs-v1", "Reference document, Version 1", ".refs.json", rank=9, **_REFERENCES),
        Written("refs-parquet", "Reference document, parquet form", ".parq", rank=11, **_REFERENCES),
    ),
)
ZARR = Format(
    name="zarr",
    title="Zarr",
    holds="Zarr and NCZarr stores",
    opener="refbrowser.formats.stores.opening:open_named_store",
    suffixes=("/", ".zarr", ".nczarr", ".zr3", ".zarr3", ".zip"),
    sniff=_of_store,
    noun="the store",
    plural="Stores in zip files",
    files=(".zip",),
    brief="Zarr and NCZarr: folders, zips, URLs",
    flavours=tuple(Flavour),
    writes=(
        Written(
            "zarr-v2",
            "Zarr, version 2",
            ".zarr",
            layout=f"{_TARGETS}.zarr:ZarrV2Layout",
            readers=("zarr-python",),
            rank=2,
            **_STORE,
        ),
        Written(
            "zarr-v3",
            "Zarr, version 3",
            ".zarr",
            layout=f"{_TARGETS}.zarr:ZarrV3Layout",
            readers=("zarr-python",),
            rank=1,
            **_STORE,
        ),
        Written(
            "zarr-v3-draft",
            "Zarr, draft of version 3 (2019)",
            ".zarr",
            layout=f"{_TARGETS}.draft:DraftLayout",
            rank=4,
            **_STORE,
        ),
        Written(
            "nczarr",
            "NCZarr, for netCDF",
            ".zarr",
            layout=f"{_TARGETS}.nczarr:NczarrLayout",
            readers=("netCDF4", "zarr-python"),
            rank=3,
            **_STORE,
        ),
    ),
)
STREAM = Format(
    name="ncstream",
    title="ncstream",
    holds="ncstream",
    opener="refbrowser.formats.ncstream.opening:open_named_stream",
    suffixes=(".ncs", ".ncstream"),
    begins=tuple(sorted(magics.FIRST | magics.COVERAGES)),
    sniff=_of_stream,
    noun="the stream",
    plural="Streams",
    writes=(
        Written(
            "ncstream",
            "NcStream, messages",
            ".ncs",
            f"{_TARGETS}.ncstream:StreamTarget",
            options=f"{_OPTIONS}:StreamOptions",
            unit="message",
            readers=("siphon",),
            rank=5,
        ),
    ),
    parts="messages/0 is the first message of a stream",
    facets={"check": "refbrowser.exporting.streams.soundness:payload_findings", **_MESSAGES},
)
AWKWARD0 = Format(
    name="awkward0",
    title="Awkward 0",
    holds="Awkward 0 as .awkd, HDF5 or a folder of blobs",
    opener="refbrowser.formats.awkward0.opening:open_named_arrays",
    suffixes=(".awkd", ".awkd/"),
    sniff=_of_awkward0,
    noun="the Awkward 0 file",
    plural="Awkward 0",
    files=(".awkd", ".h5", ".hdf5"),
    writes=(
        Written(
            "awkward0",
            "Awkward 0",
            ".awkd",
            f"{_TARGETS}.awkward0:Awkward0Target",
            options=f"{_OPTIONS}:Awkward0Writing",
            unit="blob",
            rank=8,
        ),
    ),
    parts="blobs have the names that they have in the file: one-1.raw",
    facets={
        "complete": "refbrowser.engine.nested.measuring:with_measured",
        "check": "refbrowser.engine.awkward0_soundness:value_findings",
        "portable": "refbrowser.exporting.saving.virtual_awkward0:virtual_document",
        "name": "refbrowser.formats.awkward0.naming:name_of_path",
    },
)
SERVICE = Format(
    name="cdmremote",
    title="CDM Remote",
    holds="datasets that servers offer as CDM Remote",
    opener="refbrowser.formats.cdmremote.opening:open_named_service",
    sniff=_of_service,
    facets=_MESSAGES,
)
TABLES = Format(
    name="tables",
    title="Tables",
    holds="columns",
    writes=(
        Written("parquet", "Parquet, columns", ".parquet", unit="row group", rank=6, **_TABLES),
        Written("feather", "Feather (Arrow), columns", ".feather", unit="record batch", rank=7, **_TABLES),
    ),
)
BUILT_IN = (REFERENCES, ZARR, STREAM, AWKWARD0, SERVICE, TABLES)


# Formats of other packages


@dataclass(frozen=True, slots=True)
class Foreign:
    """The formats of other packages, and why some cannot be used."""

    formats: tuple[Format, ...] = ()
    errors: tuple[RefbrowserError, ...] = ()


@cache
def foreign() -> Foreign:
    """Return the formats of other packages; they are looked for once."""
    from importlib.metadata import entry_points

    formats: dict[str, Format] = {each.name: each for each in BUILT_IN}
    errors: list[RefbrowserError] = []
    for point in entry_points(group=GROUP):
        try:
            found = point.load()
        except Exception as error:  # noqa: BLE001 - it is not ours: what it raises is told
            errors.append(_unusable(point.value, f"{type(error).__name__}: {error}"))
            continue
        if not isinstance(found, Format):
            errors.append(_unusable(point.value, "it is no Format"))
        elif found.name in formats:
            errors.append(_unusable(point.value, f"there is a format {found.name} already"))
        else:
            formats[found.name] = found
    return Foreign(tuple(formats.values())[len(BUILT_IN) :], tuple(errors))


def _unusable(value: str, why: object) -> RefbrowserError:
    message = f"the format {quoted(value)} of another package cannot be used: {quoted(why)[1:-1]}"
    return RefbrowserError(ErrorKind.FORMAT, message, Place())


def formats() -> tuple[Format, ...]:
    """Return all formats, those of other packages last."""
    return (*BUILT_IN, *foreign().formats)


def format_named(name: str) -> Format | None:
    """Return the format of a name, or None."""
    known = next((each for each in BUILT_IN if each.name == name), None)
    return known or next((each for each in foreign().formats if each.name == name), None)


def title_of(name: str) -> str:
    """Return what a format is called in the window; its name where that is all that is known."""
    found = format_named(name)
    return name if found is None else found.title


def openable() -> tuple[Format, ...]:
    """Return the formats that can be opened."""
    return tuple(each for each in formats() if each.opener)


def written() -> dict[str, Written]:
    """Return the forms in which datasets are written, by name; those of other packages last."""
    return _forms(formats())


def form_named(name: str) -> Written:
    """Return a form in which datasets are written; those of other packages are not loaded for one of ours.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name.
    """
    form = _forms(BUILT_IN).get(name) or written().get(name)
    if form is None:
        message = f"{quoted(name)} is not a format that can be written"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(written())}")
    return form


def _forms(of: tuple[Format, ...]) -> dict[str, Written]:
    found: dict[str, Written] = {}
    for form in (form for each in of for form in each.writes):
        # The first of several of a name is the one.
        found.setdefault(form.name, form)
    return found


def facet(document: DocumentContent, place: str) -> Any:
    """Return what the format of a document adds to a place of the program; None where it adds nothing.

    Parameters
    ----------
    document
        Of any kind.
    place
        A key of `Format.facets`.
    """
    origin = document.derived
    found = None if origin is None else format_named(origin.format)
    return None if found is None or place not in found.facets else resolve_name(found.facets[place])
