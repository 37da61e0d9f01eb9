"""Moving as a function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.tools.move.report.move_preview import MovePreview


@native_errors()
def move(
    document: Path,
    old: str,
    new: str,
    target: Path | None = None,
    *,
    template: str = "",
    force: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
) -> MovePreview:
    """Write a document with URLs that begin otherwise, with its lock; without `target` nothing is written.

    Parameters
    ----------
    document
        The path of a reference document.
    old
        What URLs begin with now, once templates are rendered; ``.`` for names relative to the document.
    new
        What they begin with then.
    target
        The document to be made, which may be `document` with `force`; None for none.
    template
        The name of a template that `new` becomes; empty for none.
    force
        Replace the target.
    allow, storage_options
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    MovePreview
        `files` and `references` that move, `examples` of URLs before and after, `warnings`, and the document
        `after`.

    Raises
    ------
    RefbrowserError
        No URL begins with `old`; the document cannot be read, or the target is there or cannot be written.

    Examples
    --------
    >>> import refbrowser
    >>> refbrowser.move("sea_surface.json", "data/", "https://data.example.org/").examples[0]
    ('data/ice_2024.dat', 'https://data.example.org/ice_2024.dat')
    """
    from refbrowser.engine.sources import listed_sources_of
    from refbrowser.exporting.saving.checked_writing import json_place, write_along
    from refbrowser.tools.move.report.move_preview import preview_of
    from refbrowser.tools.move.report.prefix_tree import prefix_tree

    path = path_of(document)
    place = None if target is None else json_place(path_of(target), force=force)
    settings = settings_of(storage_options, [path, *texts_of(allow)])
    control = control_of(progress)
    opened = open_document(OpenRequest(path, texts_of(allow), settings), control)
    roots = prefix_tree(listed_sources_of(opened.document, control.check), control.check)
    preview = preview_of(opened.document, opened.access, roots, old, new, template, control.check)
    if place is not None and preview.after is not None and preview.edit is not None:
        write_along(path, opened.access, preview.after, place, control, moved=preview.edit.moved)
    return preview
