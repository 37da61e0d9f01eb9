"""Fold what stands one by one in a reference document into templates and gen rules, compared in full."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from refbrowser.cli.console import ProgressBar, plain, write_json, write_line
from refbrowser.cli.options import (
    add_json,
    add_reading,
    add_request,
    add_templates,
    add_yes,
    job_control,
    open_document,
    said_of_fields,
)
from refbrowser.io.cancel import CancelToken

if TYPE_CHECKING:
    from refbrowser.references.document.fold import Folding

#: Rules that are told.
_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    from refbrowser.exporting.saving.folded_writing import FoldRequest

    parser.add_argument("path", metavar="DOC", help="a reference document")
    add_request(parser, FoldRequest)
    add_json(parser)
    add_reading(parser)
    add_templates(parser)
    add_yes(parser)


def run(arguments: argparse.Namespace, token: CancelToken) -> int:
    """Fold the document, write it, and report."""
    from refbrowser.exporting.saving.folded_writing import FoldRequest
    from refbrowser.tools.fold.public import fold

    said = said_of_fields(arguments, FoldRequest)
    opened = open_document(arguments.path, arguments, token)
    with ProgressBar("folding", "references") as bar:
        folding = fold(opened, **said, progress=job_control(token, bar))
    if arguments.json:
        write_json(_as_json(folding, arguments.path, said["target"]))
    else:
        _write_text(folding, said["target"])
    return 0


def _as_json(folding: Folding, document: str, target: str) -> dict[str, Any]:
    from refbrowser.tools.fold.report import notes_of

    return {
        "document": document,
        "target": target,
        "bytes_before": folding.size_before,
        "bytes_after": folding.size_after,
        "references_bytes_before": folding.references_before,
        "references_bytes_after": folding.references_after,
        "folded": folding.folded,
        "compared": folding.compared,
        "unproved": folding.unproved,
        "rules": [
            {
                **rule.fields,
                "references": rule.keys,
                "bytes_before": rule.size_before,
                "bytes_after": rule.size,
            }
            for rule in folding.rules
        ],
        "templates": dict(folding.templates),
        "kept": [
            {"reason": kept.reason, "references": kept.count, "keys": list(kept.keys)}
            for kept in folding.kept
        ],
        "notes": list(notes_of(folding)),
    }


def _write_text(folding: Folding, target: str) -> None:
    from refbrowser.tools.fold.report import (
        kept_line,
        notes_of,
        proof_of,
        references_of,
        rule_line,
        summary_of,
    )

    rules = [f"  rule {rule_line(rule)}" for rule in folding.rules[:_SHOWN]]
    if len(folding.rules) > _SHOWN:
        rules.append(f"  and {len(folding.rules) - _SHOWN} more")
    kept = [f"  {kept_line(kept)}" for kept in folding.kept]
    told = (f"{target}: {summary_of(folding)}", references_of(folding), *rules, *kept, proof_of(folding))
    for text in filter(None, (*told, *notes_of(folding))):
        write_line(plain(text.replace("\N{NARROW NO-BREAK SPACE}", " ")))
