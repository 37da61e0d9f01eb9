"""The formats: one table of what can be opened and written.

What opens a format is named as ``module:function`` and loaded once it has won. Formats of other packages
come by the entry points of the group `GROUP`, each of which leads to a `Format`; they are trusted as the
packages are that the user installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.format import Format, Page, Score, Seen, Written
from refbrowser.formats.sniffing import FileKind, Found, is_dmr, looks_like_references
from refbrowser.io.named_places import named_origin
from refbrowser.io.origins import REMOTE, Origin, http_url, scheme_of
from refbrowser.loading import load_if_there
from refbrowser.plugins import Plugins, plugins

if TYPE_CHECKING:
    from refbrowser.formats.option_fields import Option
    from refbrowser.references.content.content import DocumentContent

#: The group of entry points by which other packages add formats.
GROUP = "refbrowser.formats"


# What speaks for formats


def _says_nothing(seen: Seen) -> bool:
    """Whether it is a URL by whose spelling it may be anything."""
    others = (each.suffixes for each in BUILT_IN if each is not REFERENCES)
    return seen.local is None and not any(map(seen.ends, others))


def _of_references(seen: Seen) -> Score:
    if seen.local is None:
        return Score.FIRST if _says_nothing(seen) else Score.NO
    if seen.is_folder:
        return Score.KIND if seen.is_parquet else Score.NO
    if seen.head is None:
        return Score.FIRST
    if looks_like_references(seen.head):
        return Score.KIND
    return Score.NO if seen.kind in (FileKind.ZIP, FileKind.HDF5) else Score.LIKELY


def _of_store(seen: Seen) -> Score:
    if seen.local is not None:
        is_one = seen.kind is FileKind.ZIP or (seen.is_folder and not seen.is_parquet)
        return Score.KIND if is_one else Score.NO
    if seen.kind is not None and Found(seen.kind).is_data:
        return Score.NO
    return Score.KIND if seen.ends(ZARR.suffixes) else Score.LIKELY if _says_nothing(seen) else Score.NO


def _of_stream(seen: Seen) -> Score:
    if not seen.ends(STREAM.suffixes) or (seen.local is not None and seen.head is None):
        return Score.NO
    # What looks like a document is one, whatever its name.
    return Score.NO if seen.head is not None and seen.head[:1] in (b"{", b"\xef", b" ") else Score.SUFFIX


def _of_awkward0(seen: Seen) -> Score:
    if seen.ends(AWKWARD0.suffixes):
        return Score.SUFFIX
    if seen.local is not None and seen.kind is FileKind.HDF5:
        # Files of netCDF-4 are surely something else.
        return Score.NO if seen.ends((".nc", ".nc4")) else Score.PERHAPS
    if seen.local is not None and seen.is_folder and not seen.is_parquet:
        return Score.PERHAPS
    return Score.PERHAPS if seen.kind is FileKind.ZIP else Score.NO


def _of_hdf5(seen: Seen) -> Score:
    if seen.local is not None:
        return Score.LAST if seen.kind is FileKind.HDF5 else Score.NO
    if seen.kind is not None and seen.kind is not FileKind.HDF5:
        return Score.NO
    return Score.SUFFIX if seen.kind is FileKind.HDF5 or seen.ends(HDF5.suffixes) else Score.NO


def _of_hdf4(seen: Seen) -> Score:
    if seen.kind is not None:
        return Score.MAGIC if seen.kind is FileKind.HDF4 else Score.NO
    return Score.SUFFIX if seen.local is None and seen.ends(HDF4.suffixes) else Score.NO


def _of_grib(seen: Seen) -> Score:
    if seen.kind is not None:
        # A bulletin's heading may stand before the first message.
        return Score.KIND if seen.kind is FileKind.GRIB else Score.NO
    return Score.SUFFIX if seen.local is None and seen.ends(GRIB.suffixes) else Score.NO


def _of_grib_index(seen: Seen) -> Score:
    if seen.kind is FileKind.PARQUET:
        # A table of messages, as kerchunk writes it, is told by its columns.
        return Score.PERHAPS
    if seen.kind is not None:
        return Score.MAGIC if seen.kind is FileKind.GRIB_INDEX else Score.NO
    return Score.SUFFIX if seen.local is None and seen.ends(GRIB_INDEX.suffixes) else Score.NO


def _of_fits(seen: Seen) -> Score:
    if seen.kind is not None:
        # It may be packed by gzip.
        return Score.MAGIC if seen.kind is FileKind.FITS else Score.NO
    return Score.SUFFIX if seen.local is None and seen.ends(FITS.suffixes) else Score.NO


def _of_dmrpp(seen: Seen) -> Score:
    if seen.head is not None:
        return Score.MAGIC if is_dmr(seen.head) else Score.NO
    return Score.SUFFIX if seen.ends(DMRPP.suffixes) else Score.NO


def _of_ncml(seen: Seen) -> Score:
    if not seen.ends(NCML.suffixes):
        return Score.NO
    return Score.SUFFIX if seen.local is None or seen.kind is FileKind.NCML else Score.NO


def _of_icechunk(seen: Seen) -> Score:
    if seen.local is None:
        is_other = seen.kind is not None and Found(seen.kind).is_data
        is_named = seen.ends(ICECHUNK.suffixes)
        return (
            Score.SUFFIX if is_named else Score.PERHAPS if _says_nothing(seen) and not is_other else Score.NO
        )
    if not seen.is_folder or not os.path.isdir(os.path.join(seen.local, "snapshots")):
        return Score.NO
    # Version 2 has one file for all that changes, version 1 a folder of references.
    is_one = any(os.path.exists(os.path.join(seen.local, name)) for name in ("repo", "refs"))
    return Score.MAGIC if is_one else Score.NO


def _of_service(seen: Seen) -> Score:
    if http_url(seen.path) != seen.path:
        return Score.SCHEME
    if scheme_of(seen.path) not in ("http", "https"):
        return Score.NO
    if f"/{REMOTE}/" in seen.path.partition("?")[0].lower():
        return Score.PLACE
    is_other = seen.kind is FileKind.ZIP or (seen.kind is not None and Found(seen.kind).is_data)
    return Score.LAST if _says_nothing(seen) and not is_other else Score.NO


_TARGETS = "refbrowser.exporting.targets"
_LIBRARY = "refbrowser.formats.library.process"
_FACETS = "refbrowser.app.facets"
_NETCDF_BY_XARRAY = "refbrowser.formats.python_lines:netcdf_opening"
_OPTIONS = "refbrowser.exporting.options"
_NCSTREAM = "refbrowser.wings.ncstream"
_DRAFT = "refbrowser.wings.zarr_draft"
_ICECHUNK = "refbrowser.wings.icechunk"
_AWKWARD0 = "refbrowser.wings.awkward0"
_DMRPP = "refbrowser.wings.dmrpp"
_REFERENCES: dict[str, Any] = {
    "target": f"{_TARGETS}.references:ReferencesTarget",
    "options": f"{_TARGETS}.reference_options:ReferenceOptions",
    "refers": True,
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

_VIRTUAL = {
    "portable": "refbrowser.exporting.saving.virtual_arrays:virtual_document",
    "foreseen": "refbrowser.exporting.saving.virtual_arrays:foreseen",
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
        Written("refs-v0", "Reference document, Version 0", ".refs.json", rank=11, **_REFERENCES),
        Written("refs-v1", "Reference document, Version 1", ".refs.json", rank=10, **_REFERENCES),
        Written("refs-parquet", "Reference document, parquet form", ".parq", rank=12, **_REFERENCES),
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
    options="refbrowser.formats.options:StoreReading",
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
            codecs="v3",
            readers=("zarr-python",),
            rank=1,
            **_STORE,
        ),
        Written(
            "zarr-v3-draft",
            "Zarr, draft of version 3 (2019)",
            ".zarr",
            layout=f"{_DRAFT}.writing.draft_layout:DraftLayout",
            codecs="draft",
            rank=5,
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
    opener=f"{_NCSTREAM}.reading.opening:open_named_stream",
    suffixes=(".ncs", ".ncstream"),
    # A file's own, and those of messages: headers, data, errors, stations and points, coverages.
    begins=(
        b"CDFS",
        *(b"\xad\xec\xce\xda", b"\xab\xec\xce\xba", b"\xab\xeb\xbe\xba", b"\xab\xad\xba\xda"),
        *(b"\xfe\xfe\xef\xef", b"\xfa\xfa\xaf\xaf", b"\xf0\xf0\x0f\x0f"),
        *(b"\xad\xed\xde\xda", b"\xab\xed\xde\xba"),
    ),
    sniff=_of_stream,
    options=f"{_NCSTREAM}.reading.reading_options:StreamReading",
    noun="the stream",
    limits=f"{_NCSTREAM}.stream_limits:STREAM_LIMITS",
    is_ours=True,
    plural="Streams",
    writes=(
        Written(
            "ncstream",
            "NcStream, messages",
            ".ncs",
            f"{_NCSTREAM}.writing.stream_target:StreamTarget",
            options=f"{_NCSTREAM}.writing.stream_options:StreamOptions",
            unit="message",
            readers=("siphon",),
            rank=6,
        ),
    ),
    parts="messages/0 is the first message of a stream",
    facets={
        "check": f"{_NCSTREAM}.changing.soundness:payload_findings",
        "append": f"{_NCSTREAM}.verbs.append_verb:run",
        "document": f"{_NCSTREAM}.window.document_stream:DocumentStream",
        "commands": f"{_NCSTREAM}.window.stream_commands:StreamCommands",
        **_VIRTUAL,
        "portable": f"{_NCSTREAM}.writing.virtual_streams:virtual_document",
    },
    pages=(
        Page(
            name="messages",
            made=f"{_NCSTREAM}.window.messages_link:MessagesLink",
            title="Messa&ges",
            shortcut="Ctrl+6",
            tip="Show the messages of the stream, and which one supplied each element",
        ),
    ),
)
AWKWARD0 = Format(
    name="awkward0",
    title="Awkward 0",
    holds="Awkward 0 as .awkd, HDF5 or a folder of blobs",
    opener=f"{_AWKWARD0}.reading.opening:open_named_arrays",
    suffixes=(".awkd", ".awkd/"),
    sniff=_of_awkward0,
    options=f"{_AWKWARD0}.reading.awkward0_options:Awkward0Options",
    limits=f"{_AWKWARD0}.awkward_limits:AWKWARD_LIMITS",
    noun="the Awkward 0 file",
    is_ours=True,
    plural="Awkward 0",
    files=(".awkd", ".h5", ".hdf5"),
    writes=(
        Written(
            "awkward0",
            "Awkward 0",
            ".awkd",
            f"{_AWKWARD0}.writing.awkward0_target:Awkward0Target",
            options=f"{_AWKWARD0}.writing.awkward0_writing:Awkward0Writing",
            unit="blob",
            rank=9,
        ),
    ),
    parts="blobs have their names in the file: one-1.raw",
    facets={
        "complete": f"{_AWKWARD0}.reading.row_counts:with_measured",
        "check": f"{_AWKWARD0}.reading.soundness:value_findings",
        "portable": f"{_AWKWARD0}.writing.virtual_document:virtual_document",
        "name": f"{_AWKWARD0}.reading.naming:name_of_path",
        "document": f"{_AWKWARD0}.window.document_awkward:DocumentAwkward",
        "commands": f"{_AWKWARD0}.window.commands:AwkwardCommands",
    },
    pages=(
        Page(
            name="values",
            made="refbrowser.app.nested.nested_pane:NestedPage",
            title="Val&ues",
            shortcut="Ctrl+7",
            tip="Show the lists and records of the array, row by row",
        ),
        Page(
            name="expressions",
            made=f"{_AWKWARD0}.window.expressions_link:ExpressionsLink",
            title="E&xpressions",
            shortcut="Ctrl+8",
            tip="Show how the arrays of an Awkward 0 file are built: functions, references, blobs",
        ),
    ),
)
HDF5 = Format(
    name="hdf5",
    title="HDF5 and netCDF-4",
    holds="HDF5 and netCDF-4 files",
    opener="refbrowser.formats.hdf5.opening:open_named_hdf5",
    library=f"{_LIBRARY}:HDF5",
    suffixes=(".nc", ".nc4", ".h5", ".hdf5", ".hdf", ".he5"),
    sniff=_of_hdf5,
    noun="the file",
    plural="HDF5 and netCDF-4 files",
    brief="HDF5, netCDF-4 (.h5, .nc)",
    is_data=True,
    writes=(
        Written(
            "netcdf4",
            "netCDF-4",
            ".nc",
            f"{_TARGETS}.netcdf4:Netcdf4Target",
            options=f"{_TARGETS}.netcdf:Netcdf4Options",
            readers=("netCDF4", "h5py"),
            rank=4,
        ),
    ),
    facets={
        "python_file": _NETCDF_BY_XARRAY,
        "document": f"{_FACETS}.records:DocumentRecords",
        **_VIRTUAL,
    },
)
HDF4 = Format(
    name="hdf4",
    title="HDF4",
    holds="HDF4 files, those of HDF-EOS2 among them",
    opener="refbrowser.formats.hdf4.opening:open_named_hdf4",
    library=f"{_LIBRARY}:HDF4",
    suffixes=(".hdf", ".hdf4", ".h4"),
    sniff=_of_hdf4,
    brief="HDF4",
    is_data=True,
    facets=_VIRTUAL,
)
SERVICE = Format(
    name="cdmremote",
    title="CDM Remote",
    holds="datasets that servers offer as CDM Remote",
    opener=f"{_NCSTREAM}.remote.opening:open_named_service",
    options=f"{_NCSTREAM}.reading.reading_options:StreamReading",
    sniff=_of_service,
    is_ours=True,
    facets={**_VIRTUAL, "commands": f"{_NCSTREAM}.window.remote_commands:RemoteCommands"},
)
TABLES = Format(
    name="tables",
    title="Tables",
    holds="columns",
    writes=(
        Written("parquet", "Parquet, columns", ".parquet", unit="row group", rank=7, **_TABLES),
        Written("feather", "Feather (Arrow), columns", ".feather", unit="record batch", rank=8, **_TABLES),
    ),
)
NETCDF3 = Format(
    name="netcdf3",
    title="netCDF classic",
    holds="classic netCDF",
    opener="refbrowser.formats.netcdf3.opening:open_named_classic",
    suffixes=(".nc", ".nc3", ".cdf"),
    begins=(b"CDF\x01", b"CDF\x02", b"CDF\x05"),
    noun="the netCDF file",
    is_data=True,
    facets={
        "python_file": _NETCDF_BY_XARRAY,
        "document": f"{_FACETS}.records:DocumentRecords",
    },
)
GRIB = Format(
    name="grib",
    title="GRIB",
    holds="GRIB files",
    opener="refbrowser.formats.library.grib:open_named_grib",
    library=f"{_LIBRARY}:GRIB",
    suffixes=(".grib", ".grib2", ".grb", ".grb2"),
    sniff=_of_grib,
    noun="the GRIB file",
    is_data=True,
    facets=_VIRTUAL,
)
GRIB_INDEX = Format(
    name="grib-index",
    title="GRIB index",
    holds="indexes of GRIB files, as wgrib2, ECMWF and kerchunk (parquet) write them",
    opener="refbrowser.formats.grib_index.opening:open_named_grib_index",
    library=f"{_LIBRARY}:GRIB",
    suffixes=(".idx", ".index", ".inv"),
    sniff=_of_grib_index,
    options="refbrowser.formats.grib_index.index_options:GribIndexOptions",
    noun="the index",
    plural="Indexes of GRIB files",
    brief="GRIB index",
    is_data=True,
    facets={
        "check": "refbrowser.formats.grib_index.opening:index_findings",
        "commands": f"{_FACETS}.grib_messages:GribMessageCommands",
        **_VIRTUAL,
    },
)
TIFF = Format(
    name="tiff",
    title="TIFF",
    holds="TIFF, GeoTIFF and COG",
    opener="refbrowser.formats.tiff.opening:open_named_tiff",
    library=f"{_LIBRARY}:TIFF",
    suffixes=(".tif", ".tiff"),
    begins=(b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    brief="TIFF (.tif)",
    is_data=True,
    facets=_VIRTUAL,
)
FITS = Format(
    name="fits",
    title="FITS",
    holds="FITS files",
    opener="refbrowser.formats.fits.opening:open_named_fits",
    library=f"{_LIBRARY}:FITS",
    suffixes=(".fits", ".fit", ".fts", ".fits.gz", ".fit.gz", ".fts.gz"),
    begins=(b"SIMPLE  =",),
    sniff=_of_fits,
    noun="the FITS file",
    is_data=True,
    facets=_VIRTUAL,
)
DMRPP = Format(
    name="dmrpp",
    title="DMR++",
    holds="DMR++, OPeNDAP's descriptions of HDF5 files",
    opener=f"{_DMRPP}.reading.opening:open_named_dmrpp",
    suffixes=(".dmrpp",),
    sniff=_of_dmrpp,
    noun="the description",
    plural="DMR++",
    writes=(
        Written(
            "dmrpp",
            "DMR++, for OPeNDAP",
            ".dmrpp",
            f"{_DMRPP}.writing.dmrpp_target:DmrppTarget",
            rank=14,
            note="A DMR++ says where the chunks of one file are: no data is written",
        ),
    ),
    facets={**_VIRTUAL, "check": f"{_DMRPP}.checking.described_file:described_findings"},
)
ICECHUNK = Format(
    name="icechunk",
    title="Icechunk",
    holds="Icechunk repositories",
    opener=f"{_ICECHUNK}.reading.opening:open_named_icechunk",
    suffixes=(".icechunk", ".icechunk/"),
    sniff=_of_icechunk,
    noun="the repository",
    plural="Icechunk repositories",
    brief="Icechunk: folders, URLs",
    options=f"{_ICECHUNK}.reading.snapshot_options:IcechunkOptions",
    limits=f"{_ICECHUNK}.icechunk_limits:ICECHUNK_LIMITS",
    writes=(
        Written(
            "icechunk",
            "Icechunk repository",
            ".icechunk",
            f"{_ICECHUNK}.writing.icechunk_target:IcechunkTarget",
            layout=f"{_ICECHUNK}.writing.icechunk_layout:IcechunkLayout",
            options=f"{_ICECHUNK}.writing.commit_options:CommitOptions",
            adds=True,
            refers=True,
            rank=13,
        ),
    ),
    facets={
        "python": f"{_ICECHUNK}.views.python_store:store_code",
        "add_files": f"{_ICECHUNK}.changing.appending:append_to_repository",
        "append_files": f"{_ICECHUNK}.window.commit_commands:append_files",
        "check": f"{_ICECHUNK}.manifests.manifest_findings:manifest_findings",
        "save": f"{_ICECHUNK}.window.commit_commands:save",
    },
    pages=(
        Page(
            name="snapshots",
            made=f"{_ICECHUNK}.window.snapshots_page:SnapshotsPage",
            title="Snaps&hots",
            tip="Show the history of the repository, and open or compare its branches, tags and snapshots",
        ),
    ),
)
NCML = Format(
    name="ncml",
    title="NcML",
    holds="NcML that puts files together",
    opener="refbrowser.exporting.combining.led_dataset:open_named_ncml",
    suffixes=(".ncml",),
    sniff=_of_ncml,
    noun="the NcML",
    brief="NcML",
)
BUILT_IN = (
    REFERENCES,
    ZARR,
    ICECHUNK,
    STREAM,
    AWKWARD0,
    NETCDF3,
    HDF5,
    HDF4,
    FITS,
    GRIB,
    GRIB_INDEX,
    TIFF,
    DMRPP,
    NCML,
    SERVICE,
    TABLES,
)


# Formats of other packages


@cache
def foreign() -> Plugins[Format]:
    """Return the formats of other packages; they are looked for once."""
    return plugins(GROUP, Format, {each.name for each in BUILT_IN})


def formats() -> tuple[Format, ...]:
    """Return all formats, those of other packages last."""
    return (*BUILT_IN, *foreign().values)


def opening_options(among: Iterable[Format]) -> dict[str, Option]:
    """Return the options of opening of some formats by name, each once."""
    found: dict[str, Option] = {}
    for each in among:
        found |= {name: said for name, said in each.opening_options().items() if name not in found}
    return found


def places_named(options: Mapping[str, Any]) -> tuple[Origin, ...]:
    """Return what options of opening name to be read: folders of this machine, and origins of URLs."""
    known = opening_options(formats()) if options else {}
    return tuple(
        named_origin(str(value))
        for name, value in options.items()
        if value is not None and name in known and known[name].names_place
    )


def format_named(name: str) -> Format | None:
    """Return the format of a name, or None."""
    known = next((each for each in BUILT_IN if each.name == name), None)
    return known or next((each for each in foreign().values if each.name == name), None)


def title_of(name: str) -> str:
    """Return what a format is called in the window; its name where that is all that is known."""
    found = format_named(name)
    return name if found is None else found.title


def openable() -> tuple[Format, ...]:
    """Return the formats that can be opened: those of wings that are missing are not among them."""
    return tuple(each for each in formats() if each.opener and each.is_installed)


def data_suffixes() -> tuple[str, ...]:
    """Return what the names of files of data end with, of which references can be made."""
    return tuple(suffix for each in formats() if each.is_data for suffix in each.suffixes)


def written() -> dict[str, Written]:
    """Return the forms in which datasets can be written, by name; those of other packages last."""
    return {name: form for name, form in _forms(formats()).items() if form.is_installed}


def referring() -> dict[str, Written]:
    """Return the forms in which chunks stay where they are, by name: references are made of files in one."""
    return {name: form for name, form in written().items() if form.refers}


def form_named(name: str) -> Written:
    """Return a form in which datasets are written, see `known_form`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: there is none of that name.
    """
    form = known_form(name)
    if form is None:
        message = f"{quoted(name)} is not a format that can be written"
        raise RefbrowserError(ErrorKind.USAGE, message, advice=f"known: {', '.join(written())}")
    return form


def known_form(name: str) -> Written | None:
    """Return the form of a name, whether or not the wing that writes it is there; None where there is none.

    Those of other packages are not loaded for one of ours.
    """
    return _forms(BUILT_IN).get(name) or written().get(name)


def _forms(of: tuple[Format, ...]) -> dict[str, Written]:
    found: dict[str, Written] = {}
    for form in (form for each in of for form in each.writes):
        # The first of several of a name is the one.
        found.setdefault(form.name, form)
    return found


def readers() -> tuple[str, ...]:
    """Return the other software that reads what is written."""
    return tuple(dict.fromkeys(reader for form in written().values() for reader in form.readers))


def format_of(document: DocumentContent) -> Format | None:
    """Return the format of the file that a document was made from; None of one that is what it is itself."""
    # Those of other packages are not loaded for documents and stores of ours.
    return None if document.has_keys else format_named(document.format)


def facet(document: DocumentContent, place: str) -> Any:
    """Return what the format of a document adds to a place of the program; None where it adds nothing.

    Parameters
    ----------
    document
        Of any kind.
    place
        A key of `Format.facets`.
    """
    found = format_of(document)
    return None if found is None else load_if_there(found.facets.get(place, ""))
