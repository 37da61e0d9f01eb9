"""What workers are told of an export, once: what is read, what may be read, what is made, by which versions.

Credentials stay where they are: of connection settings the names of profiles and of environment variables go,
which mean something on a worker only where it has them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.engine.opening import OpenRequest, dataset_of, open_document
from refbrowser.engine.peers import check_versions, versions_here, worker_name
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.io.access import Access
from refbrowser.io.origins import local_path
from refbrowser.references.document.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.exporting.request import ExportRequest
    from refbrowser.references.document.document import Document

#: Bytes of a document's text that is given to workers, whether they see its file or not.
TEXT = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """An export, as those who work on it beside the program that runs it are told of it.

    Attributes
    ----------
    run
        Tells this run from others that make the same.
    name
        What was opened, as the user named it.
    path
        The same, as workers open it; empty where they are given the text.
    text
        Of the document, where it was edited, or is small.
    digest
        SHA-256 of the text that the document must have; empty of one that has none.
    templates, options
        Values for its templates, and the options of opening that were said.
    access
        What the user allowed it to read.
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
    name: str
    path: str
    text: bytes | None
    digest: str
    templates: Mapping[str, str]
    options: Mapping[str, Any]
    access: Access
    request: ExportRequest
    most: int
    fingerprint: str
    metadata: str
    versions: Mapping[str, str]

    @classmethod
    def of(
        cls, dataset: Dataset, request: ExportRequest, *, run: str, most: int, fingerprint: str, metadata: str
    ) -> WorkOrder:
        """Return the order of an export of a dataset, which `why_here` lets go."""
        document = dataset.document
        path, text, digest = _absolute(dataset.path), None, ""
        if not document.rules_are_made:
            text = document.to_bytes()
            digest = hashlib.sha256(text).hexdigest()
            if len(text) > TEXT and _is_on_disk(document, path, digest):
                text = None
        return cls(
            run=run,
            name=dataset.path,
            path=path if text is None else "",
            text=text,
            digest=digest,
            templates=dict(document.templates.values),
            options=dict(document.opened_with),
            access=dataset.access,
            request=replace(request, target=_absolute(request.target)),
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
        session = Session()
        try:
            if self.text is not None:
                document: Document = ReferenceDocument.of(self.text, name=self.name, values=self.templates)
                access = self.access
            else:
                opened = open_document(
                    OpenRequest(
                        self.path,
                        templates=self.templates,
                        options=self.options,
                        settings=self.access.settings,
                    ),
                    session=session,
                )
                document = opened.document
                access = replace(
                    opened.access,
                    allowed=self.access.allowed,
                    private=self.access.private,
                    settings=self.access.settings,
                    confirm=self.access.confirm,
                )
            return dataset_of(self.name, document, access, session)
        except RefbrowserError as error:
            session.close()
            message = f"worker {worker_name()} cannot read the source: {error.message}"
            place = error.place if error.place else Place(document=self.name)
            raise RefbrowserError(ErrorKind.SOURCE, message, place, error.advice) from error
        except BaseException:
            session.close()
            raise

    def check(self, dataset: Dataset, fingerprint: str, metadata: str) -> None:
        """Raise `E_SOURCE` where a worker has opened something else than the program."""
        same = (fingerprint, metadata) == (self.fingerprint, self.metadata)
        if same and self.path and self.digest:
            same = hashlib.sha256(dataset.document.to_bytes()).hexdigest() == self.digest
        if not same:
            raise RefbrowserError(
                ErrorKind.SOURCE,
                f"worker {worker_name()} finds another source than this program",
                Place(document=self.name),
                "let the path lead to the same file everywhere",
            )


def why_here(dataset: Dataset) -> str:
    """Return why no others can read a dataset as it is opened here; empty where they can."""
    document = dataset.document
    if not document.rules_are_made:
        return ""
    if document.is_edited or not all(map(document.holds, document.places.values())):
        return "the source was edited since it was opened"
    return ""


def _absolute(path: str) -> str:
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
