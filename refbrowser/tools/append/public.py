"""Appending as a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from refbrowser.api import Path, StorageOptions, control_of, path_of, settings_of, texts_of
from refbrowser.errors import native_errors

if TYPE_CHECKING:
    from refbrowser.exporting.combining.appending import Appended
    from refbrowser.exporting.combining.combined import Plan


@native_errors()
def append(
    document: Path,
    files: Path | Iterable[Path],
    target: Path | None = None,
    *,
    along: str = "",
    arrays: str | Iterable[str] = (),
    leave_out: str | Iterable[str] = (),
    accept: str | Iterable[str] = (),
    set_attr: str | Iterable[str] = (),
    force: bool = False,
    skip_bad: bool = False,
    allow: Iterable[str] = (),
    storage_options: StorageOptions = (),
    client: Any = None,
    progress: Callable[..., None] | None = None,
    told: Callable[[Plan], None] = lambda plan: None,
) -> Appended:
    """Add files of data to a reference document; its lock goes along.

    Parameters
    ----------
    document
        The document.
    files
        Paths, URLs, patterns of paths, and ``@FILE`` with one of these a line.
    target
        What is written; the document itself when None.
    along
        The dimension that gets longer; found where it is empty.
    arrays
        Names or paths of the arrays that are added beside those that the document has; all when empty.
    leave_out, accept, set_attr
        As `combine` has them.
    force
        Replace a target that is there.
    skip_bad
        Leave out files that cannot be read.
    allow, storage_options
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
    from refbrowser.exporting.combining.appending import append_files
    from refbrowser.tools.append.request import Addition

    named = [files] if isinstance(files, str | os.PathLike) else list(files)
    path = path_of(document)
    added = Addition(
        target="" if target is None else path_of(target),
        along=along,
        arrays=texts_of(arrays),
        leave_out=texts_of(leave_out),
        accept=texts_of(accept),
        force=force,
    )
    request = added.combination(
        map(path_of, named),
        set_attr=texts_of(set_attr),
        skip_bad=skip_bad,
        allow=texts_of(allow),
        storage_options=settings_of(storage_options, [path, *named, *texts_of(allow)]),
    )
    return append_files(path, request, control_of(progress), Compute.of(client), told)
