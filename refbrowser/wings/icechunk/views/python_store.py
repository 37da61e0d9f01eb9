"""Lines of Python that open a snapshot with icechunk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from refbrowser.io.origins import ConnectionSettings, split_url
from refbrowser.views.plot.snippet_store import StoreCode, literal
from refbrowser.wings.icechunk.writing.containers import Container
from refbrowser.wings.icechunk.writing.repository_place import in_object_store, library, storage_text

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


def store_code(dataset: Dataset) -> StoreCode | None:
    """Return lines that leave a snapshot in ``store``; None where the library cannot reach it."""
    from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin

    origin = dataset.document.origin
    if not isinstance(origin, IcechunkOrigin):
        return None
    is_remote = in_object_store(origin.path)
    if "://" in origin.path and not is_remote:
        return None
    settings = dataset.access.connection(split_url(origin.path).origin) if is_remote else ConnectionSettings()
    return StoreCode(
        (
            f"storage = {storage_text(origin.path, settings)}",
            *_repository_lines(dataset, origin.repository.containers),
            f"# It was opened as {origin.chosen}.",
            f"session = repository.readonly_session(snapshot_id={literal(origin.snapshot.facts.id)})",
            "store = session.store",
        ),
        frozenset({"import icechunk"}),
    )


def _repository_lines(dataset: Dataset, containers: Mapping[str, str]) -> list[str]:
    """Return lines that open the repository, and let virtual chunks be read where it says that they lie."""
    if not containers:
        # The first version keeps them in its configuration.
        return [
            "config = icechunk.Repository.fetch_config(storage)",
            "containers = (config.virtual_chunk_containers if config else None) or ()",
            "granted = icechunk.containers_credentials(dict.fromkeys(containers))",
            "repository = icechunk.Repository.open(storage, authorize_virtual_chunk_access=granted)",
        ]
    granted = map(partial(_granted, dataset), sorted(set(containers.values())))
    return [
        "granted = icechunk.containers_credentials({",
        *granted,
        "})",
        "repository = icechunk.Repository.open(storage, authorize_virtual_chunk_access=granted)",
    ]


def _granted(dataset: Dataset, prefix: str) -> str:
    """Return a line that lets virtual chunks be read: credentials are those of where the code runs."""
    where = split_url(prefix).origin
    container = Container(prefix, where, dataset.access.connection(where))
    return f"    {literal(prefix)}: {container.credentials(library())},"
