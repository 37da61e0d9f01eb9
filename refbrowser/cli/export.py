"""Write a dataset in another format, whole or some arrays of it, and verify it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import plain, tell, tell_warning, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_skip_bad,
    add_templates,
    add_yes,
    ask,
    job_control,
    open_dataset,
)
from refbrowser.cli.progress import ProgressBar, size_text
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.export.request import ArrayChoice, ExportReport


class _Choice(argparse.Action):
    """Gathers ``--array`` and ``--select``, which belongs to the array before it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take one option."""
        chosen = list(namespace.arrays or [])
        if option_string == "--array":
            chosen.append((values, ""))
        elif not chosen or chosen[-1][1]:
            parser.error("--select belongs after the --array of which it takes a part")
        else:
            chosen[-1] = (chosen[-1][0], values)
        namespace.arrays = chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="PATH", help="what to open")
    parser.add_argument("target", metavar="TARGET", help="the file or folder to be made")
    parser.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        dest="format",
        help="refs-v0, refs-v1, refs-parquet, zarr-v2 or zarr-v3",
    )
    parser.add_argument(
        "--array", action=_Choice, dest="arrays", metavar="A", help="write this array only (repeatable)"
    )
    parser.add_argument(
        "--select",
        action=_Choice,
        dest="arrays",
        metavar="TEXT",
        help="of the --array before it, for example 0,:,10:20",
    )
    parser.add_argument("--force", action="store_true", help="replace the target")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted export")
    add_json(parser)
    add_reading(parser)
    add_skip_bad(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Carry out the export and report."""
    from refbrowser.engine.export.request import STORE_FORMATS, ExportRequest
    from refbrowser.engine.export.run import run_export

    with open_dataset(arguments, token) as dataset:
        request = ExportRequest(
            arguments.target,
            arguments.format,
            _chosen(dataset, arguments.arrays),
            force=arguments.force,
            resume=arguments.resume,
            skip_bad=arguments.skip_bad,
        )
        try:
            with ProgressBar("exporting") as bar:
                report = run_export(
                    dataset, request, job_control(token, bar), lambda error: ask(arguments, error)
                )
        except Cancelled:
            if arguments.format in STORE_FORMATS:
                tell("refbrowser: interrupted; --resume goes on from here")
            raise
    for error in report.skipped:
        tell_warning(error)
    if arguments.json:
        write_json(_as_json(report))
    else:
        _write_text(report)
    return 0


def _chosen(dataset: Dataset, arrays: list[tuple[str, str]] | None) -> tuple[ArrayChoice, ...] | None:
    from refbrowser.engine.export.request import ArrayChoice

    if arrays is None:
        return None
    chosen = tuple(ArrayChoice.of(dataset, path, select) for path, select in arrays)
    paths = [choice.path for choice in chosen]
    if len(set(paths)) < len(paths):
        raise RefbrowserError(ErrorKind.USAGE, "an array is named twice")
    return chosen


def _as_json(report: ExportReport) -> dict[str, Any]:
    shape = asdict(report)
    shape["skipped"] = [
        {"kind": str(error.kind), "message": error.message, "key": error.place.key, "path": error.place.path}
        for error in report.skipped
    ]
    shape["losses"] = [{"path": loss.path, "what": loss.what} for loss in report.losses]
    return shape


def _write_text(report: ExportReport) -> None:
    resumed = f", {report.resumed} of them there before" if report.resumed else ""
    write_line(
        f"{plain(report.target)}: {report.arrays} arrays, {report.chunks} chunks{resumed}, "
        f"{report.copied} copied undecoded, {report.missing} missing, {report.verified} verified; "
        f"read {size_text(report.read_bytes)}, written {size_text(report.written_bytes)}"
    )
    for loss in report.losses:
        write_line(f"not kept: {plain(loss)}")
