"""Show where the files of a reference document lie, or write it with URLs that begin otherwise."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import StageBar, plain, tell, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_yes,
    job_control,
    open_document,
    request_of,
)
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.engine.findings.file_probes import Probed
    from refbrowser.formats.format import Opened
    from refbrowser.tools.move.report.move_preview import MovePreview
    from refbrowser.tools.move.report.prefix_tree import PrefixNode
    from refbrowser.tools.move.request import MoveRequest

#: Files of one folder that are listed; all of them with --json.
_LISTED = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.tools.move.request import MoveRequest

    parser.add_argument("path", metavar="DOC", help="a reference document")
    parser.add_argument(
        "old",
        metavar="OLD",
        nargs="?",
        default=None,
        help="what URLs begin with now, once templates are rendered; . for names that are relative to DOC; "
        "without it the places are listed",
    )
    parser.add_argument("new", metavar="NEW", nargs="?", default=None, help="what they begin with then")
    add_request(parser, MoveRequest)
    add_json(parser)
    add_reading(parser)
    add_yes(parser)
    # What the text says moves: values that somebody gives for templates are never written.
    parser.set_defaults(template=[])


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """List the places, or move one of them, and report."""
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.move.public import places
    from refbrowser.tools.move.request import MoveRequest

    if (arguments.old is None) != (arguments.new is None):
        raise RefbrowserError(ErrorKind.USAGE, "OLD needs NEW: what URLs begin with then")
    opened = open_document(arguments.path, arguments, token)
    if arguments.old is None:
        roots = places(opened, progress=JobControl(token))
        if arguments.json:
            write_json([_node_as_json(root) for root in roots])
        else:
            for line in _tree_lines(roots):
                write_line(plain(line))
        return 0
    request = request_of(arguments, MoveRequest, old=arguments.old, new=arguments.new)
    return _move(opened, request, arguments, token)


#: Parts of a move, and units of what is counted.
_STAGES = {"testing": "files", "writing": ""}


def _move(opened: Opened, request: MoveRequest, arguments: argparse.Namespace, token: CancelToken) -> int:
    from refbrowser.tools.move.public import move

    with StageBar(_STAGES) as bar:
        preview = move(
            opened,
            request.old,
            request.new,
            request.target or None,
            template=request.template,
            test=request.is_tested,
            force=request.force,
            progress=job_control(token, bar),
        )
    code = _code_of(preview.tested)
    if arguments.json:
        write_json(_as_json(arguments.path, request, preview))
    else:
        _write_text(request, preview, code)
    return code


def _code_of(probed: Sequence[Probed]) -> int:
    """Return the exit code of a test: that of a missing permission, else of files that are not right."""
    from refbrowser.engine.findings.file_probes import Verdict

    bad = {each.verdict for each in probed if not each.verdict.is_good}
    if Verdict.BLOCKED in bad:
        return ErrorKind.BLOCKED.exit_code
    return ErrorKind.SOURCE.exit_code if bad else 0


def _tree_lines(nodes: Sequence[PrefixNode], depth: int = 0) -> Iterator[str]:
    """Yield a line for each place: files, references, bytes, and the name behind them."""
    from refbrowser.tools.move.report.prefix_tree import PrefixKind
    from refbrowser.words import size_text

    shown = 0
    for node in nodes:
        is_leaf = not node.children
        shown += is_leaf
        if is_leaf and shown > _LISTED:
            continue
        name = "." if node.kind is PrefixKind.RELATIVE else node.name
        name += "..." if node.kind is PrefixKind.RULE else ""
        yield f"{node.files:>9} {node.references:>11} {size_text(node.size):>9}  {'  ' * depth}{name}"
        yield from _tree_lines(node.children, depth + 1)
    if shown > _LISTED:
        yield f"{'':>33}{'  ' * depth}and {shown - _LISTED} more"


def _node_as_json(node: PrefixNode) -> dict[str, Any]:
    return {
        "prefix": node.prefix,
        "kind": str(node.kind),
        "files": node.files,
        "references": node.references,
        "bytes": node.size,
        "children": [_node_as_json(child) for child in node.children],
    }


def _write_text(request: MoveRequest, preview: MovePreview, code: int) -> None:
    from refbrowser.tools.move.report.move_preview import summary_of

    lines = [summary_of(preview)]
    for text in preview.texts:
        lines += [f"  {text.name}", f"    - {text.before}", f"    + {text.after}"]
    for before, after in preview.examples:
        lines += [f"  - {before}", f"  + {after}"]
    lines += [f"  {each.verdict}: {each.probe.after} ({each.words})" for each in preview.tested]
    for line in lines:
        write_line(plain(line.replace("\N{NARROW NO-BREAK SPACE}", " ")))
    for warning in preview.warnings:
        tell(f"refbrowser: warning: {plain(warning.message)}")
    if code:
        write_line("nothing was written, as new places are not right; leave --test out to write all the same")
    elif request.target:
        write_line(plain(f"written: {request.target}"))
    else:
        write_line("nothing was written; give -o OUT")


def _as_json(document: str, request: MoveRequest, preview: MovePreview) -> dict[str, Any]:
    return {
        "document": document,
        "old": request.old,
        "new": request.new,
        "target": request.target or None,
        "written": preview.target is not None,
        "files": preview.files,
        "references": preview.references,
        "urls_in_refs": preview.entries,
        "texts": [{"name": text.name, "before": text.before, "after": text.after} for text in preview.texts],
        "examples": [{"before": before, "after": after} for before, after in preview.examples],
        "warnings": [each.to_json() for each in preview.warnings],
        "test": [
            {
                "before": each.probe.before,
                "after": each.probe.after,
                "found": str(each.verdict),
                "how": each.words,
            }
            for each in preview.tested
        ],
    }
