"""The messages that an index lists as arrays, a column each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.grib_index.inventory import Entry, Inventory, with_lengths
from refbrowser.formats.zarr.hierarchy import DIMENSIONS_ATTRIBUTE
from refbrowser.io.access.access import Access
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks
from refbrowser.references.content.origins import Fact, FileOrigin
from refbrowser.references.document.manifest import ManifestBuilder, unheld_name

FORMAT = "grib-index"
#: The group of the columns, and their dimension.
GROUP, _DIMENSION = "/messages", "message"
_UNKNOWN = -1
_OWN = ("message", "part", "offset", "length", "time")
#: What tells the name of an array, as long as nobody knows another one.
_NAMES = ("quantity", "param", "varname")
#: Columns of what lines tell.
_MOST = 100


@dataclass(frozen=True, slots=True)
class _IndexAlone(FileOrigin):
    """The index that a table of messages was made from (`DocumentOrigin`).

    Attributes
    ----------
    blocked
        The GRIB files, where these may not be read.
    """

    facts: Sequence[Fact] = ()
    blocked: Sequence[str] = ()

    @property
    def lacking(self) -> Sequence[str]:
        """The GRIB files, where these may not be read."""
        return self.blocked

    def told(self) -> Sequence[Fact]:
        """Return how many messages it lists."""
        return self.facts


def table_of(opening: Opening, url: str, inventory: Inventory, missing: RefbrowserError | None) -> Opened:
    """Return the messages as a table, with arrays that say what is missing where something is."""
    manifest = ManifestBuilder(url)
    manifest.add_node(GroupNode(path="/"))
    entries = inventory.entries if inventory.files else tuple(with_lengths(inventory.entries, None))
    left_out = _add_columns(manifest, entries, inventory.meanings)
    notes = [*inventory.findings, *left_out]
    if missing is not None:
        message = f"its arrays are in the GRIB file, which cannot be read: {missing.message}"
        beside = "Put the GRIB file beside the index, or name it: --grib FILE"
        named = "The column uri of the index says where its GRIB files are."
        advice = missing.advice or (named if inventory.files else beside)
        notes.append(
            Finding(
                severity=Severity.FAULT,
                kind=missing.kind,
                message=message,
                place=missing.place,
                advice=advice,
            )
        )
        error = RefbrowserError(missing.kind, message, missing.place, advice)
        for name in dict.fromkeys(_name_of(each) for each in inventory.entries):
            node = ArrayNode(path=f"/{name}", error=error, type=DataType.of(np.dtype("<f8")))
            manifest.add_node(node)
    access = Access.for_document(opening.path, opening.allow, opening.settings)
    blocked: Sequence[str] = ()
    if missing is not None and missing.kind is ErrorKind.BLOCKED:
        blocked = inventory.files or (missing.place.url or "",)
    origin = _IndexAlone(url, FORMAT, facts=(inventory.listed,), blocked=blocked)
    return Opened(manifest.document(name=opening.path, origin=origin, notes=tuple(notes)), access)


def _name_of(entry: Entry) -> str:
    """Return what an array is called as long as nobody knows the name of its quantity."""
    told = next((entry.told[key] for key in _NAMES if entry.told.get(key)), "unnamed")
    name = "".join(each if each.isalnum() else "_" for each in told)[:100]
    return f"{name}_" if f"/{name}" == GROUP else name


def _add_columns(
    manifest: ManifestBuilder, entries: Sequence[Entry], meanings: Mapping[str, str]
) -> list[Finding]:
    """Add the columns: the number of the message and of the field in it, its place, what is told of it.

    Returns
    -------
    list of Finding
        What has no column.
    """
    manifest.add_node(GroupNode(path=GROUP))
    _add(manifest, "message", np.array([each.message for each in entries], "<i4"))
    _add(manifest, "part", np.array([each.part for each in entries], "<i4"))
    _add(manifest, "offset", np.array([each.offset for each in entries], "<i8"), units="byte")
    lengths = [_UNKNOWN if each.length is None else each.length for each in entries]
    _add(manifest, "length", np.array(lengths, "<i8"), units="byte", _FillValue=_UNKNOWN)
    if all(each.start is not None for each in entries):
        starts = np.array([each.start for each in entries], "<i8")
        _add(manifest, "time", starts, units="seconds since 1970-01-01", standard_name="time")
    findings: list[Finding] = []
    left = LIMITS.inline_value
    names = [*dict.fromkeys(name for each in entries for name in each.told)]
    for name in names[:_MOST]:
        column = f"{name}_told" if name in _OWN else name
        texts = [each.told.get(name, "").encode() for each in entries]
        left -= max(map(len, texts)) * len(texts)
        unheld = (
            unheld_name(f"{GROUP}/{column}")
            if "/" not in column
            else _not_shown(name, "a name without / is needed")
        )
        if unheld is None and left < 0:
            unheld = _not_shown(name, "the table would be too large")
        if unheld is None:
            said = {"long_name": meanings[name]} if name in meanings else {}
            _add(manifest, column, np.array(texts, np.bytes_), **said)
        else:
            findings.append(unheld)
    if len(names) > _MOST:
        message = f"{len(names) - _MOST} more columns are not shown: the table would be too large"
        findings.append(Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message))
    return findings


def _not_shown(name: str, why: str) -> Finding:
    message = f"the column {quoted(name)} is not shown: {why}"
    return Finding(severity=Severity.WARNING, kind=ErrorKind.FORMAT, message=message)


def _add(manifest: ManifestBuilder, name: str, values: Any, **attributes: Any) -> None:
    node = ArrayNode(
        path=f"{GROUP}/{name}",
        shape=values.shape,
        type=DataType.of(values.dtype),
        dimensions=(_DIMENSION,),
        attributes=attributes,
        internal_attributes={DIMENSIONS_ATTRIBUTE: [_DIMENSION]},
        values=Chunks(grid=RegularChunkGrid(values.shape, values.shape)),
    )
    manifest.add_node(node)
    manifest.add_bytes(f"{node.key_prefix}0", values.tobytes())
