"""Append values to a stream of messages: what the verb ``append`` does with one."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, tell_damage, write_json, write_line
from refbrowser.cli.options import job_control, open_dataset, request_of
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.words import binary_size_text

if TYPE_CHECKING:
    from refbrowser.wings.ncstream.changing.append import AppendReport


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Append and report."""
    from refbrowser.tools.append.request import Addition
    from refbrowser.wings.ncstream.changing.append import AppendRequest, append_to

    if arguments.lock:
        raise RefbrowserError(ErrorKind.USAGE, "--lock is for reference documents")
    asked = request_of(arguments, Addition)
    if len(arguments.files) > 1 or asked.target:
        raise RefbrowserError(ErrorKind.USAGE, "one dataset is added to a stream, in place")
    request = AppendRequest(
        along=asked.along or None,
        overwrite=asked.overwrite,
        arrays=asked.arrays or None,
        level=asked.level,
        force=asked.force,
    )
    (arguments.path,) = arguments.files
    with open_dataset(arguments, token) as dataset, ProgressBar("appending") as bar:
        arrays = request.arrays
        tell_damage(dataset.damage if arrays is None else dataset.damage_at(*arrays))
        report = append_to(arguments.document, dataset, request, job_control(token, bar))
    if arguments.json:
        write_json(asdict(report))
    else:
        _write_text(report)
    return 0


def _write_text(report: AppendReport) -> None:
    write_line(
        f"{plain(report.target)}: {report.messages} messages added, {binary_size_text(report.written_bytes)}"
    )
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
