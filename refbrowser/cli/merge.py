"""Merge what two sides changed of a reference document; exit code 2 when conflicts are left.

As git's merge driver: merge.refbrowser.driver = refbrowser merge %O %A %B -o %A --name %P
"""

from __future__ import annotations

import argparse

from refbrowser.cli.console import ProgressBar, plain, tell, write_json, write_line
from refbrowser.cli.options import add_json, add_origins, add_templates, add_yes, job_control, opening_of
from refbrowser.io.cancel import CancelToken

#: The exit code when conflicts are left: git takes it for a conflict.
CONFLICTS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("base", metavar="BASE", help="the document that both sides began with")
    parser.add_argument("ours", metavar="OURS", help="the document that is changed")
    parser.add_argument("theirs", metavar="THEIRS", help="the document whose changes are taken")
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="the document to be made; it may be OURS"
    )
    parser.add_argument(
        "--favor", choices=("ours", "theirs"), help="whose value is taken where both changed a place"
    )
    parser.add_argument(
        "--conflicts",
        metavar="FILE",
        help="write the conflicts that are left as JSON, which the window opens; no file without any",
    )
    parser.add_argument("--name", metavar="NAME", help="what messages call the document (git: %%P)")
    parser.add_argument("--force", action="store_true", help="replace the target")
    add_json(parser)
    add_origins(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Merge, write, and tell what is at odds."""
    from refbrowser.exporting.saving.merged_file import MergeRequest, merge_files
    from refbrowser.io.atomic import write_own
    from refbrowser.references.merging.conflict_file import conflict_file_text
    from refbrowser.references.merging.merge import Choice
    from refbrowser.views.comparing.merge_words import merge_lines

    request = MergeRequest(
        opening_of(arguments.base, arguments),
        opening_of(arguments.ours, arguments),
        opening_of(arguments.theirs, arguments),
        target=arguments.output,
        favor=None if arguments.favor is None else Choice(arguments.favor),
        force=arguments.force,
    )
    with ProgressBar("merging") as bar:
        merged = merge_files(request, job_control(token, bar))
    if arguments.conflicts and merged.conflicts:
        sides = {str(side): getattr(arguments, side) for side in Choice}
        text = conflict_file_text(merged, arguments.name or arguments.output, sides, arguments.conflicts)
        write_own(arguments.conflicts, [text.encode("ascii")])
    if arguments.json:
        write_json({"target": arguments.output, **merged.to_json()})
    else:
        *lines, last = merge_lines(merged, arguments.name or arguments.output)
        for line in lines:
            tell(f"refbrowser: {_whole(line)}")
        write_line(plain(last))
    return CONFLICTS if merged.conflicts else 0


def _whole(text: str) -> str:
    from refbrowser.errors import quoted

    return quoted(text, limit=len(text))[1:-1]
