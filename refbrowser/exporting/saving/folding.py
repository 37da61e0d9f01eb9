"""Writes a document folded into templates and gen rules; what was written is read again before it counts."""

from __future__ import annotations

import os
from dataclasses import dataclass

from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.exporting.folder import FilePlace
from refbrowser.exporting.saving.save import not_written, write_verified
from refbrowser.formats.parquet_text import PARQUET
from refbrowser.formats.references import document_chunks, open_references
from refbrowser.references.document.document import Document
from refbrowser.references.edits.fold import Folding, folded
from refbrowser.references.edits.many_edits import RebaseUrls, prefix_between, relative_urls


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
    if request.target.lower().rstrip("/").endswith(PARQUET):
        message = "the parquet form has no room for templates and gen rules"
        raise RefbrowserError(
            ErrorKind.USAGE, message, Place(path=request.target), "give a name that ends in .json"
        )
    place = FilePlace(request.target)
    place.check_replaceable(force=request.force)
    prefix = prefix_between(base, str(place.target.parent))
    if prefix and next(relative_urls(document.with_template_values({})), None) is not None:
        document = document.apply(RebaseUrls(prefix))
    folding = folded(document, control, rules=request.rules)
    target = os.fspath(place.target)
    made = folding.after

    def prove(path: str) -> None:
        again = open_references(path, values=made.values, cancel=control.token)
        if again.expansion.rows != made.expansion.rows:
            raise not_written(target)

    write_verified(target, document_chunks(made, target), control, prove)
    return folding
