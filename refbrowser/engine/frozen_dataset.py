"""A dataset as plain values, from which another process opens it again.

Credentials stay where they are: of connection settings the names of profiles and of environment variables go,
which mean something elsewhere only where they are there too.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.engine.dataset import Array, Dataset, Group
from refbrowser.engine.opening import OpenRequest, dataset_of, open_document
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access.access import Access
from refbrowser.io.origins import local_path
from refbrowser.references.document.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document

#: Bytes of a document's text that is given away, whether others see its file or not.
TEXT = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenDataset:
    """What was opened, and how.

    Attributes
    ----------
    name
        What was opened, as the user named it.
    path
        The same, as others open it; empty where they are given the text.
    text
        Of the document, where it was edited, or is small.
    digest
        SHA-256 of the text that the document must have; empty of one that has none.
    templates, options
        Values for its templates, and the options of opening that were said.
    access
        What the user allowed it to read.
    """

    name: str
    path: str
    text: bytes | None
    digest: str
    templates: Mapping[str, str]
    options: Mapping[str, Any]
    access: Access

    @classmethod
    def of(cls, dataset: Dataset) -> FrozenDataset:
        """Return a dataset, which `why_here` lets go, as values."""
        document = dataset.document
        path, text, digest = absolute(dataset.path), None, ""
        # Of a set whose references were left the record files are read there, as they are here.
        if not document.rules_are_made and (not document.is_unread or document.is_edited):
            text = document.to_bytes()
            digest = hashlib.sha256(text).hexdigest()
            if len(text) > TEXT and _is_on_disk(document, path, digest):
                text = None
        return cls(
            name=dataset.path,
            path=path if text is None else "",
            text=text,
            digest=digest,
            templates=dict(document.templates.values),
            options=dict(document.opens_again),
            access=dataset.access,
        )

    def dataset(self) -> Dataset:
        """Open it with a session of its own.

        Raises
        ------
        RefbrowserError
            It cannot be read here.
        """
        session = Session()
        try:
            if self.text is not None:
                document: Document = ReferenceDocument.of(self.text, name=self.name, values=self.templates)
                return dataset_of(self.name, document, self.access, session)
            request = OpenRequest(
                self.path, templates=self.templates, options=self.options, settings=self.access.settings
            )
            opened = open_document(request, session=session)
            access = replace(
                opened.access,
                allowed=self.access.allowed,
                private=self.access.private,
                settings=self.access.settings,
                confirm=self.access.confirm,
                lenders=self.access.lenders,
            )
            if self.access.memory.locked is not None:
                access.memory.hold_against(self.access.memory.locked)
            return dataset_of(self.name, opened.document, access, session)
        except BaseException:
            session.close()
            raise

    def is_of(self, dataset: Dataset) -> bool:
        """Tell whether what was opened by its path has the text that it had; True where it had none."""
        if not self.path or not self.digest:
            return True
        return hashlib.sha256(dataset.document.to_bytes()).hexdigest() == self.digest


def why_here(dataset: Dataset) -> str:
    """Return why no others can read a dataset as it is opened here; empty where they can."""
    document = dataset.document
    if dataset.session.is_closed:
        return "it was closed"
    if not document.rules_are_made:
        return ""
    if dataset.session.only_here:
        return dataset.session.only_here
    if document.is_edited or not all(map(document.holds, document.places.values())):
        return "the source was edited since it was opened"
    return ""


def absolute(path: str) -> str:
    """Return a path for processes that run in other folders; a URL as it is."""
    local = local_path(path)
    return path if local is None else os.path.realpath(local)


def _is_on_disk(document: Document, path: str, digest: str) -> bool:
    """Tell whether the file at a local path is what was opened, unedited."""
    if local_path(path) is None:
        return False
    if document.packed is not None:
        return document.packed.is_of(document.written())
    if document.from_parquet:
        return not document.is_edited
    found = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            while portion := stream.read(TEXT):
                found.update(portion)
    except OSError:
        return False
    return found.hexdigest() == digest


# Pickles of datasets, groups and arrays. Modules that know how to open stand above those of what is opened,
# so it is said here how that is pickled.

#: Datasets of arrays that came from other processes and stay open in this one; one more drops the oldest.
_KEPT = 8
_lock = threading.Lock()
_sent: weakref.WeakKeyDictionary[Dataset, bytes] = weakref.WeakKeyDictionary()
_opened: OrderedDict[bytes, Dataset] = OrderedDict()


def frozen_bytes(dataset: Dataset) -> bytes:
    """Return a dataset as bytes, for `opened_again`.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: no other process can open it, and why.
    """
    why = why_here(dataset)
    if why:
        message = f"the dataset cannot be given to another process: {why}"
        raise RefbrowserError(ErrorKind.USAGE, message, Place(document=dataset.path))
    with _lock:
        known = _sent.get(dataset)
    if known is None:
        known = pickle.dumps(FrozenDataset.of(dataset))
        with _lock:
            _sent[dataset] = known
    return known


def opened_again(data: bytes) -> Dataset:
    """Open a dataset that was pickled; its threads end with it, whoever forgets to close it.

    Raises
    ------
    RefbrowserError
        It cannot be read here, or `E_SOURCE`: another source is found than was opened.
    """
    # Our own words, in a pickle that somebody has decided to load.
    source: FrozenDataset = pickle.loads(data)
    dataset = source.dataset()
    if not source.is_of(dataset):
        dataset.close()
        raise other_source(source.name)
    weakref.finalize(dataset, dataset.session.close)
    return dataset


def other_source(name: str) -> RefbrowserError:
    """Return the error of a path that leads to something else than it did where it was opened."""
    return RefbrowserError(
        ErrorKind.SOURCE,
        "another source is found than was opened",
        Place(document=name),
        "let the path name the same file everywhere",
    )


def _member(data: bytes, path: str) -> Array | Group:
    """Return a group or array that was pickled; those of one dataset share it."""
    key = hashlib.sha256(data).digest()
    with _lock:
        dataset = _opened.get(key)
        if dataset is None or dataset.session.is_closed:
            dataset = _opened[key] = opened_again(data)
        _opened.move_to_end(key)
        while len(_opened) > _KEPT:
            _opened.popitem(last=False)
    return dataset[path]


def reduced(each: Dataset | Array | Group) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return how a dataset, an array or a group is pickled."""
    if isinstance(each, Dataset):
        return opened_again, (frozen_bytes(each),)
    return _member, (frozen_bytes(each.dataset), each.path)
