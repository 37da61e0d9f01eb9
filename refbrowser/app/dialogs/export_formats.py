"""What the export dialog knows of each format: its name, its suffix, and which options fit it; no Qt here."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.formats.registry import written


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One format.

    Attributes
    ----------
    name
        As in ``refbrowser export --to``.
    suffix
        Of a new target.
    is_store
        Whether a store is written: only then there are chunks, codecs and containers to choose.
    codecs
        Names of the codecs that can be chosen, beside keeping those of the source.
    """

    name: str
    title: str
    suffix: str
    is_store: bool = True
    codecs: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """Which options it has: those of stores, streams, tables, or Awkward 0 files."""
        return _FORMS.get(self.name, "store")

    @property
    def has_shards(self) -> bool:
        """Whether chunks can be put together to shards."""
        return self.name == "zarr-v3"

    @property
    def has_array_dimensions(self) -> bool:
        """Whether ``_ARRAY_DIMENSIONS`` is one of two places for the names of dimensions."""
        return self.name == "nczarr"

    @property
    def splits_compounds(self) -> bool:
        """Whether fields of compounds can be written as arrays: where there are no compounds."""
        return self.name == "nczarr"


#: Formats whose options are not those of stores.
_FORMS = {"ncstream": "stream", "parquet": "table", "feather": "table", "awkward0": "awkward"}
_ALL = ("none", "zlib", "gzip", "zstd", "blosc:lz4", "blosc:zstd")
#: What most look for first; all others follow.
_FIRST = (
    "zarr-v3",
    "zarr-v2",
    "nczarr",
    "zarr-v3-draft",
    "ncstream",
    "parquet",
    "feather",
    "awkward0",
    "refs-v1",
)
FORMATS = tuple(
    ExportFormat(form.name, form.title, form.suffix, bool(form.target), _ALL if form.target else ())
    for form in map(written().__getitem__, dict.fromkeys((*_FIRST, *written())))
)
#: Formats that other software reads, so that a result can be checked with it.
CHECKED = ("zarr-v3", "zarr-v2", "nczarr", "ncstream")
#: Codec, title, and the levels that it has: lowest, highest, usual; None where it has none.
CODECS: tuple[tuple[str, str, tuple[int, int, int] | None], ...] = (
    ("keep", "As in the source", None),
    ("none", "None", None),
    ("zlib", "zlib", (0, 9, 1)),
    ("gzip", "gzip", (0, 9, 5)),
    ("zstd", "Zstandard", (-50, 22, 3)),
    ("blosc:lz4", "Blosc with LZ4", (0, 9, 5)),
    ("blosc:zstd", "Blosc with Zstandard", (0, 9, 5)),
)


def reasons(chosen: ExportFormat, container: str) -> list[str]:
    """Return why options cannot be used with a format, a sentence without a full stop each."""
    if not chosen.is_store:
        return ["References keep containers, chunks and codecs as they are: no data is written"]
    found = []
    if not chosen.has_shards:
        found.append("Shards: only Zarr version 3 has them")
    if not chosen.has_array_dimensions:
        found.append("_ARRAY_DIMENSIONS and compounds: chosen for NCZarr only")
    if container != "zip":
        found.append("Keys: chosen for zip files only")
    return found
