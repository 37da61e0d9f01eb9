"""The file of a local store that is looked at for changes by others: its archive, or the root's metadata."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from refbrowser.io.atomic import identity_on_disk
from refbrowser.io.identity import FileIdentity

if TYPE_CHECKING:
    from refbrowser.references.document.content import StoreOrigin

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
