"""Add files to a reference document or a repository, or the values of a dataset to a stream, at its end."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, write_json, write_line
from refbrowser.cli.locks import add_lock, lock_made
from refbrowser.cli.options import (
    add_dask,
    add_json,
    add_reading,
    add_request,
    add_skip_bad,
    add_templates,
    compute_of,
    job_control,
    said_of_fields,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import scheme_of
from refbrowser.loading import load
from refbrowser.tools.make.verb import mismatch_json, tell_mismatches
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.exporting.appending.appending import Appended
    from refbrowser.exporting.combining.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.append.request import Addition

    parser.add_argument(
        "document",
        metavar="TARGET",
        help="a reference document, an Icechunk repository, or a stream, which is changed in place",
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="what is added at its end: files of data, stores, documents, patterns or @LIST; to a stream one",
    )
    add_request(parser, Addition)
    add_lock(parser)
    add_dask(parser)
    add_skip_bad(parser)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Append and report."""
    to = _to_document if _is_document(arguments.document) else _to_values()
    return to(arguments, token)


def _to_values() -> Callable[[argparse.Namespace, CancelToken], int]:
    """Return what appends values: the only one of our formats that has such files says so."""
    from refbrowser.formats.registry import BUILT_IN

    (name,) = (format.facets["append"] for format in BUILT_IN if "append" in format.facets)
    found: Callable[[argparse.Namespace, CancelToken], int] = load(name)
    return found


def _is_document(path: str) -> bool:
    """Tell whether a reference document is meant, not a stream."""
    from refbrowser.formats.sniffing import DOCUMENTS, HEAD, looks_like_references

    if os.path.isdir(path) or scheme_of(path) is not None:
        return True
    try:
        with open(path, "rb") as file:
            return looks_like_references(file.read(HEAD))
    except OSError:
        return path.lower().endswith(DOCUMENTS)


def _to_document(arguments: argparse.Namespace, token: CancelToken) -> int:
    from refbrowser.tools.append.public import append
    from refbrowser.tools.append.request import Addition

    said = said_of_fields(arguments, Addition)
    if said.keys() & {"overwrite", "level"}:
        message = "--overwrite and --deflate are for streams of messages"
        raise RefbrowserError(ErrorKind.USAGE, message)

    def told(plan: Plan) -> None:
        if plan.blocking or not arguments.json:
            tell_mismatches(plan.mismatches)

    with ProgressBar("appending") as bar:
        report = append(
            arguments.document,
            arguments.files,
            **said,
            skip_bad=arguments.skip_bad,
            allow=arguments.allow,
            storage_options=arguments.storage_option,
            stale=arguments.stale,
            client=compute_of(arguments),
            told=told,
            progress=job_control(token, bar),
        )
    if arguments.json:
        mismatches = [mismatch_json(each) for each in report.mismatches]
        left_out = [{"source": source, "why": why} for source, why in report.left_out]
        write_json({**asdict(report), "mismatches": mismatches, "left_out": left_out})
    else:
        _write_added(report)
    return lock_made([report.target], arguments, token) if arguments.lock else 0


def _write_added(report: Appended) -> None:
    files = counted_plain(report.files, "file")
    unread = f", {report.unread} cannot be read" if report.unread else ""
    commit = f"snapshot {report.snapshot}; " if report.snapshot else ""
    changed = counted_plain(abs(report.references), "reference")
    changed += f" {'less' if report.references < 0 else 'more'}"
    write_line(
        f"{plain(report.target)}: {files} added; {plain(report.along)}: {report.before} before, "
        f"{report.after} now; {commit}{changed}; "
        f"{report.compared} chunks compared with files{unread}"
    )
    for source, why in report.left_out:
        write_line(f"left out: {plain(source)}: {plain(why)}")
