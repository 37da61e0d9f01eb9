"""The values of a slice as other programs read them: read whole, as delimited text, as a numpy file."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.cf import fill_is_value
from refbrowser.model.data_type import without_names
from refbrowser.model.selection import Selection
from refbrowser.views.plot.interpretation import coordinate_text, coordinate_title, exact_text, exact_texts
from refbrowser.views.plot.table import TableLayout
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.io.cancel import CancelToken
    from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode

#: Cells that are made text together.
_TOGETHER = 16_384
#: Calendars whose dates numpy has too.
_NUMPY_CALENDARS = ("standard", "gregorian", "proleptic_gregorian")
#: What spreadsheets take for the beginning of a formula; and what begins so and is only a number or a date.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+][-+0-9.:eEjTZ infa]*", re.ASCII)
_QUOTED = re.compile(r'[,"\r\n]')
#: Characters that would begin another cell or line where cells are parted by tabs.
_PLAIN = str.maketrans({"\t": " ", "\r": " ", "\n": " "})


@dataclass(frozen=True, slots=True)
class ShownValues:
    """Elements of a slice, as they are stored.

    Attributes
    ----------
    ranges
        Indices along the axes of the slice.
    values
        In the order of the axes, ``(y, x)`` or ``(x,)``.
    missing
        Where the chunk is missing and the fill value in `values` stands for no value, as bool of the same
        shape.
    stale
        How many of the values are of files that are not those of the document's lock.
    filled
        How many of the values are what chunks hold that are not stored.
    """

    layout: TableLayout
    ranges: tuple[range, ...]
    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_]
    stale: int = 0
    filled: int = 0

    @property
    def reserve(self) -> str:
        """What is to be said with the values: how many were not stored or are stale; empty where none is."""
        filled = f"; {count_text(self.filled)} of them the fill value, in chunks that are not stored"
        stale = f"; {count_text(self.stale)} of them from files that differ from the lock"
        return filled * bool(self.filled) + stale * bool(self.stale)


def read_shown(
    session: Session,
    access: Access,
    layout: TableLayout,
    ranges: tuple[range, ...],
    cancel: CancelToken | None = None,
    progress: Callable[..., None] | None = None,
) -> ShownValues:
    """Read elements of a slice.

    Raises
    ------
    RefbrowserError
        `E_BUDGET`: they are more than a view holds; else the first chunk that cannot be read: fill values
        never stand in for it.
    """
    count = prod(map(len, ranges))
    if count > LIMITS.view_elements:
        message = f"the view has {count} values, more than the limit of {LIMITS.view_elements}"
        advice = "choose a smaller slice, or write the array with File > Export"
        raise RefbrowserError(ErrorKind.BUDGET, message, Place(path=layout.node.path), advice)
    state = layout.slice
    selection = Selection.from_index(state.index(ranges), state.shape)
    missing = np.zeros(selection.box_shape, bool)
    is_value, filled = fill_is_value(layout.node), 0
    failed: list[RefbrowserError] = []
    read: list[ChunkPart] = []

    def told(part: EndedPart) -> None:
        nonlocal filled
        if part.state is PartState.MISSING and is_value:
            filled += missing[part.part.target].size
        elif part.state is PartState.MISSING:
            missing[part.part.target] = True
        elif part.error is not None:
            failed.append(part.error)
        else:
            read.append(part.part)

    values = session.read(layout.node, access, selection, on_part=told, cancel=cancel, progress=progress)
    if failed:
        raise failed[0]
    values, nothing = state.arranged(values), state.arranged(missing.reshape(selection.shape))
    if state.bands is not None:
        nothing = np.asarray(nothing.any(axis=-1))
    return ShownValues(layout, ranges, values, nothing, _stale_values(layout.node, access, read), filled)


def _stale_values(node: ArrayNode, access: Access, parts: Sequence[ChunkPart]) -> int:
    """Return how many values of parts that were read are of files that are not those of the lock."""
    if access.memory.locked is None or not node.has_manifest:
        return 0
    coords = np.array([part.coords for part in parts], np.int64).reshape(len(parts), len(node.shape))
    rows = np.flatnonzero(access.are_stale(node.manifest.columns(coords))).tolist()
    return sum(prod(each.stop - each.start for each in parts[row].target) for row in rows)


def cells_as_tsv(
    session: Session,
    access: Access,
    layout: TableLayout,
    rows: range,
    columns: range,
    cancel: CancelToken | None = None,
    progress: Callable[..., None] | None = None,
) -> tuple[str, str]:
    """Read cells of a table; return them with tabs between them, and what is to be said with them.

    Raises as `read_shown` does.
    """
    elements = layout.elements(rows, columns)
    shown = read_shown(session, access, layout, elements, cancel, progress)
    first = elements[1].start * max(1, len(layout.fields)) if len(elements) > 1 else 0
    taken = slice(columns.start - first, columns.stop - first)
    return tsv_text(cells[taken] for cells in cell_texts(shown)), shown.reserve


def cell_texts(shown: ShownValues) -> Iterator[list[str]]:
    """Yield the cells of each row, without headers; those of missing chunks are empty, as in the window."""
    layout = shown.layout
    block, missing = _as_table(shown.values), _as_table(shown.missing)
    together = max(1, _TOGETHER // max(1, block.shape[1]))
    for start in range(0, len(block), together):
        taken = slice(start, start + together)
        parts = [exact_texts(layout.shown, part) for part in layout.parts(block[taken])]
        for nothing, *lines in zip(missing[taken].tolist(), *parts, strict=True):
            yield [
                "" if none else text
                for none, texts in zip(nothing, zip(*lines, strict=True), strict=True)
                for text in texts
            ]


def _as_table(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return elements as rows and columns."""
    return values.reshape(1, 1) if not values.ndim else values[:, np.newaxis] if values.ndim == 1 else values


def rows_with_headers(shown: ShownValues) -> Iterator[list[str]]:
    """Yield a line of column titles, then each row with its coordinate before it.

    Where indices are held, a title says at what: `_named`.
    """
    layout = shown.layout
    axes, named = layout.slice.axes, _named(layout)
    if not axes:
        yield [f"{named}: {field}" for field in layout.fields] or [named]
        yield from cell_texts(shown)
        return
    down = coordinate_title(layout.coordinates[axes[0]])
    if len(axes) > 1:
        across = layout.coordinates[axes[1]]
        heads = [coordinate_text(across, index) for index in shown.ranges[1]]
        titles = [f"{head} {field}" for head in heads for field in layout.fields] or heads
        corner = rf"{down} \ {coordinate_title(across)}"
    else:
        titles, corner = list(layout.fields) or [named], down
    is_said = titles == [named] or not layout.held
    yield [corner if is_said else f"{named}: {corner}", *titles]
    for index, cells in zip(shown.ranges[0], cell_texts(shown), strict=True):
        yield [coordinate_text(layout.coordinates[axes[0]], index), *cells]


def _named(layout: TableLayout) -> str:
    """Return the array's name, its units, and at what it is taken: ``ta [K] at time 2002-10-16``."""
    name, units = layout.node.name or layout.node.path, layout.shown.units
    titled = f"{name} [{units}]" if units else name
    return f"{titled} at {', '.join(layout.held)}" if layout.held else titled


def csv_blocks(shown: ShownValues) -> Iterator[bytes]:
    """Yield comma-separated values with coordinates, UTF-8."""
    return csv_lines(rows_with_headers(shown))


def csv_lines(rows: Iterable[list[str]]) -> Iterator[bytes]:
    """Yield rows as comma-separated values, UTF-8, many together.

    Text that a spreadsheet would carry out as a formula gets an apostrophe before it.
    """
    text = io.StringIO()
    for row in rows:
        text.write(",".join(map(_csv_cell, row)) or '""')
        text.write("\n")
        if text.tell() > 1 << 16:
            yield text.getvalue().encode("utf-8", "replace")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode("utf-8", "replace")


def tsv_text(rows: Iterable[list[str]]) -> str:
    """Return rows with tabs between cells, as spreadsheets paste them."""
    return "\n".join("\t".join(_inert(cell).translate(_PLAIN) for cell in row) for row in rows)


def _csv_cell(cell: str) -> str:
    """Return text between commas; Python's writer lets a carriage return begin a line of its own."""
    cell = _inert(cell)
    return f'"{cell.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(cell) else cell


def _inert(cell: str) -> str:
    """Return text that a spreadsheet does not carry out as a formula: an apostrophe goes before such."""
    if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def npy_bytes(shown: ShownValues) -> bytes:
    """Return a numpy file of the slice.

    Decoded: NaN (or NaT) where there is no value, times as datetime64, those of other calendars as text.
    As stored: missing chunks have the fill value.
    """
    data = io.BytesIO()
    np.save(data, _as_numpy(shown), allow_pickle=False)
    return data.getvalue()


def npz_bytes(shown: ShownValues) -> bytes:
    """Return a numpy archive: ``values`` as `npy_bytes` has them, ``selection``, and the axes' coordinates.

    That of ``x`` is ``coordinate_x``: dates and names as text. ``selection`` is the text that heads a table.
    """
    layout = shown.layout
    arrays: dict[str, Any] = {"values": _as_numpy(shown), "selection": np.array(_named(layout))}
    for axis, taken in zip(layout.slice.axes, shown.ranges, strict=True):
        coordinate = layout.coordinates[axis]
        if coordinate.values is not None and coordinate.dates is None:
            places = coordinate.values[taken.start : taken.stop : taken.step]
        else:
            places = np.array([coordinate_text(coordinate, index) for index in taken], np.str_)
        arrays[f"coordinate_{coordinate.name}"] = places
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    return data.getvalue()


def npy_blocks(shown: ShownValues) -> Iterator[bytes]:
    """Yield a numpy file of the slice."""
    yield npy_bytes(shown)


def npz_blocks(shown: ShownValues) -> Iterator[bytes]:
    """Yield a numpy archive of the slice."""
    yield npz_bytes(shown)


def _as_numpy(shown: ShownValues) -> npt.NDArray[Any]:
    return np.ascontiguousarray(without_names(_for_numpy(shown))).reshape(shown.values.shape)


def _for_numpy(shown: ShownValues) -> npt.NDArray[Any]:
    interpretation, values = shown.layout.shown, shown.values
    if values.dtype.kind in "OT":
        # Pickled objects are code: text has a type of its own.
        return np.array([exact_text(item) for item in values.ravel()], np.str_)
    if not interpretation.decoded or values.dtype.kind not in "iufc":
        return values
    if interpretation.dates is not None:
        units = interpretation.dates.units
        texts = np.array([text for row in cell_texts(shown) for text in row], np.str_)
        with suppress(ValueError):
            if units.calendar in _NUMPY_CALENDARS:
                return np.where(texts == "", "NaT", texts).astype("datetime64[us]")
        return texts
    packing = interpretation.packing
    bounds = packing.valid_min is not None or packing.valid_max is not None
    if not (packing.missing or packing.is_scaled or bounds or shown.missing.any()):
        return interpretation.stored(values)
    decoded = packing.decode(values)
    if shown.missing.any() and decoded.dtype.kind in "fc":
        decoded = np.where(shown.missing, decoded.dtype.type(np.nan), decoded)
    return decoded
