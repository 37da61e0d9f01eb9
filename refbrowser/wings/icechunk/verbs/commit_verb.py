"""Commit changes to a branch of an Icechunk repository; exit code 2 if conflicts are left.

What others have committed since is kept. Changes of different places are merged; where they changed the same
place to a different value, nothing is committed until you say whose value counts.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refbrowser.cli.console import ProgressBar, plain, tell, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    job_control,
    open_dataset,
    said_of_fields,
)
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.wings.icechunk.changing.committing import Committed

#: The exit code when conflicts are left.
CONFLICTS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.wings.icechunk.changing.request import CommitRequest

    parser.add_argument("path", metavar="REPO", help="an Icechunk repository")
    add_request(parser, CommitRequest)
    add_json(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Commit and report."""
    from refbrowser.wings.icechunk.changing.public import commit
    from refbrowser.wings.icechunk.changing.request import CommitRequest

    said = said_of_fields(arguments, CommitRequest)
    arguments.template = []
    with open_dataset(arguments, token) as dataset, ProgressBar("committing") as bar:
        found = commit(dataset, **said, progress=job_control(token, bar))
    if arguments.json:
        write_json(found.to_json())
    else:
        _write_text(found, is_dry=bool(said.get("dry_run")))
    return CONFLICTS if found.conflicts else 0


def _write_text(found: Committed, *, is_dry: bool) -> None:
    from refbrowser.references.merging.merge import Choice
    from refbrowser.tools.merge.merge_words import conflict_sides
    from refbrowser.wings.icechunk.changing.merged_changes import place_of

    for path, line in found.changes.lines():
        write_line(plain(f"{path}: {line}"))
    for conflict in found.conflicts:
        tell(f"refbrowser: conflict: {plain(place_of(conflict))}")
        for choice, text in zip(Choice, conflict_sides(conflict), strict=True):
            tell(f"refbrowser:   {choice.value}: {plain(text)}")
    for stray in found.strays:
        words = f"another program made snapshot {stray} at the same moment, which the branch does not lead to"
        tell(f"refbrowser: note: {words}: if it stays so, merge it with --from {stray}")
    write_line(plain(_summary(found, is_dry=is_dry)))


def _summary(found: Committed, *, is_dry: bool) -> str:
    from refbrowser.words import counted

    where = f"{found.target}, branch {found.branch}"
    merged = ", merged with what others have committed since" if found.is_merged else ""
    copied = f", {counted(found.copied, 'chunk')} written again" if found.copied else ""
    if found.conflicts:
        count = counted(len(found.conflicts), "conflict")
        return f"{where}: nothing committed, {count}. Give --favor, or --settle PLACE=ours|theirs for each."
    if found.snapshot:
        return f"{where}: snapshot {found.snapshot}{merged}{copied}"
    if found.containers:
        return f"{where}: the configuration says where chunks lie now, no snapshot was needed"
    if found.changes.is_empty:
        return f"{where}: nothing to commit"
    return f"{where}: would be committed{merged}" if is_dry else f"{where}: nothing committed"
