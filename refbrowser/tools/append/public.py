"""Appending as a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, Progress, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, native_errors
from refbrowser.loading import load

if TYPE_CHECKING:
    from refbrowser.exporting.appending.appending import Appended
    from refbrowser.exporting.combining.plan import Plan


@native_errors()
def append(
    document: Path,
    files: Path | Iterable[Path],
    target: Path | None = None,
    *,
    along: str = "",
    axis: str | Iterable[str] = (),
    arrays: str | Iterable[str] = (),
    new_dims: str | Iterable[str] = (),
    sort: bool = False,
    reencode: bool = False,
    leave_out: str | Iterable[str] = (),
    leave_out_var: str | Iterable[str] = (),
    take_as: str | Iterable[str] = (),
    inline_var: str | Iterable[str] = (),
    accept: str | Iterable[str] = (),
    set_attr: str | Iterable[str] = (),
    time_units: str = "",
    declares: Path | None = None,
    force: bool = False,
    message: str = "",
    to_branch: str = "",
    native: bool = False,
    skip_bad: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    stale: str = "refuse",
    client: Any = None,
    progress: Progress | None = None,
    told: Callable[[Plan], None] = lambda plan: None,
) -> Appended:
    """Add files of data to a reference document, or to a branch of a repository as a commit.

    Parameters
    ----------
    document
        The document, whose lock goes along, or the repository.
    files
        Paths, URLs, patterns of paths, and ``@FILE`` with one of these a line.
    target
        What is written; the document itself when None.
    along
        The dimension that gets longer; found where it is empty.
    axis
        ``DIM=STEP``: it is a regular axis of time, on which what is missing behind the document is a hole.
    arrays
        Names or paths of the arrays that are added beside those that the document has; all when empty.
    new_dims, sort, reencode, leave_out, leave_out_var, take_as, inline_var, accept, set_attr, time_units
        As `combine` has them.
    declares
        A file with declared properties against which each file is held; that beside the document when None.
    force
        Replace a target that is there.
    message, to_branch
        Of the commit to a repository: empty for what is added, and for ``main``.
    native
        Copy chunks into the repository instead of referring to the files.
    skip_bad
        Leave out files that cannot be read.
    allow, storage_options, stale
        As `open` has them.
    client, progress, told
        As `combine` has them.

    Returns
    -------
    Appended
        The dimension, its length before and after, and the files that were left out, with why.

    Raises
    ------
    RefbrowserError
        A file differs in what would give wrong numbers, or cannot be read; or the document cannot be written.
    """
    from refbrowser.engine.compute import Compute
    from refbrowser.exporting.appending.appending import append_files
    from refbrowser.exporting.combining.combination import Combination

    named = [files] if isinstance(files, str | os.PathLike) else list(files)
    path = path_of(document)
    request = Combination(
        sources=tuple(path_of(each) for each in named),
        target="" if target is None else path_of(target),
        concat=(along,) if along else (),
        axis=texts_of(axis),
        new_dims=texts_of(new_dims),
        sort=sort,
        reencode=reencode,
        arrays=texts_of(arrays),
        leave_out=texts_of(leave_out),
        leave_out_var=texts_of(leave_out_var),
        take_as=texts_of(take_as),
        inline_var=texts_of(inline_var),
        accept=texts_of(accept),
        set_attr=texts_of(set_attr),
        time_units=time_units,
        declares="" if declares is None else path_of(declares),
        force=force,
        skip_bad=skip_bad,
        allow=texts_of(allow),
        storage_options=settings_of(storage_options, [path, *named, *texts_of(allow)]),
        stale=stale,
    )
    chosen = {"message": message, "to_branch": to_branch, "native": native}
    to_store = _adding(path)
    if to_store is not None:
        return to_store(path, request, control_of(progress), Compute.of(client), told, chosen)
    if any(chosen.values()):
        text = "--message, --to-branch and --native are for Icechunk repositories"
        raise RefbrowserError(ErrorKind.USAGE, text, Place(document=path))
    return append_files(path, request, control_of(progress), Compute.of(client), told)


def _adding(path: str) -> Callable[..., Appended] | None:
    """Return what adds files to what is at a path, where its format does that in a way of its own."""
    from refbrowser.formats.format import Score, Seen
    from refbrowser.formats.registry import BUILT_IN

    seen = Seen.of(path)
    for format in BUILT_IN:
        named = format.facets.get("add_files")
        if named is not None and format.sniff is not None and format.sniff(seen) >= Score.SUFFIX:
            found: Callable[..., Appended] = load(named)
            return found
    return None
