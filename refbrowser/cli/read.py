"""Read values of an array: as .npy, or as nested lists with --json."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import tell_damage, tell_findings, write_bytes, write_json
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_templates,
    add_yes,
    ask,
    find_array,
    job_control,
    open_dataset,
)
from refbrowser.cli.progress import ProgressBar
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array
    from refbrowser.engine.jobs import JobControl
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.selection import Selection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    parser.add_argument("array", metavar="ARRAY", help="path of the array, for example /ocean/temp")
    parser.add_argument("--select", default="", metavar="TEXT", help="for example 0,:,10:20:2")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Read the selection and write it."""
    from refbrowser.engine.read_plan import size_question
    from refbrowser.model.netcdf.texts import as_texts, is_text

    with open_dataset(arguments, token) as dataset:
        array = find_array(dataset, arguments.array)
        selection = array.selection(arguments.select)
        question = size_question(array.node)
        if question is not None and not ask(arguments, question):
            raise question
        if not arguments.json:
            _check_npy(array.dtype, arguments)
        tell_damage(array.damage)
        with ProgressBar("reading") as bar:
            control = job_control(token, bar)
            if arguments.json and _may_miss(array.node):
                values = _read_objects(array, selection, control)
            else:
                values = array.read(selection, control)
        if arguments.json and is_text(dataset.hierarchy, array.node):
            values = as_texts(values)
        tell_findings(dataset.access.memory.warnings)
    if arguments.json:
        _write_json(values, arguments.output)
    else:
        _write_npy(values, arguments.output)
    return 0


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


class _Collector:
    """A file object for numpy that keeps the blocks written to it."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.blocks.append(bytes(data))


def _write_npy(values: Any, output: str | None) -> None:
    import numpy as np

    from refbrowser.io.atomic import write_atomically
    from refbrowser.model.member_types import without_names

    collector = _Collector()
    np.lib.format.write_array(collector, without_names(np.asanyarray(values)), allow_pickle=False)
    if output is None:
        write_bytes(collector.blocks)
    else:
        write_atomically(output, collector.blocks)


def _write_json(values: Any, output: str | None) -> None:
    from refbrowser.cli.values import json_values
    from refbrowser.io.atomic import write_atomically

    nested = json_values(values)
    if output is None:
        write_json(nested)
    else:
        write_atomically(output, [json.dumps(nested, allow_nan=False).encode() + b"\n"])
