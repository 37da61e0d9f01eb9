"""Read values of an array: as .npy, as nested lists with --json, or as the suffix of -o FILE says.

.npy and .json hold the values as they are stored. .csv has a row for each element, with its coordinates and
the decoded value; .parquet and .nc are what refbrowser export writes of the array.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import ProgressBar, tell, tell_damage, tell_findings, write_bytes
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_select,
    add_templates,
    add_yes,
    ask,
    find_array,
    job_control,
    open_dataset,
    selection_of,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError, TargetExistsError, quoted
from refbrowser.io.cancel import CancelToken
from refbrowser.words import either

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.selection import Selection

#: Elements that are read and written as JSON together, and bytes that an element of a list counts for.
_BLOCK, _ELEMENT = 1 << 18, 8
#: Bytes of text that are held before it goes to a temporary file, and that are copied together.
_HELD, _PORTION = 64 << 20, 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    parser.add_argument("array", metavar="ARRAY", help="path of the array, for example /ocean/temp")
    add_select(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to FILE instead of standard output: .npy, .json, .csv, .parquet or .nc",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Read the selection and write it."""
    import numpy as np

    from refbrowser.engine.reading_kinds import reading_of
    from refbrowser.engine.session import check_count
    from refbrowser.model.data_type import without_names

    suffix = _suffix(arguments)
    with open_dataset(arguments, token) as dataset:
        array = find_array(dataset, arguments.array)
        selection = selection_of(array, arguments.select, token)
        if suffix in _EXPORTED:
            return _export(array, selection, arguments, token)
        if suffix == ".csv":
            return _write_rows(array, selection, arguments, token)
        question = reading_of(array.node).question(selection)
        if question is not None and not ask(arguments, question):
            raise question
        if not arguments.json:
            _check_npy(array.dtype, arguments)
        check_count(array.node, selection)
        tell_damage(array.damage)
        with SpooledTemporaryFile(_HELD) as text:
            with ProgressBar("reading") as bar:
                control = job_control(token, bar)
                if arguments.json:
                    for block in _json_blocks(array, selection, control):
                        text.write(block.encode())
                else:
                    values = array.read(selection, control)
            tell_findings(dataset.access.memory.warnings)
            if arguments.json:
                text.seek(0)
                _write(iter(lambda: text.read(_PORTION), b""), arguments.output)
            else:
                plain = without_names(np.asanyarray(values))
                _check_npy(plain.dtype, arguments)
                _write(_npy_blocks(plain), arguments.output)
    return 0


#: Suffixes of formats that an export writes.
_EXPORTED = (".parquet", ".nc")
_SUFFIXES = (".npy", ".json", ".csv", *_EXPORTED)


def _suffix(arguments: argparse.Namespace) -> str:
    """Return the suffix of the target, in small letters; ``.json`` is JSON without a word of it.

    Raises
    ------
    RefbrowserError
        The target is there; it is called like what cannot be written.
    """
    output = arguments.output
    if output is None:
        return ""
    suffix = os.path.splitext(output)[1].lower()
    place = Place(path=output)
    if suffix and (suffix not in _SUFFIXES or (arguments.json and suffix != ".json")):
        wanted = "JSON" if arguments.json else "values"
        advice = f"read writes {either(_SUFFIXES)}; refbrowser export writes other formats"
        raise RefbrowserError(ErrorKind.USAGE, f"{wanted} cannot be written as {suffix}", place, advice)
    if os.path.lexists(output) and not arguments.force:
        message = "the target exists already"
        raise TargetExistsError(ErrorKind.IO, message, place, "give --force to replace it")
    arguments.json = arguments.json or suffix == ".json"
    return suffix


def _export(array: Array, selection: Selection, arguments: argparse.Namespace, token: CancelToken) -> int:
    """Write the array in another format, with the coordinates of what was selected."""
    from refbrowser.exporting.exporter import run_export
    from refbrowser.exporting.request import ArrayChoice, ExportRequest, loss_lines
    from refbrowser.formats.registry import form_named, written
    from refbrowser.views.plot.reading import coordinate_nodes

    dataset, suffix = array.dataset, os.path.splitext(arguments.output)[1].lower()
    form = next(name for name in written() if form_named(name).suffix == suffix)
    choices = [ArrayChoice(array.path, selection)]
    nodes = coordinate_nodes(dataset.hierarchy, array.node) if suffix == ".nc" else ()
    for axis, node in enumerate(nodes):
        if node is not None:
            choices.append(ArrayChoice(node.path, selection.of_axis(axis)))
    request = ExportRequest(arguments.output, form, tuple(choices), force=arguments.force)
    tell_damage(array.damage)
    with ProgressBar("writing") as bar:
        report = run_export(dataset, request, job_control(token, bar), lambda error: ask(arguments, error))
    for line in loss_lines(report.losses):
        tell(f"refbrowser: note: {line}")
    tell_findings(dataset.access.memory.warnings)
    return 0


def _write_rows(array: Array, selection: Selection, arguments: argparse.Namespace, token: CancelToken) -> int:
    """Write comma-separated values, a row for each element."""
    from refbrowser.engine.session import check_count
    from refbrowser.io.files.atomic import write_atomically
    from refbrowser.views.plot.element_rows import ElementRows
    from refbrowser.views.plot.slice_files import csv_lines

    rows = ElementRows(array, token)
    check_count(array.node, selection)
    tell_damage(array.damage)
    with ProgressBar("reading") as bar:
        control = job_control(token, bar)

        def blocks() -> Iterator[bytes]:
            yield from csv_lines([rows.titles])
            for block in _blocks(array.node, selection):
                yield from csv_lines(rows.of(block, array.read(block, control)))

        write_atomically(arguments.output, blocks(), cancel=token)
    tell_findings(array.dataset.access.memory.warnings)
    return 0


def _json_blocks(array: Array, selection: Selection, control: JobControl) -> Iterator[str]:
    """Yield the text of a JSON document of the values: block by block, so that a few are held at a time."""
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.json_values import json_text
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
    each, side = max(selection.size // len(taken), 1), node.grid.chunk_shape[kept[0]]
    if node.nested is not None:
        # Rows are read alone as well as together; lists in them count with what they hold on average.
        size = sum(buffer.nbytes for buffer in node.nested.buffers) // _ELEMENT
        each, side = max(each, size // max(node.shape[0], 1)), 1
    stops = []
    start = 0
    while start < len(taken):
        last = taken[min(start + max(_BLOCK // each, 1), len(taken)) - 1]
        end = (last // side + 1) * side
        start = min(-(-(end - taken.start) // taken.step), len(taken))
        stops.append(start)
    bounds = list(pairwise([0, *stops]))
    for first, stop in reversed(bounds) if kept[0] in selection.backwards else bounds:
        axes = list(selection.axes)
        axes[kept[0]] = taken[first:stop]
        yield replace(selection, axes=tuple(axes))


def _may_miss(node: ArrayNode) -> bool:
    """Tell whether numbers of an array may be missing, which is something else than NaN."""
    from refbrowser.model.nested import TypeKind

    return node.nested is not None and node.nested.type.kind is TypeKind.OPTION


def _read_objects(array: Array, selection: Selection, control: JobControl) -> Any:
    """Return values as Python has them, those that are missing as None."""
    import numpy as np

    dataset, out = array.dataset, np.empty(selection.shape, object)
    return dataset.session.read(
        array.node, dataset.access, selection, out=out, cancel=control.token, progress=control.progress
    )


def _check_npy(dtype: Any, arguments: argparse.Namespace) -> None:
    if dtype is not None and dtype.hasobject:
        raise RefbrowserError(
            ErrorKind.USAGE,
            f"values of type {quoted(dtype)} cannot be held by .npy without pickle",
            advice="use --json",
        )
    if arguments.output is None and sys.stdout.isatty():
        raise RefbrowserError(
            ErrorKind.USAGE,
            "a terminal cannot show .npy bytes",
            advice="use --json, -o FILE, or send the output elsewhere",
        )


def _npy_blocks(values: Any) -> Iterator[bytes | memoryview]:
    """Yield the bytes that `numpy.save` writes of an array, whose memory is not copied."""
    import numpy as np

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


def _write(blocks: Iterable[bytes | memoryview], output: str | None) -> None:
    from refbrowser.io.files.atomic import write_atomically

    if output is None:
        write_bytes(blocks)
    else:
        write_atomically(output, blocks)
