"""Merge what two sides changed of a reference document; exit code 2 when conflicts are left.

As git's merge driver: merge.refbrowser.driver = refbrowser merge --git %O %A %B %P
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, tell, tell_error, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_origins,
    add_request,
    add_templates,
    add_yes,
    job_control,
    opening_of,
    said_of_fields,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import is_same_file

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobControl

#: The exit code when conflicts are left: git takes it for a conflict.
CONFLICTS = 2
#: Documents that are merged; what git gives a merge driver: these, and the path.
_SIDES = 3
_OF_GIT = ("%O", "%A", "%B", "%P")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.exporting.saving.merged_file import MergeRequest

    parser.add_argument(
        "sides",
        nargs="*",
        metavar="BASE OURS THEIRS",
        help="the document that both sides began with, the one that is changed, and the one whose changes "
        "are taken",
    )
    add_request(parser, MergeRequest, "target", "favor")
    parser.add_argument(
        "--conflicts",
        metavar="FILE",
        help="write the conflicts that are left as JSON, which the window opens, and mark none in OURS; "
        "no file without any",
    )
    parser.add_argument("--label", metavar="NAME", help="what messages call the document")
    parser.add_argument(
        "--git",
        action="store_true",
        help="what follows is what git gives a merge driver (%%O %%A %%B %%P), whatever it is called: other "
        "options come before it",
    )
    parser.set_defaults(as_is_after="--git")
    add_request(parser, MergeRequest, "force")
    add_json(parser)
    add_origins(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Merge, write, and tell what is at odds."""
    sides, target, name = _named(arguments)
    if not is_same_file(sides[1], target):
        return _merge_documents(sides, target, name, arguments, token)
    # In place: no side is lost, whatever the files are.
    with ProgressBar("opening") as bar:
        is_text = _is_text(sides, arguments, job_control(token, bar))
    return (
        _merge_texts(sides, target, name)
        if is_text
        else _merge_documents(sides, target, name, arguments, token)
    )


def _named(arguments: argparse.Namespace) -> tuple[list[str], str, str]:
    """Return base, ours and theirs, the document to be made, and what it is called."""
    if arguments.git:
        if len(arguments.as_is) != len(_OF_GIT):
            message = f"--git takes {' '.join(_OF_GIT)}, not {len(arguments.as_is)} arguments"
            raise RefbrowserError(ErrorKind.USAGE, message, advice="other options come before --git")
        *given, name = arguments.as_is
        sides = [os.path.abspath(each) for each in given]
        return sides, sides[1], name
    from refbrowser.exporting.saving.merged_file import MergeRequest

    target = said_of_fields(arguments, MergeRequest).get("target")
    if len(arguments.sides) != _SIDES or target is None:
        raise RefbrowserError(
            ErrorKind.USAGE, "give three documents: refbrowser merge BASE OURS THEIRS -o OUT"
        )
    return arguments.sides, target, arguments.label or target


def _merge_documents(
    sides: list[str], target: str, name: str, arguments: argparse.Namespace, token: CancelToken
) -> int:
    from refbrowser.exporting.saving.merged_file import MergeRequest
    from refbrowser.io.files.atomic import write_own
    from refbrowser.references.merging.conflict_file import conflict_file_text
    from refbrowser.references.merging.merge import Choice
    from refbrowser.tools.merge.merge_words import merge_lines
    from refbrowser.tools.merge.public import merge

    in_place = is_same_file(sides[1], target)
    is_marked = in_place and not arguments.conflicts
    said = {**said_of_fields(arguments, MergeRequest), "target": target}
    base, ours, theirs = (opening_of(each, arguments) for each in sides)
    with ProgressBar("merging") as bar:
        control = job_control(token, bar)
        merged = merge(base, ours, theirs, marks=name if is_marked else "", progress=control, **said)
    if arguments.conflicts and merged.conflicts:
        named = dict(zip(map(str, Choice), sides, strict=True))
        text = conflict_file_text(merged, name, named, arguments.conflicts)
        try:
            write_own(arguments.conflicts, [text.encode("ascii")])
        except RefbrowserError as error:
            if not in_place:
                raise
            # Somebody else's file, or a link, is in its place: no side gets lost for that.
            tell_error(error)
            is_marked = True
            merged = merge(base, ours, theirs, marks=name, progress=control, **said)
    if arguments.json:
        write_json({"target": target, **merged.to_json()})
    else:
        *lines, last = merge_lines(merged, name, are_marked=is_marked)
        for line in lines:
            tell(f"refbrowser: {line}")
        write_line(plain(last))
    return CONFLICTS if merged.conflicts else 0


# Text


def _is_text(sides: list[str], arguments: argparse.Namespace, control: JobControl) -> bool:
    """Tell whether one of the files is no reference document; an empty base is what git gives without any."""
    from refbrowser.tools.merge.merging import is_reference_document

    if any(os.path.isdir(each) for each in sides):
        return False
    requests = [opening_of(each, arguments) for each in sides if os.path.isfile(each)]
    found = [each for each in requests if os.path.getsize(each.path)]
    return not all(is_reference_document(each, control) for each in found)


def _merge_texts(sides: list[str], target: str, name: str) -> int:
    from refbrowser.cli.git_texts import merged_text
    from refbrowser.io.files.atomic import write_atomically

    base, ours, theirs = sides
    text, has_conflicts = merged_text(base, ours, theirs, name)
    write_atomically(target, [text])
    shown = plain(name)
    if has_conflicts:
        tell(f"refbrowser: conflicts are marked in {shown}, which is no reference document")
        return CONFLICTS
    write_line(f"{shown}: merged line by line, it is no reference document")
    return 0
