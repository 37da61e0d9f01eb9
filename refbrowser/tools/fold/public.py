"""Folding as a function."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, control_of, document_of, path_of
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import native_errors
from refbrowser.formats.format import Opened
from refbrowser.references.document.document import Document

if TYPE_CHECKING:
    from refbrowser.references.document.fold import Folding


@native_errors()
def fold(
    document: Path | Dataset | Opened | Document | Mapping[str, Any],
    target: Path | None = None,
    *,
    rules: bool = True,
    force: bool = False,
    templates: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Folding:
    """Fold references that stand one by one into templates and gen rules, and compare all of them.

    Parameters
    ----------
    document
        A path or URL, an opened dataset or document, or the document as Python objects.
    target
        The file to be made; None for none.
    rules
        Whether gen rules are made, which fsspec reads with ``simple_templates=False`` only; else templates
        alone.
    force
        Replace the target.
    templates
        Values for templates; used, never saved.
    progress
        Called as `progress(done, total)`.

    Returns
    -------
    Folding
        The folded document (`after`; the same as `before` where nothing gets smaller), its rules and
        templates, sizes before and after, what stays and why, and `notes`: what other software makes of it.

    Raises
    ------
    RefbrowserError
        The document cannot be read or folded; or the target is there, or cannot be written.
    """
    from refbrowser.exporting.saving.folded_writing import FoldRequest, write_folded
    from refbrowser.references.document.fold import folded

    values = dict(templates or {})
    if target is None:
        return folded(document_of(document, values), rules=rules)
    base = os.getcwd()
    if isinstance(document, str | os.PathLike):
        document = open_document(OpenRequest(path_of(document), templates=values))
    if isinstance(document, Dataset | Opened):
        base = document.access.base
    request = FoldRequest(path_of(target), rules=rules, force=force)
    return write_folded(document_of(document, values), base, request, control_of(progress))
