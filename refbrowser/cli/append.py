"""Add the values and attributes of a dataset to a stream of messages, without writing it anew."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, size_text, tell_damage, write_json, write_line
from refbrowser.cli.options import add_json, add_reading, add_templates, job_control, open_dataset
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.exporting.streams.append import AppendReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("stream", metavar="STREAM", help="the stream, a file that is changed in place")
    parser.add_argument("path", metavar="SOURCE", help="what to add: a dataset of any format")
    parser.add_argument(
        "--along",
        metavar="DIM",
        help="the dimension that gets longer; the only unlimited one of both where not given",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="lay the values over those of the stream, instead of behind them",
    )
    parser.add_argument(
        "--array", action="append", dest="arrays", metavar="A", help="add this array only (repeatable)"
    )
    parser.add_argument(
        "--deflate",
        type=int,
        metavar="LEVEL",
        help="1 to 9, 0 for none; as the stream has it, where not given",
    )
    parser.add_argument("--force", action="store_true", help="drop what stands behind the end of the stream")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Append to the stream and report."""
    from refbrowser.engine.dataset import damage_of
    from refbrowser.exporting.streams.append import AppendRequest, append_to

    request = AppendRequest(
        along=arguments.along,
        overwrite=arguments.overwrite,
        arrays=None if arguments.arrays is None else tuple(arguments.arrays),
        level=arguments.deflate,
        force=arguments.force,
    )
    with open_dataset(arguments, token) as dataset, ProgressBar("appending") as bar:
        tell_damage(damage_of(dataset, request.arrays))
        report = append_to(arguments.stream, dataset, request, job_control(token, bar))
    if arguments.json:
        write_json(asdict(report))
    else:
        _write_text(report)
    return 0


def _write_text(report: AppendReport) -> None:
    write_line(f"{plain(report.target)}: {report.messages} messages added, {size_text(report.written_bytes)}")
    if report.along is not None:
        write_line(f"{plain(report.along)}: {report.before} before, {report.after} now")
    for what, names in (
        ("values added", report.added),
        ("as before", report.kept),
        ("filled", report.unfilled),
        ("attributes changed", report.changed),
    ):
        if names:
            write_line(f"{what}: {plain(', '.join(names))}")
    for note in report.notes:
        write_line(f"note: {plain(note)}")
