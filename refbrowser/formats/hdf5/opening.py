"""Opening files of HDF5 and netCDF-4."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.hdf5.hdf5_arrays import Arrays, Contents, read_contents, shown_path, spelled
from refbrowser.formats.library.library_source import LibrarySource
from refbrowser.formats.library.process import HDF5, LibraryFile, library_file
from refbrowser.formats.sniffing import HEAD, FileKind, NotThisError, file_kind
from refbrowser.io.access import Access
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node
from refbrowser.model.values import Pieces, SourceManifest
from refbrowser.references.document.manifest import ManifestBuilder
from refbrowser.references.document.origins import Fact, PlainAnswers

FORMAT = "hdf5"


@dataclass(frozen=True, eq=False)
class Hdf5Origin(PlainAnswers):
    """The file that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    path
        Its URL, or its path with links resolved.
    file
        What reads values that no byte range gives.
    dimensions
        Those that groups declare, by the groups' paths.
    problems
        Which arrays cannot be referenced, and why.
    facts
        What is told of it.
    sources
        What has arrays that are chunks here read by the library, by path.
    """

    path: str
    file: LibraryFile
    dimensions: Mapping[str, Mapping[str, Dimension]] = field(default_factory=dict)
    problems: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: Mapping[str, LibrarySource] = field(default_factory=dict)
    format: str = FORMAT

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, Node]) -> Hierarchy:
        """Return a hierarchy with the dimensions that its groups declare."""
        root: Node = hierarchy.root
        if isinstance(root, GroupNode):
            root = self._completed(root, {})
        return replace(
            hierarchy, root=root, problems=(*hierarchy.problems, *self.problems), has_characters=True
        )

    def _completed(self, group: GroupNode, above: Mapping[str, tuple[str, int]]) -> GroupNode:
        declared = dict(self.dimensions.get(group.path, {}))
        seen = {**above, **{name: (_below(group.path, name), each.size) for name, each in declared.items()}}
        for name, each in group.dimensions.items():
            if name not in seen or seen[name][1] != each.size:
                declared.setdefault(name, each)
                seen[name] = _below(group.path, name), declared[name].size
        arrays = {name: _with_paths(array, seen) for name, array in group.arrays.items()}
        groups = {name: self._completed(below, seen) for name, below in group.groups.items()}
        return replace(group, dimensions=declared, arrays=arrays, groups=groups)

    def by_library(self, node: ArrayNode) -> ArrayNode | None:
        """Return an array that the library reads; None where it has another shape there."""
        source = self.sources.get(node.path)
        if source is None or source.grid.shape != node.shape:
            return None
        manifest = SourceManifest(source, node.path, source.grid)
        return replace(node, values=Pieces(grid=source.grid, manifest=manifest, source=source))

    def told(self) -> Sequence[Fact]:
        """Return its size, and what wrote it."""
        return self.facts


def _shown(dimension: Dimension) -> Dimension:
    return replace(dimension, name=shown_path(dimension.name))


def _below(group: str, name: str) -> str:
    return f"{group.rstrip('/')}/{name}"


def _with_paths(array: ArrayNode, seen: Mapping[str, tuple[str, int]]) -> ArrayNode:
    paths = tuple(
        seen[name][0] if name is not None and name in seen and seen[name][1] == size else None
        for name, size in zip(array.dimensions, array.shape, strict=False)
    )
    return array if paths == array.dimension_paths else replace(array, dimension_paths=paths)


def open_named_hdf5(opening: Opening) -> Opened:
    """Open a file of HDF5 at a path or URL: its metadata is read, and no values.

    Raises
    ------
    RefbrowserError
        `NotThisError`: it is none; `E_USAGE`: h5py is not installed; else it cannot be read.
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
        if kind is not FileKind.HDF5:
            message = f"what is there is no HDF5: {kind}"
            raise NotThisError(ErrorKind.FORMAT, message, Place(document=opening.path))
    if find_spec("h5py") is None:
        raise RefbrowserError(
            ErrorKind.USAGE,
            "HDF5 and netCDF-4 files are opened with h5py, which is not installed",
            Place(document=opening.path),
            "pip install 'refbrowser[hdf5]'",
        )
    file = library_file(HDF5, "HDF5", url, source, identity)
    state = identity if source is None else source.identity
    contents = read_contents(file, state, opening.token)
    manifest = ManifestBuilder(url, spell=spelled)
    arrays = Arrays(file, contents, local is None, opening.token)
    arrays.add_to(manifest)
    dimensions = {
        shown_path(group): {each.name: each for each in map(_shown, said.values())}
        for group, said in arrays.dimensions.by_group.items()
    }
    size = source.size if source is not None else os.path.getsize(url)
    facts = (Fact("Size", size, is_size=True), *_facts(contents))
    origin = Hdf5Origin(url, file, dimensions, tuple(arrays.problems), facts, arrays.sources)
    document = manifest.document(name=opening.path, origin=origin, notes=tuple(contents.findings))
    return Opened(document, access, state)


def _facts(contents: Contents) -> tuple[Fact, ...]:
    root = contents.groups.get("/", {})
    said = {name: value for name, value, *_ in root.get("attributes", ())}
    written = said.get("_NCProperties")
    return (Fact("Written by", written[:200]),) if isinstance(written, str) else ()
