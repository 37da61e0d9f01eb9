"""Merging as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors, quoted

if TYPE_CHECKING:
    from refbrowser.references.merging.merge import Merged


@native_errors()
def merge(
    base: Path | OpenRequest,
    ours: Path | OpenRequest,
    theirs: Path | OpenRequest,
    target: Path | None = None,
    *,
    favor: str | None = None,
    marks: str = "",
    force: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    templates: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Merged:
    """Merge what two sides changed of a reference document.

    Parameters
    ----------
    base
        The document that both sides began with: its path, or a `refbrowser.engine.opening.OpenRequest`.
    ours, theirs
        What became of it; the result is `ours` with edits.
    target
        The file to be made, which may be `ours`; None for none.
    favor
        ``ours`` or ``theirs``: whose value is taken where both changed a place.
    marks
        What markers of conflicts call the document: where conflicts are left, the file has both sides between
        such as git writes, and is no document until one of them is removed. Ours stands there when empty, and
        in packed documents.
    force
        Replace the target.
    allow, storage_options, templates
        As `open` has them, for what is given by its path.
    progress
        Called as `progress(done, total, note=...)`.

    Returns
    -------
    Merged
        The merged `document`, its `edits`, the `conflicts` that are left (place, the three values, and the
        `edit` that settles it), and `warnings`.

    Raises
    ------
    RefbrowserError
        A document cannot be read, or is none; the target is there.
    """
    from refbrowser.exporting.saving.merged_file import MergeRequest, merge_files
    from refbrowser.references.merging.conflict_marks import marked
    from refbrowser.references.merging.merge import Choice

    if favor not in (None, Choice.OURS, Choice.THEIRS):
        raise RefbrowserError(ErrorKind.USAGE, f"favor is 'ours' or 'theirs', not {quoted(favor)}")

    def opening(side: Path | OpenRequest) -> OpenRequest:
        if isinstance(side, OpenRequest):
            return side
        path, allowed = path_of(side), texts_of(allow)
        return OpenRequest(
            path, allowed, settings_of(storage_options, [path, *allowed]), dict(templates or {})
        )

    request = MergeRequest(
        opening(base),
        opening(ours),
        opening(theirs),
        target=None if target is None else path_of(target),
        favor=None if favor is None else Choice(favor),
        force=force,
        mark=(lambda mine, other: marked(mine, other, marks)) if marks else None,
    )
    return merge_files(request, control_of(progress))
