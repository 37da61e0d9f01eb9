"""Writes a document as it is to be saved, and tells which edit the document needs to be what was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from refbrowser.formats.references import document_chunks, packed_chunks
from refbrowser.io.atomic import write_atomically
from refbrowser.io.cancel import CancelToken
from refbrowser.io.identity import FileIdentity
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import Compound, SetVersion
from refbrowser.references.edits.many_edits import RebaseUrls


@dataclass(frozen=True, slots=True)
class SaveOrder:
    """Where and how a document is saved.

    Attributes
    ----------
    path
        Its suffix (``.gz``, ``.zst``) says how the file is packed.
    version
        0 or 1; None for the document's own.
    prefix
        What relative URLs begin with in the new folder, so that they mean the same; empty to keep them.
    is_copy
        The document stays the one that it was.
    overwrite
        Replace a file that others changed.
    """

    path: str
    version: int | None = None
    prefix: str = ""
    is_copy: bool = False
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the file's identity, the document in it, and the edit that leads there, if one does.

    `document` is None for a copy in Version 0, which is not built in memory; `identity` for a store without
    a document of its own at the root.
    """

    identity: FileIdentity | None
    document: Document | None
    edit: Any = None


def write_document(
    document: Document,
    order: SaveOrder,
    expected: FileIdentity | None = None,
    cancel: CancelToken | None = None,
) -> Written:
    """Write a document.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        It cannot be written in that version, or not at all; the old file is as it was.
    Cancelled
        `cancel` was cancelled.
    """
    edits: list[Any] = [RebaseUrls(order.prefix)] if order.prefix else []
    state = document
    for edit in edits:
        state = state.apply(edit)
    blocks: Iterable[bytes]
    written: Document | None
    if order.version == 0 and state.version == 1 and order.is_copy:
        blocks, written = packed_chunks(state.expansion.to_version0(), order.path), None
    else:
        if order.version is not None and order.version != state.version:
            edits.append(SetVersion(order.version))
            state = state.apply(edits[-1])
        blocks, written = document_chunks(state, order.path), state
    identity = write_atomically(order.path, blocks, expected=expected, cancel=cancel)
    if len(edits) > 1:
        return Written(identity, written, Compound(f"Save as Version {order.version}", tuple(edits)))
    return Written(identity, written, edits[0] if edits else None)
