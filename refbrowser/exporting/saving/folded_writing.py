"""Writes a document folded into templates and gen rules; what was written is read again before it counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.saving.checked_writing import json_place, rebased, write_elsewhere
from refbrowser.formats.option_fields import Kind, documented, option
from refbrowser.references.document.document import Document
from refbrowser.references.document.fold import Folding, folded


@documented
@dataclass(frozen=True, slots=True)
class FoldRequest:
    """Where a folded document goes, and how it is folded."""

    target: str = field(
        metadata=option(
            "--output OUT",
            "the document to be made (.json, .json.gz, .json.zst); with --force it may be DOC itself",
            short="-o",
            about="The document to be made; its suffix (``.gz``, ``.zst``) says how the file is packed.",
        )
    )
    rules: bool = field(
        default=True,
        metadata=option(
            "--no-rules",
            "templates alone: fsspec reads them however it is called, gen rules with simple_templates=False",
            about="Whether gen rules are made, not templates alone.",
            kind=Kind.TICK,
            means=False,
            title="Make gen rules, not templates alone",
            label="Make &gen rules, not templates alone",
            tip="Software that reads no gen rules still reads templates",
        ),
    )
    force: bool = field(
        default=False, metadata=option("--force", "replace the target", kind=Kind.TICK, means=True)
    )


def write_folded(document: Document, base: str, request: FoldRequest, control: JobControl) -> Folding:
    """Fold a document and write it; where nothing gets smaller it is written as it is.

    Parameters
    ----------
    base
        Folder of the document, or the URL that it came from: relative URLs keep their meaning.

    Raises
    ------
    RefbrowserError
        The target is there, or cannot be written; the document cannot be folded.
    """
    place = json_place(request.target, force=request.force)
    document = rebased(document, base, place)
    folding = folded(document, control, rules=request.rules)
    write_elsewhere(folding.after, place, control)
    return folding
