"""Write a stream of messages anew: what was overwritten is dropped, small messages are put together."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, tell_findings, write_json, write_line
from refbrowser.cli.options import add_json, add_output, add_reading, job_control, open_dataset, take_output
from refbrowser.io.cancel import CancelToken
from refbrowser.words import binary_size_text

if TYPE_CHECKING:
    from refbrowser.wings.ncstream.changing.compact import CompactReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", metavar="STREAM", help="the stream: a file or a URL")
    add_output(parser, "the file to be made; with --force it may be the stream itself")
    parser.add_argument(
        "--deflate",
        type=int,
        metavar="LEVEL",
        help="1 to 9, 0 for none; as each variable is stored, where not given",
    )
    parser.add_argument("--no-crc32", action="store_true", help="tell no checksums")
    parser.add_argument("--force", action="store_true", help="replace the target")
    add_json(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Write the stream anew and report."""
    from refbrowser.wings.ncstream.changing.compact import CompactRequest, compact

    take_output(arguments)
    arguments.template = []
    with open_dataset(arguments, token) as dataset, ProgressBar("compacting") as bar:
        request = CompactRequest(
            target=arguments.target,
            level=arguments.deflate,
            checksum=not arguments.no_crc32,
            force=arguments.force,
        )
        report = compact(dataset, request, job_control(token, bar))
        tell_findings(dataset.access.memory.warnings)
    if arguments.json:
        write_json(asdict(report))
    else:
        _write_text(report)
    return 0


def _write_text(report: CompactReport) -> None:
    write_line(
        f"{plain(report.target)}: {report.messages} messages where there were {report.messages_before}, "
        f"{binary_size_text(report.written_bytes)} where there were {binary_size_text(report.bytes_before)}; "
        f"{report.verified} messages verified"
    )
    for note in report.notes:
        write_line(plain(note))
