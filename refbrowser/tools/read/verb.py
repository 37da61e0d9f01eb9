"""Read values of an array: as .npy, as nested lists with --json, or as the suffix of -o FILE says.

.npy and .json hold the values as they are stored. .csv has a row for each element, with its coordinates and
the decoded value; .parquet and .nc are what refbrowser export writes of the array.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from refbrowser.cli.console import ProgressBar, tell, tell_damage, tell_findings, write_bytes
from refbrowser.cli.options import (
    add_array,
    add_json,
    add_reading,
    add_select,
    add_templates,
    add_yes,
    ask,
    chosen_array,
    job_control,
    open_dataset,
    open_dataset_at,
    selection_of,
    take_link,
)
from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Array, Dataset
    from refbrowser.model.selection import Selection


class AskedArray(NamedTuple):
    """An array, the selection of it as it is written, and the datasets that it is read of."""

    array: Array
    part: str
    datasets: tuple[Dataset, ...]

    def tell_warnings(self) -> None:
        """Warn of what the reads turned up, whichever dataset it is of."""
        tell_findings(dict.fromkeys(found for each in self.datasets for found in each.access.memory.warnings))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_array(parser)
    add_select(parser)
    add_computing(parser)
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


def add_computing(parser: argparse.ArgumentParser) -> None:
    """Add what is computed of arrays in place of one that is stored."""
    parser.add_argument(
        "--compute",
        metavar="EXPRESSION",
        help="what is read is computed of arrays: '/t2m - 273.15', 'mean(/t2m, time)', 'sqrt(/u**2 + /v**2)'",
    )
    parser.add_argument(
        "--with",
        metavar="LABEL=PATH",
        action="append",
        default=[],
        dest="labelled",
        help="open this beside PATH; the expression names its arrays LABEL::/array (repeatable)",
    )


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Read the selection and write it."""
    from refbrowser.tools.read.value_files import (
        CSV,
        EXPORTED,
        NPY,
        check_count,
        check_holds,
        held_values,
        question_of,
    )

    form = _form(arguments)
    with ExitStack() as opened:
        asked = array_of(arguments, token, opened)
        array = asked.array
        selection = selection_of(array, asked.part, token)
        if form in EXPORTED:
            return _export(asked, selection, arguments, token)
        if form == CSV:
            return _write_rows(asked, selection, arguments, token)
        question = question_of(array, selection)
        if question is not None and not ask(arguments, question):
            raise question
        if form == NPY:
            check_holds(array.dtype)
            _check_terminal(arguments)
        check_count(array, selection)
        tell_damage(array.damage)
        with ExitStack() as stack:
            with ProgressBar("reading") as bar:
                held = held_values(array, selection, form, job_control(token, bar))
                portions = stack.enter_context(held)
            asked.tell_warnings()
            _write(portions, arguments.output)
    return 0


def array_of(arguments: argparse.Namespace, token: CancelToken, opened: ExitStack) -> AskedArray:
    """Return the array that is named or computed, and what is selected; `opened` closes what it is of."""
    if arguments.labelled and not arguments.compute:
        raise RefbrowserError(ErrorKind.USAGE, "--with goes with --compute")
    return _computed(arguments, token, opened) if arguments.compute else _stored(arguments, token, opened)


def _stored(arguments: argparse.Namespace, token: CancelToken, opened: ExitStack) -> AskedArray:
    link = take_link(arguments)
    dataset = opened.enter_context(open_dataset(arguments, token))
    return AskedArray(*chosen_array(dataset, link, arguments), (dataset,))


def _computed(arguments: argparse.Namespace, token: CancelToken, opened: ExitStack) -> AskedArray:
    """Return the array that ``--compute`` says, and the selection of it."""
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.read.public import compute

    if arguments.array:
        message = "--compute says which arrays are read; ARRAY is one more"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="give one of both")
    dataset = opened.enter_context(open_dataset(arguments, token))
    labelled = {}
    for each in arguments.labelled:
        label, equals, path = each.partition("=")
        if not (label and equals and path):
            raise RefbrowserError(ErrorKind.USAGE, f"--with {quoted(each)} is not LABEL=PATH")
        labelled[label] = opened.enter_context(open_dataset_at(path, arguments, token))
    array = compute(dataset, arguments.compute, labelled, progress=JobControl(token))
    return AskedArray(array, arguments.select, (dataset, *labelled.values()))


def _form(arguments: argparse.Namespace) -> str:
    from refbrowser.tools.read.value_files import JSON, NPY, form_of

    if arguments.output is None:
        return JSON if arguments.json else NPY
    return form_of(arguments.output, force=arguments.force, as_json=arguments.json)


def _check_terminal(arguments: argparse.Namespace) -> None:
    if arguments.output is None and sys.stdout.isatty():
        raise RefbrowserError(
            ErrorKind.USAGE,
            "a terminal cannot show .npy bytes",
            advice="use --json, -o FILE, or send the output elsewhere",
        )


def _export(
    asked: AskedArray, selection: Selection, arguments: argparse.Namespace, token: CancelToken
) -> int:
    """Write the array in another format, with the coordinates of what was selected."""
    from refbrowser.tools.read.value_files import write_exported

    array = asked.array
    tell_damage(array.damage)
    with ProgressBar("writing") as bar:
        report = write_exported(
            array,
            selection,
            arguments.output,
            job_control(token, bar),
            lambda error: ask(arguments, error),
            force=arguments.force,
        )
    for line in report.lost:
        tell(f"refbrowser: note: {line}")
    asked.tell_warnings()
    return 0


def _write_rows(
    asked: AskedArray, selection: Selection, arguments: argparse.Namespace, token: CancelToken
) -> int:
    """Write comma-separated values, a row for each element."""
    from refbrowser.tools.read.value_files import check_count, write_csv
    from refbrowser.views.plot.element_rows import ElementRows

    array = asked.array
    rows = ElementRows(array, token)
    check_count(array, selection)
    tell_damage(array.damage)
    with ProgressBar("reading") as bar:
        write_csv(array, rows, selection, arguments.output, job_control(token, bar))
    asked.tell_warnings()
    return 0


def _write(blocks: Iterable[bytes | memoryview], output: str | None) -> None:
    from refbrowser.io.files.atomic import write_atomically

    if output is None:
        write_bytes(blocks)
    else:
        write_atomically(output, blocks)
