"""Make references of files of data: a document for each, compared with the file before it is called done."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, tell_warning, write_json, write_line
from refbrowser.cli.options import (
    add_dask,
    add_json,
    add_option,
    add_origins,
    add_skip_bad,
    compute_of,
    job_control,
    listed,
    said_of,
)
from refbrowser.formats.option_fields import declared
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.exporting.saving.making import Made, MakeReport

#: What cannot be kept that is told of each document.
_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.exporting.saving.making import FORMS
    from refbrowser.exporting.targets.reference_options import ReferenceOptions

    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="a file or URL, a pattern ('data/*.nc'), or @LIST: a file with one of these a line",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the document of a single file; else the folder of documents that have the names of their files",
    )
    parser.add_argument("--to", default=FORMS[0], metavar="FORMAT", dest="format", help=listed(FORMS))
    parser.add_argument("--force", action="store_true", help="replace documents that are there")
    parser.add_argument(
        "--resume", action="store_true", help="leave documents that are newer than their files"
    )
    for each in declared(ReferenceOptions).values():
        add_option(parser, each)
    add_dask(parser)
    add_json(parser)
    add_origins(parser)
    add_skip_bad(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Make the documents and report."""
    from refbrowser.exporting.saving.making import MakeRequest, make
    from refbrowser.exporting.targets.reference_options import ReferenceOptions

    said = {
        name: found
        for name, each in declared(ReferenceOptions).items()
        if (found := said_of(arguments, each)) is not None
    }
    known = declared(ReferenceOptions)
    request = MakeRequest(
        sources=tuple(arguments.files),
        target=arguments.output,
        format=arguments.format,
        options=ReferenceOptions(**{name: known[name].value(value) for name, value in said.items()}),
        force=arguments.force,
        resume=arguments.resume,
        skip_bad=arguments.skip_bad,
        allow=tuple(arguments.allow),
        storage_options=tuple(arguments.storage_option),
    )
    compute = compute_of(arguments)
    with ProgressBar("making", "files") as bar:
        report = make(request, job_control(token, bar), compute)
    for _, error in report.left_out:
        tell_warning(error)
    if arguments.json:
        write_json(_as_json(report))
    else:
        _write_text(report)
    return 0


def _as_json(report: MakeReport) -> dict[str, object]:
    return {
        "made": [asdict(each) for each in report.made],
        "left_out": [
            {"source": source, "kind": str(error.kind), "message": error.message}
            for source, error in report.left_out
        ],
    }


def _write_text(report: MakeReport) -> None:
    for each in report.made:
        write_line(_line(each))
        said = [f"in the document, not referenced: {held}" for held in each.held]
        said += [f"not kept: {loss}" for loss in each.losses]
        for line in said[:_SHOWN]:
            write_line(f"  {plain(line)}")
        if len(said) > _SHOWN:
            write_line(f"  and {len(said) - _SHOWN} more")
    for source, error in report.left_out:
        write_line(f"left out: {plain(source)}: {plain(error.message)}")


def _line(made: Made) -> str:
    if made.was_there:
        return f"{plain(made.target)}: newer than its file, left as it is"
    from refbrowser.views.explain.explanation import counted

    unread = f", {made.unread} cannot be read" if made.unread else ""
    return (
        f"{plain(made.target)}: {counted(made.arrays, 'array')}, {counted(made.references, 'reference')}; "
        f"{counted(made.compared, 'chunk')} compared with {made.with_what}{unread}"
    )
