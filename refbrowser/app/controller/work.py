"""What opened documents have done on worker threads. Imported inside tasks: it loads the layers below.

What only edits, saves and permissions need is imported where it is used: the first rows do not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.app.controller.document_reading import BUILDING, ReadingHooks, refuse_all
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.lending import packages_wanted
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.sources import sources_of
from refbrowser.formats.format import Opening, Seen
from refbrowser.formats.opening import open_named
from refbrowser.formats.references import document_chunks
from refbrowser.formats.registry import REFERENCES, ZARR
from refbrowser.io.access.access import Access, Want
from refbrowser.io.identity import FileIdentity, ObjectIdentity, identity_on_disk
from refbrowser.io.origins import Origin, scheme_of
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.document.extent import EVERYTHING, Extent, extent_of

if TYPE_CHECKING:
    from refbrowser.app.controller.shared_session import SharedSession
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.request import Loss
    from refbrowser.exporting.saving.save import SaveOrder, StoreWritten, WrittenDocument
    from refbrowser.references.content.content import Edit
    from refbrowser.references.content.origins import StoreOrigin
    from refbrowser.references.document.document import Document
    from refbrowser.references.document.fold import Folding
    from refbrowser.references.document.history import History
    from refbrowser.views.changed_rows import Difference


Identity = FileIdentity | ObjectIdentity


@dataclass(frozen=True, slots=True)
class DatasetState:
    """What follows from a document: its dataset, what it wants to read, and which rows are changed.

    `difference` is None where the document is the saved one. `extent` tells what may be another than in the
    dataset before.
    """

    dataset: Dataset
    wants: tuple[Want, ...]
    difference: Difference | None = None
    extent: Extent = EVERYTHING


@dataclass(frozen=True, slots=True)
class Opened:
    """A document that was read."""

    history: History
    state: DatasetState
    identity: Identity | None


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save wrote, what may be read under a new path (None for the old one), and what was lost.

    `into` tells what was written into an opened store; None where a file was.
    """

    written: WrittenDocument
    access: Access | None = None
    losses: tuple[Loss, ...] = ()
    into: StoreWritten | None = None


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What is in a document's file."""

    document: Document
    identity: Identity | None


# Opening


def open_document(
    path: str,
    values: Mapping[str, str],
    allow: Sequence[str],
    options: Mapping[str, Any],
    kept: Mapping[str, Any],
    shared: SharedSession,
    control: TaskControl,
) -> Opened:
    """Read a document, or a store as one, and describe it; news of it goes through `control.send`.

    `options` are those of opening, by name; `kept` those that count where the format has them.

    Raises
    ------
    RefbrowserError
        It cannot be opened.
    """
    hooks = ReadingHooks(control)
    with collected_later():
        opening = Opening(
            path=path,
            seen=Seen.of(path),
            allow=tuple(Origin.parse(text) for text in allow),
            settings=shared.settings,
            values=values,
            options=options,
            kept=kept,
            fetcher=lambda: shared.get().fetcher,
            token=control.token,
            report=hooks.report,
            progress=hooks.progress,
            confirm=hooks.confirm,
            before_all=refuse_all,
        )
        opened = open_named(opening)
        if opened.document.lacking:
            # What the user allowed for always counts for what is read to open it, too.
            known = _with_kept_permission(path, opened.access, opened.document, opened.identity)
            if known.allowed != opened.access.allowed:
                opened = open_named(replace(opening, allow=tuple(known.allowed)))
    document, identity = opened.document, opened.identity
    # Not before: all this takes longer to load than the first rows to be read.
    from refbrowser.engine.opening import dataset_of
    from refbrowser.io.files.hidden_siblings import remove_leftovers
    from refbrowser.references.document.history import History

    if document.store is not None:
        identity = identity_of_store(document.store)
    elif scheme_of(path) is None:
        # Of saves whose process was killed.
        remove_leftovers(path)
    access = opened.access.lending(shared.lenders)
    access = _with_kept_permission(path, access, document, identity)
    control.send(BUILDING)
    control.stage(BUILDING)
    # Nothing is kept from the user: what is stale is marked wherever it is shown.
    dataset = dataset_of(path, document, access, shared.get(), control, stale="allow")
    return Opened(History(dataset.document), state_of(dataset, None), identity)


def as_allowed(opened: Opened, before: Access) -> Opened:
    """Return a document that was read again, with what was allowed for it before."""
    dataset = opened.state.dataset
    access = dataset.access.allow(before.allowed).allow(before.private, private=True)
    granted = dataset.with_access(access.lending(before.lenders))
    return replace(opened, state=state_of(granted, None))


def opened_text(
    path: str,
    text: bytes,
    values: Mapping[str, str],
    allow: Sequence[str],
    shared: SharedSession,
    control: TaskControl,
) -> Opened:
    """Read a document from a text that is not yet in its file: it is to be saved there.

    Raises
    ------
    RefbrowserError
        The text is no document.
    """
    from refbrowser.engine.opening import dataset_of
    from refbrowser.formats.references import open_references
    from refbrowser.references.document.history import History

    access = Access.for_document(path, tuple(Origin.parse(each) for each in allow), shared.settings)
    document = open_references(text, name=path, values=values, cancel=control.token)
    dataset = dataset_of(path, document, access, shared.get(), control, stale="allow")
    history = History(dataset.document)
    history.mark_gone()
    return Opened(history, state_of(dataset, None), identity_on_disk(path))


def opened_mended(
    path: str,
    values: Mapping[str, str],
    allow: Sequence[str],
    shared: SharedSession,
    control: TaskControl,
) -> Opened:
    """Read a document whose file is almost JSON, as what is certainly meant.

    Raises
    ------
    RefbrowserError
        It cannot be read, or what is meant is not certain.
    """
    from refbrowser.errors import ErrorKind, Place, RefbrowserError
    from refbrowser.references.text.mending import mended
    from refbrowser.views.source.broken_text import read_text

    made = mended(read_text(path, control.check), control.check)
    if made is None:
        message = "what is meant is not certain"
        raise RefbrowserError(ErrorKind.JSON, message, Place(document=path), "Mend the text by hand.")
    return opened_text(path, made.data, values, allow, shared, control)


def _with_kept_permission(path: str, access: Access, document: Document, identity: Identity | None) -> Access:
    """Return the access with what the user allowed for always, where file and origins are still the same."""
    from refbrowser.io.files.permissions import Permissions

    if identity is None:
        return access
    wanted = [want.origin for want in access.wanted(sources_of(document)) if want.origin is not None]
    grant = Permissions().granted(path, identity, wanted)
    allowed = access.allow(grant.origins).allow(grant.private, private=True)
    return allowed.lending(grant.lenders)


def rebuilt(
    dataset: Dataset,
    document: Document,
    saved: Document,
    control: TaskControl,
    known: DatasetState | None = None,
) -> DatasetState:
    """Return what follows from an edited document; `known` is what did the last time that it was so."""
    extent = EVERYTHING if document is dataset.document else extent_of(dataset.document, document)
    if known is not None and known.dataset.access is dataset.access:
        return replace(known, difference=_difference(document, saved), extent=extent)
    return replace(state_of(dataset.with_document(document, control), saved), extent=extent)


def edited(document: Document, edit: Edit) -> Document:
    """Return a document after an edit, with what the window asks it first ready."""
    changed = document.apply(edit)
    make_ready(changed)
    return changed


def make_ready(document: Document) -> None:
    """Have ready what the window asks a document first."""
    if not document.is_unread:
        document.expansion.items(0, 1)
        document.refs.find_slot("")


def folding_of(document: Document, control: TaskControl, *, rules: bool) -> Folding:
    """Return what folding a document comes to, with what the window asks it, and the result, first ready."""
    from refbrowser.references.document.fold import folded

    folding = folded(document, control, rules=rules)
    if folding.is_smaller:
        make_ready(folding.after)
    return folding


def state_of(dataset: Dataset, saved: Document | None) -> DatasetState:
    """Return what follows from a dataset; `saved` is None where its document is the saved one."""
    document = dataset.document
    packages = packages_wanted(dataset.hierarchy, dataset.access.lenders)
    wants = (*dataset.access.wanted(sources_of(document)), *packages)
    return DatasetState(dataset, wants, _difference(document, saved))


def _difference(document: Document, saved: Document | None) -> Difference | None:
    if saved is None or saved is document:
        return None
    from refbrowser.views.changed_rows import Difference

    return Difference(document, saved)


def keep_permission(path: str, identity: Identity, access: Access) -> None:
    """Remember for always what a document may read."""
    from refbrowser.io.files.permissions import Grant, Permissions

    Permissions().keep(path, identity, Grant(access.allowed, access.private, access.lenders))


# Finding rows


def row_of_key(document: Document, key: str) -> int | str:
    """Return the row of the Version 0 view that counts for a key, or why there is none."""
    found = document.expansion.find(key)
    if isinstance(found, int):
        return found
    if found is None:
        return f"There is no key {key[:200]}"
    return f"Not known: only {found.rows_checked:,} rows were checked"


def first_row_of(document: Document, dataset: Dataset, path: str) -> int | None:
    """Return the first row of a group or array, a chunk rather than metadata; None where there is none."""
    node = dataset.hierarchy.find(path)
    keys = []
    if isinstance(node, ArrayNode) and node.has_manifest:
        keys.append(node.manifest.key((0,) * len(node.manifest.grid_shape)))
    keys += list(getattr(node, "metadata_keys", ()))
    for key in keys:
        found = document.expansion.find(key)
        if isinstance(found, int):
            return found
    return None


# Saving


def save_document(
    document: Document,
    dataset: Dataset,
    order: SaveOrder,
    expected: Identity | None,
    before: Identity | None,
    control: TaskControl,
) -> Saved:
    """Write a document as ordered; what may be read goes along where it gets another path.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        It cannot be written in that version, or not at all.
    """
    from refbrowser.exporting.saving.lock_beside import take_lock_along
    from refbrowser.exporting.saving.save import write_document
    from refbrowser.io.files.permissions import Permissions
    from refbrowser.references.edits.many_edits import RebaseUrls

    kept = expected if isinstance(expected, FileIdentity) else None
    version = document.version if order.version is None else order.version
    sent, losses = _portable(document, dataset, version, control)
    written = write_document(sent, order, kept, control.token)
    if document.store is not None and written.document is not None:
        # What is open goes on to know of its store.
        same = document if written.edit is None else document.apply(written.edit)
        written = replace(written, document=same)
    if order.path != dataset.path:
        access = _moved_access(dataset.access, order.path)
        moved = RebaseUrls(order.prefix).moved if order.prefix else str
        state = document if written.document is None else written.document
        take_lock_along(dataset.path, order.path, moved, dataset.access, state, access, control)
        return Saved(written, None if order.is_copy else access, losses)
    if order.is_copy:
        return Saved(written, losses=losses)
    if isinstance(before, FileIdentity) and written.identity is not None:
        Permissions().saved(order.path, before, written.identity)
    return Saved(written, losses=losses)


def save_into_folder(before: Document, document: Document, path: str, control: TaskControl) -> Saved:
    """Write what changed of a document into its folder of the parquet form.

    Raises
    ------
    RefbrowserError
        Others changed it since, or it cannot be written.
    """
    from refbrowser.exporting.saving.save import WrittenDocument
    from refbrowser.formats.parquet_references import update_parquet

    update_parquet(before, document, path, cancel=control.token)
    return Saved(WrittenDocument(None, document))


def save_into_store(
    document: Document,
    before: Document,
    ours: Mapping[str, FileIdentity],
    control: TaskControl,
) -> Saved:
    """Write the metadata that differs between two states of a store into it.

    Raises
    ------
    RefbrowserError
        As `refbrowser.exporting.saving.save.save_into_store`.
    """
    from refbrowser.exporting.saving.save import WrittenDocument
    from refbrowser.exporting.saving.save import save_into_store as into

    done = into(document, before, control.token, ours)
    identity = None if document.store is None else identity_of_store(document.store)
    return Saved(WrittenDocument(identity, document), into=done)


def _portable(
    document: Document, dataset: Dataset, version: int, control: TaskControl
) -> tuple[Document, tuple[Loss, ...]]:
    """Return a document as other software reads it, and what that cannot: chunks that are there are named."""
    from refbrowser.exporting.source_losses import unrecorded

    if document.store is None:
        return document, tuple(unrecorded(dataset))
    from refbrowser.exporting.saving.portable_document import portable_document
    from refbrowser.exporting.saving.save import with_consolidated

    portable = portable_document(dataset.with_document(document, control), control, version)
    made, lost = with_consolidated(portable.document, document.store)
    return made, (*portable.losses, *lost)


def _moved_access(access: Access, path: str) -> Access:
    """Return what a document may read under another path: what it may now, its old folder too."""
    moved = Access.for_document(path, (), access.settings)
    allowed = set(access.allowed)
    if not access.from_network:
        allowed.add(Origin("file", folder=access.base))
    moved = moved.allow(allowed).allow(access.private, private=True).lending(access.lenders)
    if moved.base == access.base or access.store is not None:
        # Its URLs mean the same objects as before: what is known of them, and what was read, stays.
        moved = replace(moved, memory=access.memory)
    elif access.memory.locked is not None:
        # What was found to be stale stays marked.
        moved.memory.hold_against(access.memory.locked)
    # Edits of a store that were saved beside it: what is missing there stays missing.
    return replace(moved, store=access.store)


def read_on_disk(
    path: str,
    values: Mapping[str, str],
    store: StoreOrigin | None,
    shared: SharedSession,
    control: TaskControl,
) -> OnDisk:
    """Read what is in a document's file now, or in its store.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    """
    opening = Opening(
        path=path,
        seen=Seen.of(path),
        values=values,
        options={} if store is None else {"flavour": store.flavour},
        fetcher=lambda: shared.get().fetcher,
        token=control.token,
    )
    if store is None:
        opened = REFERENCES.open(opening)
        return OnDisk(opened.document, opened.identity)

    now = identity_of_store(store)
    return OnDisk(ZARR.open(opening).document, now)


def as_written(document: Document, dataset: Dataset, control: TaskControl) -> Document:
    """Return a document as a file of its version holds it: of a store, with references others can follow.

    Raises
    ------
    RefbrowserError
        The store that it was made from cannot be listed.
    """
    return _portable(document, dataset, document.version, control)[0]


def has_text_of(path: str, document: Document, dataset: Dataset, control: TaskControl) -> bool:
    """Tell whether a file has the very bytes that a document was saved as."""
    try:
        with open(path, "rb") as file:
            for block in document_chunks(as_written(document, dataset, control), path):
                control.check()
                if file.read(len(block)) != block:
                    return False
            return not file.read(1)
    except OSError:
        return False


def is_changed_on_disk(error: BaseException) -> bool:
    """Tell whether a save was refused because others changed the file."""
    from refbrowser.io.files.atomic import ChangedOnDiskError

    return isinstance(error, ChangedOnDiskError)


# Beside documents


def sample_path() -> str:
    """Return the path of the document that comes with the program.

    Raises
    ------
    RefbrowserError
        It is not installed.
    """
    from refbrowser.bundled import SAMPLE, resource

    return os.fspath(resource(SAMPLE))


#: Metadata of a root, what tells most of the store first.
_ROOT = (".zmetadata", "zarr.json", ".zattrs", ".zgroup", ".zarray", "root.group.json", "root.array.json")


def watched_file(store: StoreOrigin) -> str | None:
    """Return the path of the file that stands for a store; None where there is none on this machine."""
    if store.container == "zip":
        return None if "://" in store.root else store.root
    if store.container != "folder":
        return None
    folder = os.path.join(store.root, store.folder)
    paths = (os.path.join(folder, name) for name in _ROOT)
    return next((path for path in paths if os.path.isfile(path)), None)


def identity_of_store(store: StoreOrigin) -> FileIdentity | None:
    """Return the state of the file that stands for a store."""
    path = watched_file(store)
    return None if path is None else identity_on_disk(path)
