"""What the export dialog knows of each format: its name, its suffix, and which options fit it; no Qt here."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.codecs.table import Codec, Offer, offered
from refbrowser.exporting.store_options import has_codec
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
    form
        Which options it has: those of stores, streams, tables, or Awkward 0 files.
    is_store
        Whether a store is written: only then there are chunks, codecs and containers to choose.
    """

    name: str
    title: str
    suffix: str
    form: str = "store"
    is_store: bool = True

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
    ExportFormat(form.name, form.title, form.suffix, form.options, bool(form.target))
    for form in map(written().__getitem__, dict.fromkeys((*_FIRST, *written())))
)
#: Formats that other software reads, so that a result can be checked with it.
CHECKED = ("zarr-v3", "zarr-v2", "nczarr", "ncstream")


@dataclass(frozen=True, slots=True)
class OfferedCodec:
    """One codec of the list, or what stands for none.

    Attributes
    ----------
    text
        As the command line takes it, without its level.
    levels
        Lowest, highest, and the one to begin with; None where it has none.
    row
        Of the table of codecs.
    """

    text: str
    title: str
    levels: tuple[int, int, int] | None = None
    row: Codec | None = None

    def fits(self, chosen: ExportFormat) -> bool:
        """Whether a format can be written with it."""
        if self.row is None:
            return self.text == "keep" or chosen.is_store
        return chosen.is_store and has_codec(chosen.name, self.row)


def offered_codecs() -> list[OfferedCodec]:
    """Return the codecs of the list, in their order: those that the table of codecs offers."""
    found = [OfferedCodec("keep", "As in the source"), OfferedCodec("none", "None")]
    for row in offered():
        assert row.offer is not None
        for text, title in row.offer.titles.items():
            found.append(OfferedCodec(text, title, _levels(row, row.offer), row))
    return found


def _levels(row: Codec, offer: Offer) -> tuple[int, int, int] | None:
    level = row.level
    if level is None:
        return None
    return level.lowest if offer.lowest is None else offer.lowest, level.high, offer.level


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
