"""Listing an opened store in the background: stored and missing chunks of each array, and stray keys."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from refbrowser.engine.jobs import JobControl
from refbrowser.formats.expansion_manifest import single_manifests
from refbrowser.formats.stores.listing_check import (
    Listed,
    ListingCheck,
    list_archive,
    list_folder,
    list_reader,
)
from refbrowser.io.fetching.archive_reading import read_archive
from refbrowser.io.origins import OBJECT_STORES, scheme_of
from refbrowser.model.listing import StoreListing
from refbrowser.model.nodes import ArrayNode

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.findings.finding import Finding

#: Keys after which the progress is told.
_TOLD = 65_536


def can_be_listed(dataset: Dataset) -> bool:
    """Return whether the keys of a dataset's store can be listed: not where it is no store, nor over http."""
    store = dataset.document.store
    return store is not None and (store.container != "url" or scheme_of(store.root) in OBJECT_STORES)


def list_store(dataset: Dataset, control: JobControl | None = None) -> StoreListing | None:
    """List the store of a dataset, once; from then on its manifests know which chunks are missing.

    Returns what was found; None where the store cannot be listed.

    Raises
    ------
    RefbrowserError
        The listing failed.
    Cancelled
        The control's token was cancelled; nothing is known then.
    """
    store = dataset.document.store
    if store is None or not can_be_listed(dataset):
        return None
    if store.facts.listing is None:
        store.facts.listing = _audit(dataset, control or JobControl())
    return store.facts.listing


def _audit(dataset: Dataset, control: JobControl) -> StoreListing:
    audit = ListingCheck(dataset.document.expansion.metadata_keys())
    for node in dataset.hierarchy.walk():
        if isinstance(node, ArrayNode) and not node.has_manifest:
            audit.add_unknown(f"{node.path}/".lstrip("/"))
        elif isinstance(node, ArrayNode) and node.has_manifest:
            for manifest in single_manifests(node.manifest):
                audit.add_array(manifest.prefix, manifest.grid_shape, manifest.encoding)
    done = 0
    for folder, names in _listed(dataset, control, audit):
        audit.add(folder, names)
        if done // _TOLD != (done + len(names)) // _TOLD:
            control.progress(done + len(names), None)
        done += len(names)
    return audit.result(_of_container(dataset))


def _listed(dataset: Dataset, control: JobControl, audit: ListingCheck) -> Iterator[Listed]:
    store, token = dataset.document.store, control.token
    assert store is not None
    if store.container == "folder":
        return list_folder(f"{store.root.rstrip('/')}/{store.folder}", token, audit.leave_out)
    if store.container == "zip":
        fetcher = dataset.session.fetcher
        directory = read_archive(store.root, dataset.access, fetcher, token)
        return list_archive(directory, store.folder, token)
    from refbrowser.formats.stores.reader import BelowFolder
    from refbrowser.formats.stores.remote import UrlReader

    reader = UrlReader(store.root, dataset.access, dataset.session.fetcher, token)
    return list_reader(BelowFolder(reader, store.folder), token)


def _of_container(dataset: Dataset) -> list[Finding]:
    """Return members beside the leading folder of an archive: what is wrong with it is told on opening."""
    store = dataset.document.store
    if store is None or store.container != "zip" or not store.folder:
        return []
    directory = dataset.access.memory.archives.known(store.root)
    names = () if directory is None else directory.names()
    beside = (name for name in names if not name.startswith(store.folder))
    audit = ListingCheck(())
    audit.add("", list(itertools.islice(beside, _TOLD)))
    return list(audit.result().findings)
