"""What workers are told of an export, once: what is read, what is made of it, by which versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from refbrowser.engine.frozen_dataset import FrozenDataset, absolute
from refbrowser.engine.workers.peers import check_versions, versions_here, worker_name
from refbrowser.errors import ErrorKind, Place, RefbrowserError

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.request import ExportRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """An export, as those who work on it beside the program that runs it are told of it.

    Attributes
    ----------
    run
        Tells this run from others that make the same.
    source
        What is exported.
    request
        What is made of it; a local target by its absolute path.
    most
        Objects that a task makes, about.
    fingerprint, metadata
        What tells the export from others, and SHA-256 of the metadata that it writes: those that a worker
        finds must be the same.
    versions
        Of what decides about the bytes.
    """

    run: str
    source: FrozenDataset
    request: ExportRequest
    most: int
    fingerprint: str
    metadata: str
    versions: Mapping[str, str]

    @classmethod
    def of(
        cls, dataset: Dataset, request: ExportRequest, *, run: str, most: int, fingerprint: str, metadata: str
    ) -> WorkOrder:
        """Return the order of an export of a dataset that may go (`engine.frozen_dataset.why_here`)."""
        return cls(
            run=run,
            source=FrozenDataset.of(dataset),
            request=replace(request, target=absolute(request.target)),
            most=most,
            fingerprint=fingerprint,
            metadata=metadata,
            versions=versions_here(),
        )

    def dataset(self) -> Dataset:
        """Open what is exported, on a worker.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: the worker has other versions, or cannot read what the program reads; it is named.
        """
        check_versions(f"worker {worker_name()}", versions_here(), self.versions)
        try:
            return self.source.dataset()
        except RefbrowserError as error:
            message = f"worker {worker_name()} cannot read the source: {error.message}"
            place = error.place if error.place else Place(document=self.source.name)
            raise RefbrowserError(ErrorKind.SOURCE, message, place, error.advice) from error

    def check(self, dataset: Dataset, fingerprint: str, metadata: str) -> None:
        """Raise `E_SOURCE` where a worker has opened something else than the program."""
        same = (fingerprint, metadata) == (self.fingerprint, self.metadata)
        if not same or not self.source.is_of(dataset):
            raise RefbrowserError(
                ErrorKind.SOURCE,
                f"worker {worker_name()} finds a different source from this program",
                Place(document=self.source.name),
                "let the path name the same file everywhere",
            )
