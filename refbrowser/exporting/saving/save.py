"""Writes the changed metadata of an opened store into that store; its chunks are never written.

Each object is replaced in one step, so that at every moment it is the old one or the new one, whole. What is
replaced is kept beside the store first, under names that no reader of Zarr takes for a node. Consolidated
metadata is written last, with the same values.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.request import Loss
from refbrowser.formats.flavour import ENTRY
from refbrowser.formats.references import document_chunks, packed_chunks
from refbrowser.formats.stores.metadata_walk import CONSOLIDATED_V3, read_store
from refbrowser.formats.stores.reader import FolderReader, is_safe_key
from refbrowser.formats.zarr.documents import CONSOLIDATED_V2
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.atomic import is_protected, remove_unchanged, write_atomically, write_own
from refbrowser.io.files.own_names import own_folder
from refbrowser.io.identity import NO_FILE, FileIdentity, identity_on_disk
from refbrowser.io.origins import is_below
from refbrowser.limits import LIMITS
from refbrowser.model.metadata_keys import is_metadata_key
from refbrowser.model.nodes import Flavour
from refbrowser.references.document.document import Document
from refbrowser.references.edits.edits import Compound, SetReference, SetVersion
from refbrowser.references.edits.many_edits import RebaseUrls
from refbrowser.references.text.json_edit import pretty, rewrite
from refbrowser.references.text.json_text import JsonError, parse

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobControl
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.content.content import Edit
    from refbrowser.references.content.origins import StoreOrigin
    from refbrowser.references.document.document import Document


_NODE_V3 = "zarr.json"
LEFT_OUT = "there is no consolidated metadata, read it with consolidated=False"


def with_consolidated(document: Document, store: StoreOrigin | None) -> tuple[Document, list[Loss]]:
    """Return a document with the consolidated metadata that its store has, and what was left out.

    Parameters
    ----------
    document
        What will be saved: of the store, or of a part of it.
    store
        None for a document that is no store, which is returned as it is.
    """
    if store is None or not store.is_consolidated:
        return document, []
    found: dict[str, Any] = {}
    for key in document.expansion.metadata_keys():
        value = document.expansion.value(key)
        try:
            found[key] = json.loads(value or b"")
        except ValueError:
            # A copy without this node would hide it.
            return document, [Loss("/", f"{LEFT_OUT}: {quoted(key)} is not JSON in the document")]
    entry = _entry_v3(found) if store.flavour == Flavour.ZARR_V3 else _entry_v2(found)
    if entry is None:
        return document, []
    text = json.dumps(entry[1], ensure_ascii=False)
    if len(text) > LIMITS.inline_value:
        return document, [Loss("/", f"{LEFT_OUT}: it does not fit into the document")]
    return document.apply(SetReference(entry[0], text)), []


def _entry_v2(found: dict[str, Any]) -> tuple[str, Any]:
    entries = {key: value for key, value in found.items() if key != CONSOLIDATED_V2}
    return CONSOLIDATED_V2, {"metadata": entries, "zarr_consolidated_format": 1}


def _entry_v3(found: dict[str, Any]) -> tuple[str, Any] | None:
    root = found.pop(_NODE_V3, None)
    if not isinstance(root, dict):
        return None
    entries = {key.removesuffix(f"/{_NODE_V3}"): value for key, value in found.items()}
    consolidated = {"kind": "inline", "must_understand": False, "metadata": entries}
    return _NODE_V3, {**root, "consolidated_metadata": consolidated}


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
class WrittenDocument:
    """What was written: the file's identity, the document in it, and the edit that leads there, if one does.

    `document` is None for a copy in Version 0, which is not built in memory; `identity` for a store without
    a document of its own at the root.
    """

    identity: FileIdentity | None
    document: Document | None
    edit: Edit | None = None


def write_document(
    document: Document,
    order: SaveOrder,
    expected: FileIdentity | None = None,
    cancel: CancelToken | None = None,
) -> WrittenDocument:
    """Write a document.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        It cannot be written in that version, or not at all; the old file is as it was.
    """
    edits: list[Edit] = [RebaseUrls(order.prefix)] if order.prefix else []
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
        return WrittenDocument(identity, written, Compound(f"Save as Version {order.version}", tuple(edits)))
    return WrittenDocument(identity, written, edits[0] if edits else None)


def write_verified(
    path: str,
    blocks: Iterable[bytes],
    control: JobControl,
    prove: Callable[[str], object],
    expected: FileIdentity | None = None,
) -> int:
    """Write a document, and read it again before it gets its name; return how many bytes it has.

    Parameters
    ----------
    prove
        Called with the path of what was written, whose bytes are right; raises what speaks against it.
    expected
        The state in which the file that is replaced must still be; None for any.

    Raises
    ------
    ChangedOnDiskError
        The file is not the one that `expected` describes.
    RefbrowserError
        It cannot be written, or is not what was written.
    """
    digest = hashlib.sha256()
    written = 0

    def counted() -> Iterator[bytes]:
        nonlocal written
        for block in blocks:
            digest.update(block)
            written += len(block)
            control.progress(written, None)
            yield block

    def prove_all(made: str) -> None:
        with open(made, "rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != digest.hexdigest():
                raise not_written(path)
        prove(made)

    write_atomically(path, counted(), expected=expected, cancel=control.token, prove=prove_all)
    return written


def not_written(path: str) -> RefbrowserError:
    """Return the error of a document that is not what was written."""
    message = "verification failed: the file differs from what was written"
    return RefbrowserError(ErrorKind.IO, message, Place(path=path))


#: The folder with what was replaced is named as the store with this behind, and each file in it as its key.
BACKUP, OLD = ".refbrowser-backup", ".old"
#: Without these an array is no array any more: they are changed, never removed.
_OF_ARRAYS = (".zarray", ".array.json", ".array", ENTRY)
#: What tells that a folder belongs to a store.
_OF_NODES = (ENTRY, ".zgroup", ".zarray", CONSOLIDATED_V2)
_ABSENT: Any = object()
#: What was written by a save that failed, where none did.
NOTHING: Mapping[str, FileIdentity] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StoreChange:
    """What the edits of a store come to.

    Attributes
    ----------
    keys
        Metadata objects that are to be written, in order.
    obstacle
        Why the store cannot be written, or the edits have no place in it; empty where they can be.
    """

    keys: tuple[str, ...] = ()
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class StoreWritten:
    """What was written into a store.

    Attributes
    ----------
    keys
        Metadata objects, consolidated ones too, in the order in which they were written. Where a group was
        opened they begin at the root of the store around it.
    backup
        The folder with what they were before; empty where none was replaced.
    """

    keys: tuple[str, ...]
    backup: str = ""


class PartlyWrittenError(RefbrowserError):
    """An object of the store could not be written, others were before it.

    Attributes
    ----------
    ours
        Identity of each object that was written, by its path; `NO_FILE` of one that was removed. Given to the
        next save they are known to be nobody else's.
    """

    ours: Mapping[str, FileIdentity] = NOTHING


def store_change(
    document: Document, saved: Document, ours: Mapping[str, FileIdentity] = NOTHING
) -> StoreChange:
    """Return what saving into the store would write, and what is in the way.

    Parameters
    ----------
    saved
        The document as it was opened, or last saved into the store.
    ours
        What saves that failed since then have written (`PartlyWrittenError.ours`).
    """
    store = document.store
    if store is None:
        return StoreChange(obstacle="it is not a store")
    now, before = _entries(document), _entries(saved)
    changed = [key for key in {**before, **now} if now.get(key) != before.get(key)]
    # What was written and undone since is in the store all the same.
    top = os.path.realpath(_top(store)) + os.sep
    begun = [path.removeprefix(top).replace(os.sep, "/") for path in ours if path.startswith(top)]
    changed += [key for key in begun if not key.endswith(CONSOLIDATED_V2)]
    keys = tuple(sorted({key for key in changed if is_metadata_key(key)}))
    chunks = [key for key in changed if not is_metadata_key(key)]
    removed = [key for key in keys if key not in now and key.endswith(_OF_ARRAYS)]
    obstacle = _obstacle(store)
    if not obstacle and (chunks or document.frame != saved.frame):
        example = f" ({quoted(chunks[0])})" if chunks else ""
        obstacle = f"references of chunks were edited{example}: a store cannot hold them"
    elif not obstacle and removed:
        obstacle = f"{quoted(removed[0])} was removed: without it an array no longer exists"
    return StoreChange(keys, obstacle)


def _obstacle(store: StoreOrigin) -> str:
    """Return why nothing can be written into a store, or nothing."""
    if store.container == "zip":
        return "it is a zip archive, which is never changed"
    if store.container != "folder":
        return "it is not on this machine"
    top = _top(store)
    if is_protected(top) or not os.access(top, os.W_OK):
        return "it is read-only"
    return ""


def save_into_store(
    document: Document,
    saved: Document,
    token: CancelToken | None = None,
    ours: Mapping[str, FileIdentity] = NOTHING,
) -> StoreWritten:
    """Write the metadata objects that differ between two states of a document into its store.

    Parameters
    ----------
    saved
        The document as it was opened, or last saved into the store.
    token
        Ends the writing before the first object.
    ours
        What saves that failed since then have written (`PartlyWrittenError.ours`): no change by others.

    Raises
    ------
    PartlyWrittenError
        `E_IO`: an object cannot be written: what was written before it is named, and all others are as they
        were.
    RefbrowserError
        `E_USAGE`: the edits have no place in the store; `E_JSON`: an object would be no JSON; `E_IO`: the
        store is read-only, or was changed since it was opened.
    """
    change, store = store_change(document, saved, ours), document.store
    if store is None or change.obstacle:
        message = f"the edits cannot be written into the store: {change.obstacle}"
        advice = "save references beside the store"
        raise RefbrowserError(
            ErrorKind.USAGE, message, Place(path=None if store is None else store.root), advice
        )
    top = os.path.realpath(_top(store))
    # A group that was opened alone may be repeated by the store around it.
    plan = _Plan(_outermost(top), store.flavour, ours)
    below = "" if top == plan.root else f"{os.path.relpath(top, plan.root).replace(os.sep, '/')}/"
    _check_unchanged(document, saved, store, lambda key: plan.is_ours(below + key), token)
    for key in change.keys:
        plan.change(below + key, _value(saved, key), _sound(document, key))
    return plan.carry_out(token)


def _top(store: StoreOrigin) -> str:
    return os.path.join(store.root, store.folder).rstrip(os.sep)


def _outermost(folder: str) -> str:
    """Return the root of the outermost store that a group belongs to, by the metadata above it."""
    while (above := os.path.dirname(folder)) != folder and any(
        os.path.isfile(os.path.join(above, name)) for name in _OF_NODES
    ):
        folder = above
    return folder


def _entries(document: Document) -> dict[str, bytes]:
    """Return the values of `refs` by key, as they are written."""
    refs = document.refs
    slots = (refs.slot(position) for position in range(len(refs)))
    return {refs.key_of(slot): refs.value_text(slot) for slot in slots}


def _value(document: Document, key: str) -> Any:
    """Return the bytes of a metadata document, whatever they are; `_ABSENT` where there is none."""
    return _ABSENT if document.refs.find_slot(key) is None else document.expansion.value(key) or b""


def _sound(document: Document, key: str) -> Any:
    """Return the bytes of a metadata document that is to be written; `_ABSENT` where it is removed.

    Raises
    ------
    RefbrowserError
        `E_JSON`: they are no JSON object.
    """
    data = _value(document, key)
    if data is not _ABSENT and not isinstance(_json(data), dict):
        message = f"{quoted(key)} is not a JSON object in the document: no reader could open the store"
        raise RefbrowserError(ErrorKind.JSON, message, Place(key=key), "correct it first")
    return data


def _json(data: bytes | None) -> Any:
    """Return the value of a text of JSON; None where it is none."""
    try:
        return json.loads(data or b"")
    except (ValueError, RecursionError):
        return None


def _check_unchanged(
    document: Document,
    saved: Document,
    store: StoreOrigin,
    is_ours: Callable[[str], bool],
    token: CancelToken | None,
) -> None:
    """Make sure that the store has the metadata that was opened; what is written already may be there too."""
    contents = read_store(FolderReader(store.root, token), store.flavour)
    found: Mapping[str, bytes] = {} if contents is None else contents.metadata
    known = [key for key in saved.expansion.metadata_keys() if saved.expansion.value(key) is not None]
    for key in dict.fromkeys((*known, *found)):
        states = (saved.expansion.value(key), document.expansion.value(key))
        if not any(_is_same(found.get(key), state) for state in states) and not is_ours(key):
            raise _changed(store.root, key)


def _is_same(data: bytes | None, other: bytes | None) -> bool:
    if data is None or other is None or data == other:
        return data is other or data == other
    value = _json(data)
    return value is not None and _is_equal(value, _json(other))


def _is_equal(value: Any, other: Any) -> bool:
    """Whether two JSON values are the same, in whatever order their members stand."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def _changed(root: str, key: str) -> RefbrowserError:
    message = f"the store was changed by another program since it was opened: {quoted(key)}"
    advice = "reload it, or save references beside it"
    return RefbrowserError(ErrorKind.IO, message, Place(path=root), advice)


@dataclass(slots=True)
class _Object:
    """A metadata object of the store: its bytes on disk (None: there is none), and those it gets."""

    before: bytes | None
    after: bytes | None

    @property
    def json(self) -> Any:
        """The value that it gets; None where that is no JSON."""
        try:
            return None if self.after is None else parse(self.after).to_python()
        except JsonError:
            return None

    def become(self, value: Any) -> None:
        """Change the text where the value is another one."""
        if self.after is None:
            self.after = pretty(value, b"")
        else:
            self.after = rewrite(self.after, parse(self.after), value)


@dataclass(slots=True)
class _Plan:
    """Gathers the objects to write, checks them against the disk, and writes them."""

    root: str
    flavour: Flavour
    #: What saves that failed have written, by path.
    ours: Mapping[str, FileIdentity]
    objects: dict[str, _Object] = field(default_factory=dict)
    #: Those that repeat others: written last, that of the root after all.
    repeating: dict[str, _Object] = field(default_factory=dict)
    identities: dict[str, FileIdentity] = field(default_factory=dict)

    def is_ours(self, key: str) -> bool:
        """Whether an object is still as a save that failed has left it."""
        known = self.ours.get(os.path.join(self.root, *key.split("/")))
        return known is not None and known == self._identity(key)

    def _identity(self, key: str) -> FileIdentity:
        return identity_on_disk(self._path(key)) or NO_FILE

    def change(self, key: str, before: bytes | Any, after: bytes | Any) -> None:
        """Add an object that changes, and those that repeat it."""
        found, json_after = self._read(key), _ABSENT if after is _ABSENT else json.loads(after)
        is_known = found == before or self.is_ours(key)
        if found is None:
            # Of a consolidated store an object may stand in the copy alone.
            is_new = before is _ABSENT or is_known
            if is_new and after is not _ABSENT:
                self.objects[key] = _Object(None, after)
        else:
            # What is as it was opened may be anything: it is corrected.
            own = None if is_known else _parsed(found, key)
            old = _without_copy(own) if self.flavour == Flavour.ZARR_V3 else own
            states = [_json(each) for each in (before, after) if each is not _ABSENT]
            if not is_known and not any(_is_equal(old, state) for state in states):
                # Of a store without consolidated metadata that was found out before.
                message = f"{quoted(key)} differs from the consolidated metadata of the store"
                advice = "consolidate the metadata again and reload, or save references beside the store"
                raise RefbrowserError(ErrorKind.META, message, Place(key=key), advice)
            one = self.repeating.get(key) or _Object(found, found)
            if after is _ABSENT:
                one.after = None
            elif one.after == before:
                one.after = after
            else:
                one.become(_with_copy(one.json, json_after))
            if one is not self.repeating.get(key):
                self.objects[key] = one
        self._repeat(key, json_after)

    def _repeat(self, key: str, value: Any) -> None:
        """Change what repeats an object: consolidated metadata of the groups above it."""
        folder, _, name = key.rpartition("/")
        path, is_v3 = f"{folder}/" if folder else "", name == ENTRY
        if name == CONSOLIDATED_V2:
            return
        above = path if is_v3 else None
        while above != "":
            above = path if above is None else above[: above.rstrip("/").rfind("/") + 1]
            holder = above + (ENTRY if is_v3 else CONSOLIDATED_V2)
            one = self._holder(holder)
            found = None if one is None else one.json
            whole: Any = found if isinstance(found, dict) else {}
            copy = whole.get(CONSOLIDATED_V3) if is_v3 else whole
            entries = copy.get("metadata") if isinstance(copy, dict) else None
            if one is None or not isinstance(entries, dict):
                continue
            entry = key.removeprefix(above).removesuffix(f"/{ENTRY}" if is_v3 else "")
            changed = {name: each for name, each in entries.items() if name != entry or value is not _ABSENT}
            if value is not _ABSENT:
                changed[entry] = _with_copy(entries.get(entry), value)
            copy = {**copy, "metadata": changed}
            one.become({**whole, CONSOLIDATED_V3: copy} if is_v3 else copy)
            self.repeating[holder] = one
            self.objects.pop(holder, None)

    def _holder(self, key: str) -> _Object | None:
        known = self.repeating.get(key) or self.objects.get(key)
        if known is not None:
            return known
        found = self._read(key)
        return None if found is None else _Object(found, found)

    def _path(self, key: str) -> str:
        path = os.path.join(self.root, key)
        if not is_safe_key(key) or not is_below(os.path.realpath(path), os.path.realpath(self.root)):
            raise RefbrowserError(ErrorKind.UNSAFE, "the object would be outside the store", Place(key=key))
        return path

    def _read(self, key: str) -> bytes | None:
        self.identities[key] = self._identity(key)
        answer = FolderReader(self.root).read([key]).get(key)
        if isinstance(answer, RefbrowserError):
            raise answer
        return answer

    def _ordered(self) -> Iterator[tuple[str, _Object]]:
        yield from self.objects.items()
        deepest = sorted(self.repeating, key=lambda key: (-key.count("/"), key))
        yield from ((key, self.repeating[key]) for key in deepest)

    def carry_out(self, token: CancelToken | None) -> StoreWritten:
        """Keep what is replaced, and write all objects one by one."""
        objects = {key: one for key, one in self._ordered() if one.before != one.after}
        for key in objects:
            self._check_writable(key)
        if token is not None:
            token.check()
        backup = self._keep(objects)
        written: dict[str, FileIdentity] = {}
        for key, one in objects.items():
            path, expected = self._path(key), self.identities[key]
            try:
                if one.after is None:
                    remove_unchanged(path, expected)
                    written[key] = NO_FILE
                else:
                    if expected == NO_FILE:
                        os.makedirs(os.path.dirname(path), exist_ok=True)
                    written[key] = write_atomically(path, [one.after], expected=expected)
            except (RefbrowserError, OSError) as error:
                failure = _partly(error, key, list(written), len(objects), backup)
                paths = {os.path.join(self.root, *name.split("/")): each for name, each in written.items()}
                failure.ours = {**self.ours, **paths}
                raise failure from error
        return StoreWritten(tuple(written), backup)

    def _check_writable(self, key: str) -> None:
        path = self._path(key)
        folder = os.path.dirname(path)
        for each in (path, folder):
            if os.path.exists(each) and (is_protected(each) or not os.access(each, os.W_OK)):
                message = f"{quoted(key)} cannot be written: it is read-only"
                advice = "make it writable first, or save references beside the store"
                raise RefbrowserError(ErrorKind.IO, message, Place(path=each), advice)

    def _keep(self, objects: Mapping[str, _Object]) -> str:
        """Copy what will be replaced to a folder beside the store; nothing is written where that fails."""
        if all(one.before is None for one in objects.values()):
            return ""
        folder = _backup_folder(self.root)
        try:
            own_folder(f"{self.root}{BACKUP}")
            for key, one in objects.items():
                if one.before is not None:
                    path = os.path.join(folder, *key.split("/")) + OLD
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    write_own(path, [one.before])
        except (OSError, RefbrowserError) as error:
            reason = error.message if isinstance(error, RefbrowserError) else error.strerror
            message = f"the old metadata cannot be kept beside the store: {reason}"
            advice = "nothing was written; save references beside the store"
            raise RefbrowserError(ErrorKind.IO, message, Place(path=folder), advice) from error
        return folder


def _backup_folder(root: str) -> str:
    """Return a folder that is not there yet, beside a store."""
    stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
    number, folder = 1, os.path.join(f"{root}{BACKUP}", stamp)
    while os.path.exists(folder):
        number += 1
        folder = os.path.join(f"{root}{BACKUP}", f"{stamp}-{number}")
    return folder


def _partly(error: Exception, key: str, written: list[str], count: int, backup: str) -> PartlyWrittenError:
    """Return the error that an object was not written, with what was."""
    reason = error.message if isinstance(error, RefbrowserError) else getattr(error, "strerror", str(error))
    message = f"{quoted(key)} was not written: {reason}"
    named = ", ".join(quoted(each) for each in written[:5]) + (" …" if len(written) > 5 else "")
    done = "nothing was written"
    if written:
        kept = f", what they were is in {backup}" if backup else ""
        done = f"{len(written)} of {count} objects were written before it ({named}){kept}"
    advice = f"{done}; all others are as they were: save again to go on"
    return PartlyWrittenError(ErrorKind.IO, message, Place(key=key), advice)


def _parsed(data: bytes, key: str) -> Any:
    try:
        return parse(data).to_python()
    except JsonError as error:
        message = f"{quoted(key)} of the store is not JSON"
        raise RefbrowserError(ErrorKind.JSON, message, Place(key=key)) from error


def _without_copy(value: Any) -> Any:
    """Return the metadata of a node without what it repeats of those below."""
    if not isinstance(value, dict):
        return value
    return {name: inner for name, inner in value.items() if name != CONSOLIDATED_V3}


def _with_copy(old: Any, value: Any) -> Any:
    """Return the metadata of a node with what the old one repeats of those below, at its place."""
    if not isinstance(old, dict) or CONSOLIDATED_V3 not in old or not isinstance(value, dict):
        return value
    if CONSOLIDATED_V3 in value:
        return value
    members = list(value.items())
    members.insert(list(old).index(CONSOLIDATED_V3), (CONSOLIDATED_V3, old[CONSOLIDATED_V3]))
    return dict(members)
