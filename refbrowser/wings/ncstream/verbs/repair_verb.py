"""Write what is sound of a damaged stream of messages, and say what is lost."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import ProgressBar, plain, write_json, write_line
from refbrowser.cli.options import add_json, add_origins, add_output, job_control, take_output
from refbrowser.io.cancel import CancelToken
from refbrowser.words import binary_size_text

if TYPE_CHECKING:
    from refbrowser.wings.ncstream.changing.repair import RepairReport


#: Lines about messages that are written.
_SHOWN = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="STREAM", help="the stream: a file or a URL")
    add_output(parser, "the file to be made; with --force it may be the stream itself")
    parser.add_argument(
        "--cut", action="store_true", help="keep nothing behind the first damage, sound or not"
    )
    parser.add_argument("--force", action="store_true", help="replace the target")
    add_json(parser)
    add_origins(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Repair the stream and report."""
    from refbrowser.wings.ncstream.changing.repair import RepairRequest, repair

    take_output(arguments)
    request = RepairRequest(
        arguments.path,
        arguments.target,
        cut=arguments.cut,
        force=arguments.force,
        allow=tuple(arguments.allow),
        storage_options=tuple(arguments.storage_option),
    )
    with ProgressBar("repairing") as bar:
        report = repair(request, job_control(token, bar))
    if arguments.json:
        write_json(_as_json(report))
    else:
        _write_text(report)
    return 0


def _as_json(report: RepairReport) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(report)


def _write_text(report: RepairReport) -> None:
    write_line(
        f"{plain(report.target)}: {report.messages} messages kept, {len(report.lost)} lost; "
        f"written {binary_size_text(report.written_bytes)}, lost {binary_size_text(report.lost_bytes)}"
    )
    _write_some([f"lost: {plain(lost)}" for lost in report.lost[:_SHOWN]], len(report.lost))
    _write_some([plain(note) for note in report.notes[:_SHOWN]], len(report.notes))


def _write_some(lines: list[str], count: int) -> None:
    for line in lines:
        write_line(line)
    if count > len(lines):
        write_line(f"and {count - len(lines)} more; --json lists all")
