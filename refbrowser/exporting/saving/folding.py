"""Writes a document folded into templates and gen rules; what was written is read again before it counts."""

from __future__ import annotations

from dataclasses import dataclass

from refbrowser.engine.jobs import JobControl
from refbrowser.exporting.saving.elsewhere import json_place, rebased, write_elsewhere
from refbrowser.references.document.document import Document
from refbrowser.references.edits.fold import Folding, folded


@dataclass(frozen=True, slots=True)
class FoldRequest:
    """Where a folded document goes; its suffix (``.gz``, ``.zst``) says how the file is packed.

    Attributes
    ----------
    rules
        Whether gen rules are made, not templates alone.
    force
        Replace the target.
    """

    target: str
    rules: bool = True
    force: bool = False


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
    Cancelled
        The control's token was cancelled.
    """
    place = json_place(request.target, force=request.force)
    document = rebased(document, base, place)
    folding = folded(document, control, rules=request.rules)
    write_elsewhere(folding.after, place, control)
    return folding
