"""Opening files of TIFF."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.library.library_source import LibrarySource
from refbrowser.formats.library.process import TIFF, LibraryFile, library_file
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.formats.tiff.tiff_arrays import TiffArrays
from refbrowser.formats.tiff.tiff_contents import TiffContents, read_contents
from refbrowser.io.access import Access
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.values import Pieces, SourceManifest
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.references.document.origins import Fact, PlainAnswers

FORMAT = "tiff"


@dataclass(frozen=True, eq=False)
class TiffOrigin(PlainAnswers):
    """The file that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    file
        What reads values that no byte range gives.
    problems
        Which arrays cannot be referenced, and why.
    facts
        What is told of it.
    sources
        What has arrays that are chunks here read by the library, by path.
    """

    path: str
    file: LibraryFile
    problems: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: Mapping[str, LibrarySource] = field(default_factory=dict)
    format: str = FORMAT

    def completed(self, hierarchy: Hierarchy, described: object) -> Hierarchy:
        """Return a hierarchy with what is wrong with the arrays."""
        return replace(hierarchy, problems=(*hierarchy.problems, *self.problems))

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return an array that the library reads; None where it has another shape there."""
        source = self.sources.get(node.path)
        if source is None or source.grid.shape != node.shape:
            return None
        manifest = SourceManifest(source, node.path, source.grid)
        return replace(node, values=Pieces(grid=source.grid, manifest=manifest, source=source))

    def told(self) -> Sequence[Fact]:
        """Return its size, and how it is laid out."""
        return self.facts


def open_named_tiff(opening: Opening) -> Opened:
    """Open a file of TIFF at a path or URL: its metadata is read, and no values.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; `E_USAGE`: tifffile is not installed; else it cannot be read.
    Cancelled
        The opening was cancelled.
    """
    local = opening.seen.local
    url = opening.path if local is None else os.path.realpath(local)
    identity = opening.identity()
    source = None
    if local is not None:
        access = Access.for_document(opening.path, opening.allow, opening.settings)
    else:
        source = opening.remote()
        access = source.access
        kind = file_kind(bytes(source.read(0, HEAD)))
        if kind is not FileKind.TIFF:
            message = f"what is there is no TIFF: {kind}"
            raise NotThisError(ErrorKind.FORMAT, message, Place(document=opening.path))
    if find_spec("tifffile") is None:
        raise RefbrowserError(
            ErrorKind.USAGE,
            "TIFF files are opened with tifffile, which is not installed",
            Place(document=opening.path),
            "pip install 'refbrowser[tiff]'",
        )
    file = library_file(TIFF, "TIFF", url, source, identity)
    state = identity if source is None else source.identity
    contents = read_contents(file, state, opening.token)
    size = source.size if source is not None else os.path.getsize(url)
    manifest = ManifestBuilder(url)
    arrays = TiffArrays(file, contents, size, local is None, opening.token)
    arrays.add_to(manifest)
    origin = TiffOrigin(url, file, tuple(arrays.problems), _facts(contents, size), arrays.sources)
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(contents.findings))
    return Opened(document, access, state)


def _facts(contents: TiffContents, size: int) -> tuple[Fact, ...]:
    head = contents.head
    version = "BigTIFF" if head.get("big") else "classic"
    order = "big-endian" if head.get("order") == ">" else "little-endian"
    return Fact("Version", f"{version}, {order}"), Fact("Size", size, is_size=True)
