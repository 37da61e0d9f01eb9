"""Words for what lies in a file: one line about a byte, what a format has before and between its data."""

from __future__ import annotations

import numpy as np

from refbrowser.formats.sniffing import FileKind
from refbrowser.tools.bytes.report.byte_map import ByteItem, ByteMap, PlaceKind
from refbrowser.tools.bytes.report.byte_runs import Runs
from refbrowser.tools.bytes.report.file_source import DOCUMENT
from refbrowser.tools.bytes.report.live_plan import LivePlan
from refbrowser.views.chunks.chunk_facts import GAP
from refbrowser.views.words import one_line
from refbrowser.words import count_text, size_text

#: What stands before the first range of files of a kind (their specifications), between ranges, and behind.
_BEFORE = {
    FileKind.HDF5: "superblock, groups, attributes and indexes of chunks (HDF5)",
    FileKind.NETCDF3: "the header: dimensions, attributes, and where variables begin (netCDF classic)",
    FileKind.GRIB: "messages without references, and the sections before the first data (GRIB)",
    FileKind.TIFF: "the header, and maybe directories of tags (TIFF)",
    FileKind.FITS: "cards of the header, in blocks of 2880 bytes (FITS)",
    FileKind.ZIP: "the local header of the first member (ZIP)",
    FileKind.HDF4: "data descriptors (HDF4)",
    FileKind.TEXT: "the beginning of the text",
}
_BETWEEN = {
    FileKind.HDF5: "metadata of HDF5, space that is free, or variables without references",
    FileKind.NETCDF3: "padding to 4 bytes, or variables without references (netCDF classic)",
    FileKind.GRIB: "sections that describe the next message, or messages without references (GRIB)",
    FileKind.TIFF: "directories of tags, or tiles without references (TIFF)",
    FileKind.FITS: "headers, and padding to 2880 bytes (FITS)",
    FileKind.ZIP: "local headers of members, or members without references (ZIP)",
    FileKind.TEXT: "keys, references to other files, and the rest of the text",
}
_BEHIND = {
    FileKind.ZIP: "the directory of the archive (ZIP)",
    FileKind.TEXT: "the end of the text",
}
#: Ranges of an overlap that are named.
_NAMED = 3


def class_words(kind: PlaceKind, shown: ByteMap) -> str:
    """Return what bytes are that nobody owns, with what the format says of them where it is known."""
    of_kind = shown.facts.kind
    if kind is PlaceKind.HEADER:
        known = _BEFORE.get(of_kind) if of_kind is not None else None
        return f"before the first reference: {known or 'what the format has there'}"
    if kind is PlaceKind.GAP:
        known = _BETWEEN.get(of_kind) if of_kind is not None else None
        return f"gap: {known or 'no reference points here'}"
    if kind is PlaceKind.TAIL:
        known = _BEHIND.get(of_kind) if of_kind is not None else None
        return f"after the last reference: {known or 'what the format has there, or data without references'}"
    if kind is PlaceKind.UNDECIDED:
        return "not decided: too many references are computed here to check one by one"
    return "after the end"


def item_line(item: ByteItem, shown: ByteMap, used: Runs | None, plan: LivePlan | None) -> str:
    """Return one line about what lies at a byte."""
    extent = item.extent
    parts: list[str] = []
    if item.kind is PlaceKind.OVERLAP:
        parts.append(f"overlap of {count_text(max(len(item.ranges), 2))}")
    for each in item.ranges[:_NAMED]:
        key, label = shown.key(each), shown.owners[each.owner].label
        parts.append(label if key is None else f"{key} ({label})")
    if len(item.ranges) > _NAMED:
        parts.append(f"and {count_text(len(item.ranges) - _NAMED)} more")
    if not item.ranges:
        parts.append(class_words(item.kind, shown))
    if shown.is_nominal:
        parts.append("the whole file, whose size is not known")
    else:
        parts.append(f"bytes {count_text(extent.start)} to {count_text(extent.stop)}")
        parts.append(size_text(extent.size))
    size = shown.facts.size
    if size is not None and item.ranges and extent.stop > size:
        parts.append(f"past the end of the file ({count_text(size)})")
    if used is not None and _touches(used, extent.start, extent.stop):
        parts.append("used by the view")
    request = None if plan is None else request_at(plan, extent.start, extent.stop)
    if request is not None and plan is not None:
        parts.append(f"request {count_text(request + 1)} of {count_text(len(plan.start))} in this file")
    return one_line(GAP.join(parts))


def request_at(plan: LivePlan, start: int, stop: int) -> int | None:
    """Return the number of the first request that has bytes of an extent."""
    at = int(plan.stop.searchsorted(start, side="right"))
    return at if at < len(plan.start) and plan.start[at] < stop else None


def _touches(runs: Runs, start: int, stop: int) -> bool:
    low, high = runs.covered(np.array([start, stop])).tolist()
    return bool(high > low)


def file_line(shown: ByteMap) -> str:
    """Return what a file is, in one line."""
    size, owned = shown.facts.size, shown.owned
    parts = [f"{count_text(shown.count)} ranges"]
    if shown.whole_count:
        parts.append(f"{count_text(shown.whole_count)} references to all of it")
    if size is not None:
        parts.append(f"{size_text(size)} in all")
    elif not shown.is_nominal:
        parts.append(f"at least {size_text(shown.last)}")
    if owned is not None and shown.end and not shown.is_nominal:
        parts.append(f"{owned / shown.end:.1%} referred to")
    return ", ".join(parts)


def faults_line(shown: ByteMap) -> str:
    """Return what is wrong or open in a file; empty where nothing is."""
    parts = []
    if shown.overlapping:
        one = shown.overlapping == 1
        ranges = "range begins within another" if one else "ranges begin within others"
        parts.append(
            f"{count_text(shown.overlapping)} {ranges} ({size_text(shown.overlaps.size)} held twice)"
        )
    if shown.past_end:
        parts.append(f"{size_text(shown.past_end)} past the end")
    if shown.faulty:
        parts.append(f"{count_text(shown.faulty)} ranges that no file can have")
    if shown.undecided:
        rows = sum(each.rows for each in shown.undecided)
        parts.append(f"where {count_text(rows)} computed references are is not decided")
    if shown.lattices and (len(shown.lattices) > 1 or len(shown.ranges)) and shown.owned is None:
        parts.append("whether computed ranges overlap others is not decided")
    return "; ".join(parts)


def name_of(url: str, document: str) -> str:
    """Return what a file is called in a list: the last part of its URL."""
    if url == DOCUMENT:
        return f"{document} (values within the document)"
    return one_line(url.rstrip("/").rsplit("/", 1)[-1] or url)


def offset_text(byte: float, step: float) -> str:
    """Return an offset as it stands before a row: with as many digits as tell it from the next one's."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if byte >= size and step >= size / 1e3:
            digits = 0 if step >= 10 * size else 1 if step >= size else 2 if step >= size / 10 else 3
            return f"{byte / size:.{digits}f} {unit}"
    return count_text(int(byte)) if byte < 1e9 or step >= 1 else f"{byte:,.0f}"
