"""A dataset of CDM Remote as a reference document, with the service behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from refbrowser.errors import AbsentError, ErrorKind, Place, RefbrowserError
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.sniffing import NotThisError
from refbrowser.io.access.access import Access
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.io.fetching.fetch import read_document
from refbrowser.io.origins import http_url
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.references.content.origins import PlainAnswers
from refbrowser.references.document.manifest import ManifestDocument
from refbrowser.wings.ncstream.reading.hierarchy import StreamOrigin, document_of_origin
from refbrowser.wings.ncstream.reading.messages import StreamIndex
from refbrowser.wings.ncstream.reading.reading_options import StreamReading
from refbrowser.wings.ncstream.reading.stream_layouts import StreamLayout, StreamLayouts
from refbrowser.wings.ncstream.reading.walk import walk_stream
from refbrowser.wings.ncstream.remote.answers import (
    RemoteSource,
    Sequences,
    SequenceSource,
    asked_grid,
    read_sequences,
)
from refbrowser.wings.ncstream.remote.spec import endpoint_of, header_url
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

if TYPE_CHECKING:
    from refbrowser.io.cancel import CancelToken
    from refbrowser.io.fetching.fetch import Fetcher
    from refbrowser.model.nodes import Hierarchy, Node
    from refbrowser.model.values import ArraySource

FORMAT = "cdmremote"
#: Answers of services have neither (wire notes, section 1).
_NOT_SENT = frozenset({"no-start", "no-end"})


@dataclass(frozen=True, eq=False)
class _Layouts(StreamLayouts):
    """The variables of a service: what its description does not hold is asked for by chunk."""

    sequences: Sequences = field(default_factory=dict)

    @cached_property
    def by_path(self) -> dict[str, StreamLayout]:
        """The layout of each variable by its path, in the order of the definition."""
        return {
            path: _asked_for(layout, self.sequences.get(path)) for path, layout in super().by_path.items()
        }


@dataclass(frozen=True, eq=False)
class _Description(StreamOrigin):
    """The description of a dataset, which is a stream of one header, and what makes the values."""

    sequences: Sequences = field(default_factory=dict)

    @cached_property
    def layouts(self) -> StreamLayouts:
        """How its variables become arrays."""
        return _Layouts(self.index, self.options, self.sequences)

    @cached_property
    def sources(self) -> dict[str, ArraySource]:
        """What makes the values of the variables that stand not in the description, by path."""
        found: dict[str, ArraySource] = dict(super().sources)
        for path, layout in self.layouts.by_path.items():
            sequence = self.sequences.get(path)
            if isinstance(sequence, SequenceSource):
                found[path] = sequence
            elif path in found and layout.variable.immediate is None:
                found[path] = RemoteSource(
                    endpoint=self.index.url,
                    path=path,
                    variable=layout.variable,
                    grid=layout.grid,
                    options=self.options,
                )
        return found


@dataclass(frozen=True, eq=False)
class RemoteOrigin(PlainAnswers):
    """The service that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    header
        Its answer to the request for its description, walked; its messages are no part of the dataset.
    options
        How its answers are read.
    sequences
        Those of the dataset, which were asked for when it was opened.
    """

    header: StreamIndex
    options: StreamReading = field(default_factory=StreamReading)
    sequences: Sequences = field(default_factory=dict)
    format: str = FORMAT

    @property
    def path(self) -> str:
        """URL that requests are sent to."""
        return self.header.url

    @cached_property
    def description(self) -> StreamOrigin:
        """What it says of its dataset."""
        return _Description(self.header, self.options, sequences=self.sequences)

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, Node]) -> Hierarchy:
        """Return a hierarchy as its description completes it."""
        return self.description.completed(hierarchy, described)


def open_named_service(opening: Opening) -> Opened:
    """Open the dataset of a service.

    Raises
    ------
    RefbrowserError
        `NotThisError`: what answers is no such service, and was not named as one; else it cannot be read.
    """
    access = Access.for_document(endpoint_of(opening.path), opening.allow, opening.settings)
    try:
        document = open_remote(
            opening.path,
            access,
            opening.fetcher(),
            options=opening.chosen(StreamReading),
            token=opening.token,
        )
    except RefbrowserError as error:
        is_none = isinstance(error, AbsentError) or error.kind in (ErrorKind.FORMAT, ErrorKind.SOURCE)
        if is_none and http_url(opening.path) == opening.path:
            raise NotThisError.of(error) from error
        raise
    return Opened(document, access)


def open_remote(
    path: str,
    access: Access,
    fetcher: Fetcher,
    *,
    options: StreamReading | None = None,
    token: CancelToken | None = None,
) -> ManifestDocument:
    """Open the dataset of a service of CDM Remote.

    Nothing is asked for but its description, and the sequences in that.

    Parameters
    ----------
    path
        As the user named it: ``cdmremote:http://...``, ``cdmremote://...``, or a URL.
    access
        What may be read, of `Access.for_document` of the endpoint.
    options
        How its answers are read.

    Raises
    ------
    RefbrowserError
        `E_FORMAT`: what answers is no such service; else it cannot be read.
    """
    endpoint = endpoint_of(path)
    answer = read_document(
        header_url(endpoint), access, fetcher=fetcher, cancel=token, size_limit=STREAM_LIMITS.remote_header
    )
    index = walk_stream(MemoryBytes(answer.data), url=access.locate(endpoint).url, token=token)
    if not index.headers:
        said = next((each for each in index.faults if each.code == "stream-error"), None)
        if said is not None:
            raise RefbrowserError(ErrorKind.SOURCE, said.message, Place(url=endpoint))
        raise RefbrowserError(ErrorKind.FORMAT, "the service sends no description", Place(url=endpoint))
    faults = tuple(each for each in index.faults if each.code not in _NOT_SENT)
    options = options or StreamReading()
    sequences = read_sequences(endpoint, index.definition, options, access, fetcher, token)
    return _document(RemoteOrigin(replace(index, faults=faults), options, sequences), path)


def _document(origin: RemoteOrigin, name: str) -> ManifestDocument:
    """Return the document of a service; a variable without data in it is asked for when it is shown."""
    faults = [each.finding(origin.path) for each in origin.header.faults]
    return document_of_origin(origin.description, faults, name=name, origin=origin)


def _asked_for(layout: StreamLayout, sequence: SequenceSource | RefbrowserError | None) -> StreamLayout:
    """Return the layout of a variable with the chunks in which a service is asked for it."""
    if layout.error is not None or layout.variable.immediate is not None:
        return layout
    if isinstance(sequence, RefbrowserError):
        return replace(layout, error=sequence)
    if sequence is not None:
        shape = (sequence.rows,)
        return replace(layout, shape=shape, grid=RegularChunkGrid(shape, (max(sequence.rows, 1),)))
    return replace(layout, grid=asked_grid(layout.variable, layout.shape))
