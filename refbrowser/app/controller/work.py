"""What opened documents have done on worker threads. Imported inside tasks: it loads the layers below.

What only edits, saves and permissions need is imported where it is used: the first rows do not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from refbrowser.app.controller.reading import read_document
from refbrowser.app.controller.sources import sources_of
from refbrowser.app.tasks import TaskControl
from refbrowser.errors import RefbrowserError
from refbrowser.formats.references import document_chunks
from refbrowser.io.access import Access, Want
from refbrowser.io.identity import FileIdentity, ObjectIdentity
from refbrowser.io.origins import Origin, scheme_of

if TYPE_CHECKING:
    from refbrowser.app.controller.changes import Difference
    from refbrowser.app.controller.shared_session import SharedSession
    from refbrowser.engine.dataset import Dataset
    from refbrowser.references.document import ReferenceDocument
    from refbrowser.references.history import History

Identity = FileIdentity | ObjectIdentity
Problems = Mapping[tuple[str, str | int], str]

#: The sample, below the resources.
SAMPLE = "sample/sea_surface.json"
#: Steps of evaluation that the search for a rule's faults may take before the tree is marked.
FAULT_STEPS = 2_000_000


@dataclass(frozen=True, slots=True)
class DatasetState:
    """What follows from a document: its dataset, what it wants to read, and which rows are changed.

    `difference` is None where the document is the saved one.
    """

    dataset: Dataset
    wants: tuple[Want, ...]
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A document that was read."""

    history: History
    state: DatasetState
    identity: Identity | None


# Opening


def open_document(
    path: str,
    values: Mapping[str, str],
    allow: Sequence[str],
    shared: SharedSession,
    control: TaskControl,
) -> Opened:
    """Read a document and describe it; tells progress and its first rows through `control.send`.

    Raises
    ------
    RefbrowserError
        It cannot be opened.
    Cancelled
        The task was cancelled.
    """
    access = Access.for_document(path, [Origin.parse(text) for text in allow], shared.settings)
    document, identity = read_document(path, access, values, shared, control)
    # Not before: all this takes longer to load than the first rows to be read.
    from refbrowser.engine.opening import dataset_of
    from refbrowser.io.atomic import remove_leftovers
    from refbrowser.references.history import History

    if scheme_of(path) is None:
        # Of saves whose process was killed.
        remove_leftovers(path)
    access = _with_kept_permission(path, access, document, identity)
    dataset = dataset_of(path, document, access, shared.get(), control)
    return Opened(History(document), _state(dataset, None), identity)


def _with_kept_permission(
    path: str, access: Access, document: ReferenceDocument, identity: Identity | None
) -> Access:
    """Return the access with what the user allowed for always, where file and origins are still the same."""
    from refbrowser.io.permissions import Permissions

    if identity is None:
        return access
    wanted = [want.origin for want in access.wanted(sources_of(document)) if want.origin is not None]
    grant = Permissions().granted(path, identity, wanted)
    return access.allow(grant.origins).allow(grant.private, private=True)


def rebuilt(
    dataset: Dataset, document: ReferenceDocument, saved: ReferenceDocument, control: TaskControl
) -> DatasetState:
    """Return what follows from an edited document."""
    return _state(dataset.with_document(document, control), saved)


def _state(dataset: Dataset, saved: ReferenceDocument | None) -> DatasetState:
    document = dataset.document
    wants = tuple(dataset.access.wanted(sources_of(document)))
    difference = None
    if saved is not None and saved is not document:
        from refbrowser.app.controller.changes import Difference

        difference = Difference(document, saved)
    return DatasetState(dataset, wants, difference)


def problems_of(document: ReferenceDocument, control: TaskControl) -> Problems:
    """Return the first fault of each template and gen rule, by kind and name or number."""
    problems: dict[tuple[str, str | int], str] = {}
    for name, error in document.templates.faults:
        problems.setdefault(("template", name), str(error))
    for number, rule in enumerate(document.rules):
        control.check()
        for finding in rule.faults(FAULT_STEPS):
            if finding.severity == "fault":
                problems.setdefault(("rule", number), finding.message)
    return problems


def keep_permission(path: str, identity: Identity, access: Access) -> None:
    """Remember for always what a document may read."""
    from refbrowser.io.permissions import Grant, Permissions

    Permissions().keep(path, identity, Grant(access.allowed, access.private))


# Finding rows


def row_of_key(document: ReferenceDocument, key: str) -> int | str:
    """Return the row of the Version 0 view that counts for a key, or why there is none."""
    found = document.expansion.find(key)
    if isinstance(found, int):
        return found
    if found is None:
        return f"There is no key {key[:200]}"
    return f"Not decided: {found.rows_checked:,} rows were looked at"


def first_row_of(document: ReferenceDocument, dataset: Dataset, path: str) -> int | None:
    """Return the first row of a group or array, a chunk rather than metadata; None where there is none."""
    node = dataset.hierarchy.find(path)
    manifest = getattr(node, "manifest", None)
    keys = []
    if manifest is not None:
        keys.append(manifest.key((0,) * len(manifest.grid_shape)))
    keys += list(getattr(node, "metadata_keys", ()))
    for key in keys:
        found = document.expansion.find(key)
        if isinstance(found, int):
            return found
    return None


# Saving


def save_document(
    document: ReferenceDocument,
    path: str,
    version: int | None,
    expected: Identity | None,
    before: Identity | None,
    control: TaskControl,
) -> FileIdentity:
    """Write a document, as it is or as another version, and return the identity of the new file.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        It cannot be written in that version, or not at all.
    """
    from refbrowser.io.atomic import write_atomically
    from refbrowser.io.permissions import Permissions

    if version == 0 and document.version == 1:
        blocks = document.expansion.to_version0()
    elif version == 1 and document.version == 0:
        from refbrowser.references.edits import SetVersion

        blocks = document_chunks(document.apply(SetVersion(1)), path)
    else:
        blocks = document_chunks(document, path)
    kept = expected if isinstance(expected, FileIdentity) else None
    identity = write_atomically(path, blocks, expected=kept, cancel=control.token)
    if isinstance(before, FileIdentity):
        Permissions().saved(path, before, identity)
    return identity


def is_changed_on_disk(error: BaseException) -> bool:
    """Tell whether a save was refused because others changed the file."""
    from refbrowser.io.atomic import ChangedOnDiskError

    return isinstance(error, ChangedOnDiskError)


# Beside documents


def load_plotting() -> None:
    """Import what plotting needs."""
    import refbrowser.app.plot.pane  # noqa: F401


def sample_path() -> str:
    """Return the path of the document that comes with the program.

    Raises
    ------
    RefbrowserError
        It is not installed.
    """
    from refbrowser.errors import ErrorKind

    package = Path(__file__).resolve().parents[2]
    # In the wheel the resources are a part of the package; in a checkout they lie beside it.
    for folder in (package / "resources", package.parent / "resources"):
        if (folder / SAMPLE).is_file():
            return os.fspath(folder / SAMPLE)
    raise RefbrowserError(ErrorKind.IO, "the sample is not installed")


def versions() -> str:
    """Return the versions of the program and of what it stands on."""
    from importlib.metadata import PackageNotFoundError, version

    lines = []
    for name in (
        "refbrowser",
        "PySide6-Essentials",
        "pyqtgraph",
        "numpy",
        "zarr",
        "numcodecs",
        "fsspec",
        "jinja2",
    ):
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name}: not installed")
    return "\n".join(lines)
