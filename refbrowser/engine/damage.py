"""What a damaged source has lost: told wherever its values are read, served, drawn or written.

A format feeds it by what it notes while it opens a file (`ReferenceDocument.notes`): every fault is damage.
So are members of archives whose bytes prove to be others than those that were written.
The place of a note names the array or group that it is about; one without a path may concern any array, and
so may one that is marked `Finding.is_anywhere`. A warning is damage where it is marked `Finding.is_loss`.
Values that cannot be had are errors where they are read, beside this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.errors import Finding, Severity, quoted

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def damage_of(dataset: Dataset, paths: Iterable[str] | None = None) -> tuple[Finding, ...]:
    """Return what is damaged in the source of a dataset, in the order in which it was found.

    Parameters
    ----------
    paths
        Absolute paths of arrays or groups: only what may concern one of them, or what is below it. None for
        all of the dataset.
    """
    return tuple(note for note in notes_of(dataset, paths) if note.is_loss or note.severity is Severity.FAULT)


def notes_of(dataset: Dataset, paths: Iterable[str] | None = None) -> tuple[Finding, ...]:
    """Return what was noted of the source, warnings too; `paths` as in `damage_of`."""
    wanted = None if paths is None else tuple(paths)
    return tuple(
        note
        for note in (*dataset.document.notes, *_found_later(dataset))
        if note.is_anywhere or wanted is None or any(_concerns(note.place.path, path) for path in wanted)
    )


def _found_later(dataset: Dataset) -> Iterator[Finding]:
    """Yield the members of archives that turned out to be damaged when they were read, or confirmed."""
    for error in dataset.access.memory.archives.damaged:
        key = error.place.key or ""
        folders = key.split("/")[:-1]
        above = ("/" + "/".join(folders[:depth]) for depth in range(len(folders), 0, -1))
        path = next((path for path in above if dataset.hierarchy.find(path) is not None), None)
        yield Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=f"member {quoted(key)}: {error.message}",
            place=replace(error.place, path=path),
        )


def damage_text(damage: Finding) -> str:
    """Return the words in which damage is told beside values: ``the source is damaged: ...``."""
    return f"the source is damaged: {damage.message}"


def _concerns(about: str | None, path: str) -> bool:
    """Return whether what is said of a path, or of any path where it is None, concerns another one."""
    if about is None:
        return True
    about, path = f"{about.rstrip('/')}/", f"{path.rstrip('/')}/"
    return about.startswith(path) or path.startswith(about)
