"""Tell how two datasets of any format differ.

Exit code 0 when they are equal, 2 when they differ, 5 when nothing differs but not all was compared (3 or 4
when that is for want of a permission, or for a source that fails).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import (
    ProgressBar,
    plain_whole,
    tell,
    tell_damage,
    write_json,
    write_line,
    write_lines,
)
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    job_control,
    open_dataset_at,
    opening_of,
    said_of_fields,
)
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import scheme_of

if TYPE_CHECKING:
    from refbrowser.engine.comparing.differences import Comparison
    from refbrowser.tools.compare.comparison_words import ComparedRow

#: The exit codes when datasets differ, and when nothing differs but not all was compared.
DIFFERS, NOT_COMPARED = 2, 5
#: What git gives for a file that one side does not have.
_NOTHING = "/dev/null"
#: How many arguments git gives: path; file, hash and mode of both sides; of a renamed file two more.
_OF_GIT = (7, 9)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.engine.comparing.comparison import CompareRequest

    parser.add_argument("paths", nargs="*", metavar="PATH", help="the two datasets, A and B")
    add_request(parser, CompareRequest)
    parser.add_argument(
        "--git",
        action="store_true",
        help="what follows are the arguments of git's external diff, whatever they are called: other options "
        "come before it; exit code 0 when compared",
    )
    parser.set_defaults(as_is_after="--git")
    parser.add_argument(
        "--since",
        metavar="REVISION",
        help="compare reference documents, as many as are given, with what git has of them at this revision; "
        "values are read only where --values says so. Of an Icechunk repository: with this branch, tag or "
        "snapshot",
    )
    parser.add_argument("--exit-zero", action="store_true", help="exit code 0 where they differ, too")
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Compare, and tell what differs."""
    from refbrowser.engine.comparing.comparison import CompareRequest

    if arguments.git:
        return _for_git(arguments, token)
    if arguments.since is not None:
        return _since(arguments, token)
    if len(arguments.paths) != 2:
        raise RefbrowserError(ErrorKind.USAGE, "give two datasets: refbrowser diff A B")
    said = said_of_fields(arguments, CompareRequest)
    return _tell(_compared(arguments.paths, said, arguments, token), arguments)


def _tell(comparison: Comparison, arguments: argparse.Namespace) -> int:
    """Tell what differs, and return the exit code."""
    arguments.report_files.write(comparison)
    if arguments.json:
        write_json(comparison.to_json())
    else:
        write_lines(_told(comparison))
    code = exit_code(comparison)
    return 0 if arguments.exit_zero and code == DIFFERS else code


def exit_code(comparison: Comparison) -> int:
    """Return 0 for equal ones, 2 where they differ; else that of why they could not be compared, or 5."""
    if comparison.is_equal is not None:
        return 0 if comparison.is_equal else DIFFERS
    unread = comparison.unread
    return unread[0].kind.exit_code if unread else NOT_COMPARED


def _compared(
    paths: list[str],
    said: dict[str, Any],
    arguments: argparse.Namespace,
    token: CancelToken,
    folder: str | None = None,
) -> Comparison:
    """Compare what lies at two paths; of documents that are both of one folder, relative URLs begin there."""
    from refbrowser.tools.compare.public import diff

    with ExitStack() as stack:
        datasets = []
        for path in paths:
            opened = open_dataset_at(path, arguments, token)
            if folder is not None:
                opened = opened.with_access(replace(opened.access, base=folder))
            datasets.append(stack.enter_context(opened))
            tell_damage(opened.damage)
        here, there = datasets
        with ProgressBar("comparing") as bar:
            return diff(here, there, **said, progress=job_control(token, bar))


# Text


def _told(comparison: Comparison) -> Iterator[str]:
    from refbrowser.tools.compare.comparison_words import compared_of, nodes_of, row_of, summary_of

    for node in nodes_of(comparison):
        yield plain_whole(node.path or "documents")
        for row in node.rows:
            yield from _row(row)
    if comparison.spelled:
        yield "written otherwise, but the same"
        for each in comparison.spelled:
            yield from _row(row_of(each))
    for note in comparison.notes:
        yield f"note: {plain_whole(note)}"
    yield f"{summary_of(comparison)} ({compared_of(comparison.arrays)})"


def _row(row: ComparedRow) -> Iterator[str]:
    from refbrowser.references.edits.compare import Side

    where = {Side.HERE: "only here", Side.THERE: "only there"}.get(row.side, "")
    words = ", ".join(each for each in (where, row.note) if each)
    yield f"  {plain_whole(row.what)}{f': {plain_whole(words)}' if words else ''}"
    if row.here:
        yield f"    - {plain_whole(row.here)}"
    if row.there:
        yield f"    + {plain_whole(row.there)}"


# git


def _for_git(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Tell what git's external diff is asked for; what cannot be compared is told, and does not end git."""
    given = arguments.as_is
    if len(given) not in _OF_GIT:
        message = f"--git takes the arguments that git gives, not {len(given)}"
        raise RefbrowserError(ErrorKind.USAGE, message, advice="other options come before --git")
    name, old, new = given[0], given[1], given[4]
    write_line(f"refbrowser diff {plain_whole(name)}")
    write_lines(_git_lines(name, old, new, arguments, token))
    return 0


def _since(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Compare documents with what git has of them at a revision; the worst of them decides the exit code."""
    from tempfile import TemporaryDirectory

    from refbrowser.cli.git_texts import write_committed

    paths, revision = arguments.paths, arguments.since
    if not paths:
        raise RefbrowserError(ErrorKind.USAGE, "give the documents that are compared with --since")
    if arguments.report_files.are_wanted and len(paths) > 1:
        raise RefbrowserError(ErrorKind.USAGE, "reports of --since are of one document")
    said, code = _without_values(arguments), 0
    for path in paths:
        # git has files.
        if os.path.isdir(path) or scheme_of(path) not in (None, "file"):
            code = max(code, _tell(_since_state(path, revision, arguments, token), arguments))
            continue
        folder, name = os.path.split(os.path.abspath(path))
        with TemporaryDirectory(prefix="refbrowser-") as kept:
            old = os.path.join(kept, name)
            if not write_committed(path, revision, old):
                tell(f"refbrowser: {plain_whole(path)}: not in {plain_whole(revision)}")
                continue
            if len(paths) > 1 and not arguments.json:
                write_line(plain_whole(path))
            comparison = _compared([old, os.path.join(folder, name)], said, arguments, token, folder)
            found = replace(comparison, here=f"{revision}:{path}", there=path)
            code = max(code, _tell(found, arguments))
    return code


def _since_state(path: str, name: str, arguments: argparse.Namespace, token: CancelToken) -> Comparison:
    """Compare a dataset whose format keeps its states with one of them."""
    import refbrowser
    from refbrowser.engine.comparing.comparison import CompareRequest
    from refbrowser.tools.compare.public import diff

    with ExitStack() as stack:
        there = stack.enter_context(open_dataset_at(path, arguments, token))
        options = there.document.state(name)
        if options is None:
            message = "it keeps no states that could be compared"
            advice = "--since is for documents in git, and for Icechunk repositories"
            raise RefbrowserError(ErrorKind.USAGE, message, Place(document=path), advice)
        request = replace(opening_of(path, arguments), options=options)
        with ProgressBar("opening") as bar:
            here = stack.enter_context(refbrowser.open(request, progress=job_control(token, bar)))
        for dataset in (here, there):
            tell_damage(dataset.damage)
        with ProgressBar("comparing") as bar:
            said = said_of_fields(arguments, CompareRequest)
            found = diff(here, there, **said, progress=job_control(token, bar))
    return replace(found, here=f"{path} at {name}", there=path)


def _without_values(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what is compared with git: what a document says, and data only where that is asked for."""
    from refbrowser.engine.comparing.comparison import CompareRequest

    said = said_of_fields(arguments, CompareRequest)
    if said.get("values", "auto") == "auto":
        said["values"] = "none"
    return said


def _git_lines(
    name: str, old: str, new: str, arguments: argparse.Namespace, token: CancelToken
) -> Iterator[str]:
    from refbrowser.cli.git_texts import text_difference
    from refbrowser.tools.merge.merging import is_reference_document

    # What git names is a file, also where it looks like a URL.
    paths = [os.path.abspath(each) for each in (old, new) if each != _NOTHING]
    with ProgressBar("opening") as bar:
        control = job_control(token, bar)
        are_documents = all(is_reference_document(opening_of(each, arguments), control) for each in paths)
    if not are_documents:
        yield from text_difference(name, old, new)
        return
    if len(paths) < 2:
        yield "  new file" if old == _NOTHING else "  removed file"
        return
    said, folder = _without_values(arguments), os.path.dirname(os.path.abspath(name))
    try:
        comparison = _compared(paths, said, arguments, token, folder)
    except RefbrowserError as error:
        yield f"  cannot be compared: {plain_whole(str(error))}"
        return
    arguments.report_files.write(comparison)
    yield from _told(comparison)
