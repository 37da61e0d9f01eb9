"""Opening files of HDF5 and netCDF-4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.hdf5.hdf5_arrays import Arrays, Contents, add_chunks, spelled
from refbrowser.formats.library.library_contents import shown_path
from refbrowser.formats.library.named_file import Library, LibraryOrigin, open_named_file
from refbrowser.formats.library.process import HDF5
from refbrowser.formats.sniffing import FileKind
from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node
from refbrowser.references.content.origins import Fact
from refbrowser.references.document.manifest import ManifestBuilder

FORMAT = "hdf5"
_LIBRARY = Library(FileKind.HDF5, HDF5, "HDF5", "HDF5 and netCDF-4", "h5py", "hdf5")


@dataclass(frozen=True, eq=False, kw_only=True)
class Hdf5Origin(LibraryOrigin):
    """The file of HDF5 that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    dimensions
        Those that groups declare, by the groups' paths.
    types
        Likewise those that have names.
    """

    dimensions: Mapping[str, Mapping[str, Dimension]] = field(default_factory=dict)
    types: Mapping[str, Mapping[str, DataType]] = field(default_factory=dict)

    def completed(self, hierarchy: Hierarchy, described: Mapping[str, Node]) -> Hierarchy:
        """Return a hierarchy with the dimensions that its groups declare."""
        hierarchy = super().completed(hierarchy, described)
        root: Node = hierarchy.root
        if isinstance(root, GroupNode):
            root = self._completed(root, {})
        return replace(hierarchy, root=root, has_characters=True)

    def _completed(self, group: GroupNode, above: Mapping[str, tuple[str, int]]) -> GroupNode:
        declared = dict(self.dimensions.get(group.path, {}))
        seen = {**above, **{name: (_below(group.path, name), each.size) for name, each in declared.items()}}
        for name, each in group.dimensions.items():
            if name not in seen or seen[name][1] != each.size:
                declared.setdefault(name, each)
                seen[name] = _below(group.path, name), declared[name].size
        arrays = {name: _with_paths(array, seen) for name, array in group.arrays.items()}
        groups = {name: self._completed(below, seen) for name, below in group.groups.items()}
        types = self.types.get(group.path, {})
        return replace(group, dimensions=declared, types=types, arrays=arrays, groups=groups)


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
    """
    named = open_named_file(opening, _LIBRARY)
    contents = Contents.read(named.file, named.identity, opening.token)
    arrays = Arrays(named.file, contents, not named.file.is_here, opening.token)
    manifest = ManifestBuilder(named.url, spell=partial(spelled, complete=arrays.complete))
    arrays.add_nodes(manifest)
    dimensions = {
        shown_path(group): {each.name: each for each in map(_shown, said.values())}
        for group, said in arrays.dimensions.by_group.items()
    }
    origin = Hdf5Origin(
        path=named.url,
        format=FORMAT,
        file=named.file,
        findings=tuple(arrays.findings),
        facts=(Fact("Size", named.size, is_size=True), *_facts(contents)),
        sources=arrays.sources,
        values=arrays.known_values(),
        dimensions=dimensions,
        types=arrays.types(),
    )
    document = manifest.document(
        name=opening.path,
        # Whoever opens many files may look into few.
        later=partial(add_chunks, arrays.placed(), arrays.complete, manifest),
        origin=origin,
        notes=tuple(contents.findings),
    )
    return Opened(document, named.access, named.identity)


def _facts(contents: Contents) -> tuple[Fact, ...]:
    root = contents.groups.get("/", {})
    said = {name: value for name, value, *_ in root.get("attributes", ())}
    written = said.get("_NCProperties")
    return (Fact("Written by", written[:200]),) if isinstance(written, str) else ()
