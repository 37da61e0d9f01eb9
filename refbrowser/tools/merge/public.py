"""Merging as a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.api import Path, Progress, control_of, path_of
from refbrowser.engine.opening import OpenRequest
from refbrowser.errors import ErrorKind, RefbrowserError, native_errors, quoted

if TYPE_CHECKING:
    from refbrowser.references.merging.merge import Merged


@native_errors()
def merge(
    base: Path,
    ours: Path,
    theirs: Path,
    target: Path | None = None,
    *,
    favor: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Merged:
    """Merge what two sides changed of a reference document.

    Parameters
    ----------
    base
        The document that both sides began with.
    ours, theirs
        What became of it; the result is `ours` with edits.
    target
        The file to be made, which may be `ours`; None for none.
    favor
        ``ours`` or ``theirs``: whose value is taken where both changed a place.
    force
        Replace the target.
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
    from refbrowser.references.merging.merge import Choice

    if favor not in (None, Choice.OURS, Choice.THEIRS):
        raise RefbrowserError(ErrorKind.USAGE, f"favor is 'ours' or 'theirs', not {quoted(favor)}")
    before, mine, other = (OpenRequest(path_of(each)) for each in (base, ours, theirs))
    request = MergeRequest(
        before,
        mine,
        other,
        target=None if target is None else path_of(target),
        favor=None if favor is None else Choice(favor),
        force=force,
    )
    return merge_files(request, control_of(progress))
