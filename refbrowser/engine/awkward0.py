"""Opening files of Awkward 0."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING

from refbrowser.engine.collecting import collected_later
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.resources import Resources
from refbrowser.engine.stores import StoreRequest
from refbrowser.errors import ErrorKind, Finding, RefbrowserError
from refbrowser.formats.awkward0.options import Awkward0Options
from refbrowser.formats.sniffing import FileKind, NotReferencesError
from refbrowser.formats.stores.zip_opening import names_archive
from refbrowser.io.access import Access
from refbrowser.io.cancel import linked
from refbrowser.io.origins import local_path
from refbrowser.references.document import ReferenceDocument

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.formats.awkward0.container import Container
    from refbrowser.model.reference import Reference

#: Kinds that may hold arrays where they are on this machine; archives may anywhere.
_LOCAL_KINDS = (FileKind.HDF5, FileKind.FOLDER)


def may_be_awkward(path: str, error: RefbrowserError) -> bool:
    """Return whether what could not be opened as a document or store may hold arrays of Awkward 0.

    Archives whose directory is damaged are among them.
    """
    found = error if isinstance(error, NotReferencesError) else error.__cause__
    is_local = local_path(path) is not None
    if isinstance(found, NotReferencesError):
        return found.found.kind is FileKind.ZIP or (is_local and found.found.kind in _LOCAL_KINDS)
    return error.kind is ErrorKind.FORMAT and is_local and names_archive(path)


def open_awkward0_document(
    request: StoreRequest, resources: Resources | None = None, control: JobControl | None = None
) -> tuple[ReferenceDocument, Access]:
    """Open the arrays in a file or folder; returns their document, and what that may read.

    Parameters
    ----------
    resources
        Their fetcher reads URLs; one is made for the call when None.

    Raises
    ------
    RefbrowserError
        There are none, or they cannot be read.
    Cancelled
        The control's token was cancelled.
    """
    from refbrowser.engine.nested.measuring import with_measured
    from refbrowser.formats.awkward0.opening import open_awkward0

    control = control or JobControl()
    path = request.path
    local = local_path(path)
    if local is not None and os.path.isdir(local):
        # A blob that is not there is an error, and no chunk that was never written.
        access = replace(Access.for_store(path, request.allow, request.settings), store=None)
    else:
        path = path if local is None else os.path.abspath(local)
        access = Access.for_document(path, request.allow, request.settings)
    with ExitStack() as stack:
        stack.enter_context(collected_later())
        resources = resources or stack.enter_context(closing(Resources()))
        # Closing cancels what read with them: the caller's token is to outlive that.
        token = stack.enter_context(linked(control.token))
        document = open_awkward0(
            path,
            access,
            resources.fetcher,
            options=Awkward0Options(request.allow_functions),
            token=token,
            progress=lambda done, total: control.progress(done, total, note="members"),
        )
        document = with_measured(document, resources, access, token)
    return document, access


def blob_reference(document: ReferenceDocument, name: str) -> Reference | None:
    """Return where a blob of the file behind a document lies, by its name in that; None where none is meant.

    Raises
    ------
    RefbrowserError
        It cannot be read.
    """
    container: Container | None = getattr(document.derived, "container", None)
    blob = None if container is None else container.find(name)
    if blob is not None and blob.error is not None:
        raise blob.error
    return None if blob is None else blob.reference


def stored_findings(dataset: Dataset, control: JobControl) -> list[Finding]:
    """Return what is wrong with the blobs and values of a file of Awkward 0, all of them read.

    Raises
    ------
    Cancelled
        The control's token was cancelled.
    """
    derived = dataset.document.derived
    if derived is None or derived.format != "awkward0":
        return []
    from refbrowser.engine.awkward0_soundness import value_findings

    return value_findings(dataset, control)
