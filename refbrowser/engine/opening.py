"""From what the user names to a document and its dataset; nothing is read but that and its metadata."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.metadata import Elsewhere, described
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.formats.format import Opened, Opening, OpenProgress, Seen
from refbrowser.formats.opening import open_named
from refbrowser.formats.registry import facet
from refbrowser.io.access.access import Access, lock_path
from refbrowser.io.cancel import linked
from refbrowser.io.origins import ConnectionSettings, Origin, parse_storage_options, scheme_of
from refbrowser.references.document.document import Document

if TYPE_CHECKING:
    from refbrowser.io.fetching.fetch import Fetcher


def _yes(error: RefbrowserError) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """What to open, and how.

    Attributes
    ----------
    path
        A local path or a URL.
    allow
        Origins that the document may read from, as ``--allow`` takes them.
    storage_options
        Connection settings as ``--storage-option`` takes them.
    templates
        Values for templates; used, never saved.
    options
        Options of opening by name, as the command line takes them, or values: see `Format.options`.
    question
        Asked, with the error that a no becomes, above a size that needs a question.
    before_all
        As `Opening.before_all`.
    settings
        Further connection settings, by origin.
    stale
        What becomes of reads of files that are not those of the lock beside the document: see `STALE`.
    allow_codecs
        Codecs of installed packages, or packages with all theirs, that may decode chunks.
    format
        As `Opening.format`.
    """

    path: str
    allow: tuple[str, ...] = ()
    storage_options: tuple[str, ...] = ()
    templates: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    question: Callable[[RefbrowserError], bool] = _yes
    before_all: Callable[[int], None] = lambda left: None
    settings: Mapping[Origin, ConnectionSettings] = field(default_factory=dict)
    stale: str = "refuse"
    allow_codecs: tuple[str, ...] = ()
    format: str = ""


#: How files are read that differ from the lock: they are not, or with a warning for each; or nobody looks.
STALE = ("refuse", "allow", "ignore")


def open_document(
    request: OpenRequest, control: JobControl | None = None, session: Session | None = None
) -> Opened:
    """Open what is named, without looking at what it describes.

    Raises
    ------
    RefbrowserError
        It cannot be read, or no format has it.
    """
    control = control or JobControl()

    def report(progress: OpenProgress) -> None:
        control.progress(progress.bytes_read, progress.total, note=f"{progress.rows} references")

    def confirm(size: int) -> bool:
        place = Place(document=request.path)
        return request.question(RefbrowserError(ErrorKind.BUDGET, f"the document has {size} bytes", place))

    with ExitStack() as stack:
        stack.enter_context(collected_later())
        # Closing cancels what read with it: the caller's token is to outlive that.
        token = stack.enter_context(linked(control.token))

        @cache
        def own() -> Fetcher:
            from refbrowser.io.fetching.fetch import Fetcher

            return stack.enter_context(Fetcher())

        opening = Opening(
            path=request.path,
            seen=Seen.of(request.path),
            allow=tuple(Origin.parse(text) for text in request.allow),
            settings={**request.settings, **parse_storage_options(request.storage_options)},
            values=request.templates,
            options=request.options,
            format=request.format,
            fetcher=own if session is None else lambda: session.fetcher,
            token=token,
            report=report,
            progress=control.progress,
            confirm=confirm,
            before_all=request.before_all,
        )
        opened = open_named(opening)
        if request.allow_codecs:
            opened = replace(opened, access=opened.access.lending(request.allow_codecs))
        return opened


def open_dataset(request: OpenRequest, control: JobControl | None = None) -> Dataset:
    """Open a dataset with a session of its own.

    Raises
    ------
    RefbrowserError
        It cannot be read, or it is of no known format.
    """
    control = control or JobControl()
    if request.stale not in STALE:
        message = f"stale files are treated as {', '.join(STALE)}, not {quoted(request.stale)}"
        raise RefbrowserError(ErrorKind.USAGE, message)
    session = Session()
    try:
        with collected_later():
            opened = open_document(request, control, session)
            dataset = dataset_of(
                request.path, opened.document, opened.access, session, control, stale=request.stale
            )
            dataset.identity = opened.identity
            return dataset
    except BaseException:
        session.close()
        raise


def dataset_of(
    path: str,
    document: Document,
    access: Access,
    session: Session,
    control: JobControl | None = None,
    known: Elsewhere | None = None,
    *,
    stale: str = "ignore",
) -> Dataset:
    """Return the dataset that a document describes.

    Metadata that the document does not hold but refers to is read where that is permitted; else its node is
    "not read yet". What only the data of its format tell (`Format.facets`, ``complete``) is read too: the
    document of the dataset knows it.

    Parameters
    ----------
    known
        Metadata that was read before, so that an edit does not read it again.
    stale
        One of `STALE`: whether the lock beside the document is looked for, and what it is for.
    """
    control = control or JobControl()
    if stale != "ignore" and access.memory.locked is None and _may_be_locked(os.fspath(path), document):
        from refbrowser.engine.locking import hold_against_lock  # Few documents have a lock.

        hold_against_lock(
            os.fspath(path), document, access, lambda: session.fetcher, control.token, allow=stale == "allow"
        )
    complete = facet(document, "complete")
    if complete is not None:
        document = complete(document, session, access, control.token)
    hierarchy, elsewhere = described(document, access, session, control.token, known or {})
    return Dataset(os.fspath(path), document, hierarchy, access, session, elsewhere)


def _may_be_locked(path: str, document: Document) -> bool:
    """Tell whether there is a lock beside a document; of references at a URL only asking tells."""
    if scheme_of(path) is None:
        return os.path.lexists(lock_path(path))
    return not document.rules_are_made
