"""The edits of a document that was made from a snapshot, as changes of that snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.zarr.documents import NODE_V3, split_key
from refbrowser.limits import LIMITS
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.reference import Missing, Reference
from refbrowser.references.document.document import Document
from refbrowser.references.document.history import Revert
from refbrowser.references.edits.compare import changed_keys
from refbrowser.references.edits.edits import Compound, Edit
from refbrowser.references.edits.node_edits import RenameNode
from refbrowser.references.rules.layouts import NotDecided
from refbrowser.wings.icechunk.changing.change_set import (
    ChangeSet,
    Coords,
    Metadata,
    NodeChange,
    metadata_in,
)
from refbrowser.wings.icechunk.changing.snapshot_tree import encoding_of


def document_changes(
    before: Document, after: Document, pause: Callable[[], None] = lambda: None, edits: Sequence[Edit] = ()
) -> ChangeSet:
    """Return what edits of a document change, as changes of the snapshot that it was made from.

    What was renamed is moved: its chunks are neither read nor listed.

    Parameters
    ----------
    before, after
        States of one document; references that edits did not touch are not compared one by one.
    pause
        Called often; may raise to end the work.
    edits
        That lead from one state to the other, where they are known.

    Raises
    ------
    RefbrowserError
        `E_META`: a key is neither metadata of Zarr v3 nor that of a chunk; a value cannot be read.
    """
    if before is after:
        return ChangeSet()
    moves, before = _moves(before, edits)
    keys = changed_keys(before.refs, after.refs, LIMITS.references, pause) or []
    nodes: dict[str, tuple[Metadata | None, Metadata | None]] = {}
    others: list[str] = []
    for key in keys:
        path, name = split_key(key)
        if name == NODE_V3:
            nodes[path] = (_metadata(before, path), _metadata(after, path))
        else:
            others.append(key)
    chunks: dict[str, dict[Coords, Reference | None]] = {}
    arrays: dict[str, tuple[ChunkKeyEncoding, int] | None] = {}
    for key in others:
        pause()
        path, at = _chunk(key, after, before, arrays)
        chunks.setdefault(path, {})[at] = _reference(after, key)
    for path in chunks:
        if path not in nodes:
            known = _metadata(before, path)
            nodes[path] = (known, known)
    made = [
        NodeChange(path, one, other, {} if other is None else chunks.get(path, {}))
        for path, (one, other) in sorted(nodes.items())
    ]
    return ChangeSet([each for each in made if not each.is_empty], moves).checked()


def _moves(before: Document, edits: Sequence[Edit]) -> tuple[list[tuple[str, str]], Document]:
    """Return which paths are moved before all else, as far as that can be, and the document after that."""
    made: list[tuple[str, str]] = []
    moved = before
    for edit in _single(edits):
        if isinstance(edit, Revert):
            made, moved = [], before
        if isinstance(edit, RenameNode):
            try:
                moved = moved.apply(edit)
            except RefbrowserError:
                # Of what was new, or to where something else was: these are written as what they are now.
                break
            made.append((edit.old, edit.new))
    return made, moved


def _single(edits: Sequence[Edit]) -> Iterator[Edit]:
    for edit in edits:
        if isinstance(edit, Compound):
            yield from _single(edit.edits)
        else:
            yield edit


def _metadata(document: Document, path: str) -> Metadata | None:
    data = document.expansion.value(f"{path}/{NODE_V3}".removeprefix("/"))
    return None if data is None else metadata_in(path, data)


def _chunk(
    key: str,
    after: Document,
    before: Document,
    arrays: dict[str, tuple[ChunkKeyEncoding, int] | None],
) -> tuple[str, Coords]:
    """Return the array that a key of a chunk belongs to, and where the chunk is in it."""
    path = key
    while "/" in path:
        path = path.rpartition("/")[0]
        if path not in arrays:
            said = _metadata(after, path) or _metadata(before, path)
            is_array = said is not None and said.get("node_type") == "array"
            arrays[path] = (encoding_of(said), len(said.get("shape", ()))) if said and is_array else None
        known = arrays[path]
        if known is not None:
            at = known[0].decode(key[len(path) + 1 :], known[1])
            if at is not None:
                return path, at
    message = f"the key {quoted(key)} cannot be committed: it belongs to no array"
    raise RefbrowserError(ErrorKind.META, message, Place(key=key), "a repository holds Zarr v3 alone")


def _reference(document: Document, key: str) -> Reference | None:
    found = document.expansion.reference(key)
    if isinstance(found, NotDecided):
        raise RefbrowserError(ErrorKind.META, "what it refers to is not decided", Place(key=key))
    return None if isinstance(found, Missing) else found
