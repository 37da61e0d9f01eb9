"""The places of files, and moving to others, as functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import native_errors
from refbrowser.formats.format import Opened

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobControl
    from refbrowser.tools.move.report.move_preview import MovePreview
    from refbrowser.tools.move.report.prefix_tree import PrefixNode


@native_errors()
def places(
    document: Path | Dataset | Opened,
    *,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
) -> tuple[PrefixNode, ...]:
    """Return where the files of a document lie: hosts, buckets and folders, with how much is in each.

    Parameters
    ----------
    document
        The path of a reference document, or an opened dataset.
    allow, storage_options
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    tuple of PrefixNode
        Each with its `prefix`, which `move` takes, `files`, `references`, `size` in bytes, and `children`.

    Raises
    ------
    RefbrowserError
        The document cannot be read.

    Examples
    --------
    >>> import refbrowser
    >>> (root,) = refbrowser.places("sea_surface.json")
    >>> [(node.prefix, node.files) for node in root.children]
    [('data/', 17)]
    """
    from refbrowser.tools.move.moving import places_in

    control = control_of(progress)
    return places_in(_opened(document, allow, storage_options, control).document, control)


@native_errors()
def move(
    document: Path | Dataset | Opened,
    old: str,
    new: str,
    target: Path | None = None,
    *,
    template: str = "",
    test: bool = False,
    force: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    progress: Progress | None = None,
) -> MovePreview:
    """Write a document with URLs that begin otherwise, with its lock; without `target` nothing is written.

    Parameters
    ----------
    document
        The path of a reference document, or an opened dataset.
    old
        What URLs begin with now, once templates are rendered; ``.`` for names relative to the document.
    new
        What they begin with then.
    target
        The document to be made, which may be `document` with `force`; None for none.
    template
        The name of a template that `new` becomes; empty for none.
    test
        Look at some of the files at the new place first: size, first and last bytes. Nothing is written where
        one is not there or differs.
    force
        Replace the target.
    allow, storage_options
        As `open` has them.
    progress
        Called as `progress(done, total, ...)`.

    Returns
    -------
    MovePreview
        `files` and `references` that move, `examples` of URLs before and after, `warnings`, what was found of
        files that were `tested`, the document `after`, and the `target` if it was written.

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
    from refbrowser.exporting.saving.checked_writing import json_place, write_along
    from refbrowser.io.fetching.fetch import Fetcher
    from refbrowser.tools.move.moving import places_in, tested
    from refbrowser.tools.move.report.move_preview import preview_of

    place = None if target is None else json_place(path_of(target), force=force)
    control = control_of(progress)
    opened = _opened(document, allow, storage_options, control)
    said, access = opened.document, opened.access
    if said.templates.values:
        # What somebody gives for templates is never written.
        said = said.with_template_values({})
    preview = preview_of(said, access, places_in(said, control), old, new, template, control.check)
    if test:
        control.stage("testing")
        with Fetcher() as fetcher:
            preview = replace(preview, tested=tuple(tested(said, preview, access, fetcher, control)))
    if place is None or preview.after is None or not preview.is_good:
        return preview
    control.stage("writing")
    moved = str if preview.edit is None else preview.edit.moved
    write_along(said.name or "", access, preview.after, place, control, moved=moved)
    return replace(preview, target=str(target))


def _opened(
    document: Path | Dataset | Opened, allow: Iterable[str], options: StorageOptions, control: JobControl
) -> Dataset | Opened:
    if isinstance(document, Dataset | Opened):
        return document
    path, allowed = path_of(document), texts_of(allow)
    return open_document(OpenRequest(path, allowed, settings_of(options, [path, *allowed])), control)
