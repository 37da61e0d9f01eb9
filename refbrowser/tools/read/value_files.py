"""Files of values of an array: .npy, .json and .csv as they are read, others as exports write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine import session
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading_kinds import reading_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.io.files.atomic import write_atomically
from refbrowser.model.chunk_axes import RegularAxis
from refbrowser.model.data_type import without_names
from refbrowser.model.json_values import json_text
from refbrowser.model.nested import TypeKind
from refbrowser.words import either

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array
    from refbrowser.exporting.exporter import Question
    from refbrowser.exporting.request import ExportReport
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.selection import Selection
    from refbrowser.views.plot.element_rows import ElementRows

#: Forms of values, by the suffix of a file; those that an export writes.
NPY, JSON, CSV = ".npy", ".json", ".csv"
EXPORTED = (".parquet", ".nc")
FORMS = (NPY, JSON, CSV, *EXPORTED)
#: Elements that are read and written as JSON together, and bytes that an element of a list counts for.
_BLOCK, _ELEMENT = 1 << 18, 8
#: Bytes of text that are held before it goes to a temporary file, and that are copied together.
_HELD, _PORTION = 64 << 20, 1 << 20


def form_of(target: str, *, force: bool, as_json: bool = False) -> str:
    """Return the form in which values go to a file: that of its suffix, .npy without one.

    Parameters
    ----------
    as_json
        JSON is wanted, whatever the file is called.

    Raises
    ------
    RefbrowserError
        The target is there; it is called like what cannot be written.
    """
    suffix = os.path.splitext(target)[1].lower()
    place = Place(path=target)
    if suffix and (suffix not in FORMS or (as_json and suffix != JSON)):
        wanted = "JSON" if as_json else "values"
        advice = f"read writes {either(FORMS)}; refbrowser export writes other formats"
        raise RefbrowserError(ErrorKind.USAGE, f"{wanted} cannot be written as {suffix}", place, advice)
    if os.path.lexists(target) and not force:
        message = "the target exists already"
        raise TargetExistsError(ErrorKind.IO, message, place, "give --force to replace it")
    return JSON if as_json else suffix or NPY


def question_of(array: Array, selection: Selection) -> RefbrowserError | None:
    """Return what is asked before a selection is read at once; None where nothing is."""
    return reading_of(array.node).question(selection)


def check_count(array: Array, selection: Selection) -> None:
    """Raise `E_BUDGET` for more values than one read gives."""
    session.check_count(array.node, selection)


def check_holds(dtype: np.dtype[Any] | None) -> None:
    """Raise `E_USAGE` for values that .npy cannot hold; nothing is known of a type that is None."""
    if dtype is not None and dtype.hasobject:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"values of type {quoted(dtype)} cannot be held by .npy without pickle",
            advice="use --json",
        )


@contextmanager
def held_values(
    array: Array, selection: Selection, form: str, control: JobControl
) -> Iterator[Iterable[bytes | memoryview]]:
    """Read values, and give the portions of a file of them, once all could be read.

    Parameters
    ----------
    form
        `NPY` or `JSON`; of the latter a few values are in memory at a time.
    """
    if form == NPY:
        values = without_names(np.asanyarray(array.read(selection, control)))
        check_holds(values.dtype)
        yield npy_portions(values)
        return
    with SpooledTemporaryFile(_HELD) as text:
        for block in _json_blocks(array, selection, control):
            text.write(block.encode())
        text.seek(0)
        yield iter(lambda: text.read(_PORTION), b"")


def write_csv(
    array: Array, rows: ElementRows, selection: Selection, target: str, control: JobControl
) -> None:
    """Write comma-separated values, a row for each element, block by block as they are read."""
    from refbrowser.views.plot.slice_files import csv_lines

    def portions() -> Iterator[bytes]:
        yield from csv_lines([rows.titles])
        for block in _blocks(array.node, selection):
            yield from csv_lines(rows.of(block, array.read(block, control)))

    write_atomically(target, portions(), cancel=control.token)


def write_exported(
    array: Array,
    selection: Selection,
    target: str,
    control: JobControl,
    question: Question,
    *,
    force: bool = False,
) -> ExportReport:
    """Write the array in the format of a suffix, .nc with the coordinates of what is selected.

    Raises
    ------
    RefbrowserError
        As `refbrowser.exporting.exporter.run_export`.
    """
    from refbrowser.exporting.exporter import run_export
    from refbrowser.exporting.request import ArrayChoice, ExportRequest
    from refbrowser.formats.registry import form_named, written
    from refbrowser.views.plot.reading import coordinate_nodes

    dataset, suffix = array.dataset, os.path.splitext(target)[1].lower()
    form = next(name for name in written() if form_named(name).suffix == suffix)
    choices = [ArrayChoice(array.path, selection)]
    nodes = coordinate_nodes(dataset.hierarchy, array.node) if suffix == ".nc" else ()
    for axis, node in enumerate(nodes):
        if node is not None:
            choices.append(ArrayChoice(node.path, selection.of_axis(axis)))
    request = ExportRequest(target, form, tuple(choices), force=force)
    return run_export(dataset, request, control, question)


def _json_blocks(array: Array, selection: Selection, control: JobControl) -> Iterator[str]:
    """Yield the text of a JSON document of the values: block by block, so that a few are held at a time."""
    from refbrowser.model.netcdf.element_types import as_texts, is_text

    texts = is_text(array.dataset.hierarchy, array.node)
    blocks = list(_blocks(array.node, selection))
    inner = control if len(blocks) == 1 else JobControl(control.token)
    for number, block in enumerate(blocks):
        values = _read_objects(array, block, inner) if _may_miss(array.node) else array.read(block, inner)
        text = json_text(as_texts(values) if texts else values)
        if len(blocks) > 1:
            # One list of what the lists of all blocks hold.
            text = ("[" if number == 0 else ", ") + text[1:-1]
            control.progress(number + 1, len(blocks))
        yield text
    yield "]\n" if len(blocks) > 1 else "\n"


def _blocks(node: ArrayNode, selection: Selection) -> Iterator[Selection]:
    """Yield parts of a selection along its first dimension, in the order of the result, whole chunks each."""
    kept = [axis for axis in range(len(selection.axes)) if axis not in selection.dropped]
    if selection.size <= _BLOCK or not kept or not node.has_grid:
        yield selection
        return
    taken = selection.axes[kept[0]]
    each, axis = max(selection.size // len(taken), 1), node.grid.dimensions[kept[0]]
    if node.nested is not None:
        # Rows are read alone as well as together; lists in them count with what they hold on average.
        size = sum(buffer.nbytes for buffer in node.nested.buffers) // _ELEMENT
        each, axis = max(each, size // max(node.shape[0], 1)), RegularAxis(node.shape[0], 1)
    stops = []
    start = 0
    while start < len(taken):
        last = taken[min(start + max(_BLOCK // each, 1), len(taken)) - 1]
        end = axis.start(axis.chunk_of(last) + 1)
        start = min(-(-(end - taken.start) // taken.step), len(taken))
        stops.append(start)
    bounds = list(pairwise([0, *stops]))
    for first, stop in reversed(bounds) if kept[0] in selection.backwards else bounds:
        axes = list(selection.axes)
        axes[kept[0]] = taken[first:stop]
        yield replace(selection, axes=tuple(axes))


def _may_miss(node: ArrayNode) -> bool:
    """Tell whether numbers of an array may be missing, which is something else than NaN."""
    return node.nested is not None and node.nested.type.kind is TypeKind.OPTION


def _read_objects(array: Array, selection: Selection, control: JobControl) -> Any:
    """Return values as Python has them, those that are missing as None."""
    dataset, out = array.dataset, np.empty(selection.shape, object)
    return dataset.session.read(
        array.node, dataset.access, selection, out=out, cancel=control.token, progress=control.progress
    )


def npy_portions(values: Any) -> Iterator[bytes | memoryview]:
    """Yield the bytes that `numpy.save` writes of an array, whose memory is not copied."""
    about = np.lib.format.header_data_from_array_1_0(values)
    header = BytesIO()
    try:
        np.lib.format.write_array_header_1_0(header, about)
    except ValueError:
        # It is too long for that.
        header = BytesIO()
        np.lib.format.write_array_header_2_0(header, about)
    yield header.getvalue()
    flat = np.ascontiguousarray(values.T if about["fortran_order"] else values).reshape(-1)
    data = flat.view(np.uint8).data if flat.nbytes else memoryview(b"")
    for start in range(0, len(data), _PORTION):
        yield data[start : start + _PORTION]
