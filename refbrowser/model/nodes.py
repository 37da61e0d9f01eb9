"""What a dataset is: a tree of groups and arrays with attributes and dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.data_type import UNKNOWN, DataType
from refbrowser.model.flavour import Flavour
from refbrowser.model.grid import ChunkGrid, ChunkPart
from refbrowser.model.values import (
    NO_MANIFEST,
    NO_VALUES,
    ArraySource,
    ChunkManifest,
    Chunks,
    CodecSpec,
    NoValues,
    SourcePiece,
    Values,
)

if TYPE_CHECKING:
    from refbrowser.model.nested import NestedValues


@dataclass(frozen=True, slots=True)
class Dimension:
    """A named length, shared by the arrays of its group and the groups below."""

    name: str
    size: int
    unlimited: bool = False


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class ArrayNode:
    """One array (variable): its metadata and the references of its chunks.

    An array whose metadata is broken has `error` set and may have any other field at its default; one whose
    codecs or type are not known has `unreadable` set: it is browsable, its values are not readable.

    Attributes
    ----------
    path
        Absolute, for example ``/ocean/temp``; ``/`` for a root array.
    type
        What an element is.
    values
        What gives its elements.
    fill_value
        As a numpy scalar of `dtype`, or None when the metadata gives none.
    fill_marks
        Readers of its format take the fill value as the mark of missing values, as those of Zarr v2 do;
        else just chunks that are not stored hold it, and ``_FillValue`` alone is such a mark.
    format
        ``zarr-v2``, ``zarr-v3`` or ``zarr-v3-draft``: whose rules the codecs follow.
    metadata_keys
        Keys of the documents that describe it (``temp/.zarray``, ``temp/.zattrs``).
    dimension_paths
        Fully qualified name of each dimension where it is a declared one (``/ocean/x``, no escapes), None for
        an anonymous one.
    attribute_types
        netCDF type (``char``, ``string``, ``int``...) of the attributes whose type the metadata records.
    internal_attributes
        Attributes that the format keeps for itself (``_nczarr_array``, ``_ARRAY_DIMENSIONS``), as stored.
    lenders
        Installed packages, with their versions, whose codecs the user allowed, by the name of the codec.
    """

    path: str
    shape: tuple[int, ...] = ()
    type: DataType = UNKNOWN
    dimensions: tuple[str | None, ...] = ()
    values: Values | NoValues = NO_VALUES
    fill_value: Any = None
    fill_marks: bool = True
    attributes: Mapping[str, Any] = field(default_factory=dict)
    format: str = "zarr-v2"
    metadata_keys: tuple[str, ...] = ()
    dimension_paths: tuple[str | None, ...] = ()
    attribute_types: Mapping[str, str] = field(default_factory=dict)
    internal_attributes: Mapping[str, Any] = field(default_factory=dict)
    error: RefbrowserError | None = None
    unreadable: RefbrowserError | None = None
    lenders: Mapping[str, str] = field(default_factory=dict)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy type of the decoded elements, or None when unknown."""
        return self.type.dtype

    @property
    def known_dtype(self) -> np.dtype[Any]:
        """The numpy type of the decoded elements; asking an array whose type is not known raises why."""
        if self.type.dtype is None:
            raise self._lacking("the type of its elements is not known")
        return self.type.dtype

    @property
    def fill_element(self) -> Any:
        """What is assigned to elements that nothing gives; a row of its own length is one element."""
        element = np.zeros((), self.known_dtype)
        if self.fill_value is not None:
            element[()] = self.fill_value
        return element

    @property
    def name(self) -> str:
        """Last part of the path; empty for a root array."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def key_prefix(self) -> str:
        """What stands before the keys of its chunks: ``ocean/temp/``; empty for a root array."""
        divided = self.values.divided
        if divided is not None and divided.prefix is not None:
            return divided.prefix
        return f"{self.path.strip('/')}/".removeprefix("/")

    @property
    def has_grid(self) -> bool:
        """Whether it is known how it is divided into chunks."""
        return self.values.divided is not None

    @property
    def has_manifest(self) -> bool:
        """Whether anything is known of where its chunks are."""
        divided = self.values.divided
        return divided is not None and divided.manifest is not NO_MANIFEST

    @property
    def assembled(self) -> ArraySource | None:
        """What gives the pieces that its chunks are assembled from; None where they are not."""
        return self.values.assembled

    def pieces(self, part: ChunkPart) -> Iterable[SourcePiece]:
        """Return what gives the elements of a part where it is assembled; nothing where it is not."""
        return () if self.assembled is None else self.assembled.pieces(part)

    @property
    def not_referencable(self) -> str:
        """Why no references can give its values, in words; empty where they can, or nothing is said."""
        return self.values.why

    @property
    def nested(self) -> NestedValues | None:
        """What makes its rows where its elements are nested; None where they are not."""
        return self.values.nested

    @property
    def rows(self) -> NestedValues:
        """What makes its rows; asking an array whose elements are not nested is an error."""
        if self.nested is None:
            raise self._lacking("the elements of the array are not nested")
        return self.nested

    @property
    def is_made(self) -> bool:
        """Whether its chunks are made from any number of ranges, and none is stored as one."""
        return self.has_grid and self.values.encoded is None

    @property
    def grid(self) -> ChunkGrid:
        """The chunks in which it is read; asking an array that has none raises why (`RefbrowserError`)."""
        return self._divided.grid

    @property
    def manifest(self) -> ChunkManifest:
        """Where its chunks are; asking an array that has none raises why (`RefbrowserError`)."""
        return self._divided.manifest

    @property
    def chunk_keys(self) -> ChunkKeyEncoding:
        """How the keys of its chunks are written; asking an array that has none raises why."""
        return self._divided.keys

    @property
    def chunks(self) -> Chunks:
        """Its values as encoded chunks; asking an array that has other ones is an error."""
        encoded = self.values.encoded
        if encoded is None:
            raise self._lacking("the array has no encoded chunks")
        return encoded

    def over(self, grid: ChunkGrid) -> Values:
        """Return its values over chunks of another grid."""
        return replace(self._divided, grid=grid)

    @property
    def codecs(self) -> tuple[CodecSpec, ...]:
        """Codecs of its chunks in encoding order, as the metadata names them."""
        return self.values.codecs

    @property
    def order(self) -> str:
        """``C`` or ``F``: memory layout within a chunk."""
        return self.values.order

    @property
    def _divided(self) -> Values:
        divided = self.values.divided
        if divided is None:
            raise self._lacking("the array has no chunks")
        return divided

    def _lacking(self, message: str) -> RefbrowserError:
        return (
            self.error or self.unreadable or RefbrowserError(ErrorKind.META, message, Place(path=self.path))
        )


_ARRAY_FIELDS = tuple(each.name for each in fields(ArrayNode))
_array_fields = attrgetter(*_ARRAY_FIELDS)


def changed_array(node: ArrayNode, **changes: Any) -> ArrayNode:
    """Return what `replace` does, in half of its time: of each array that is described one is made."""
    return ArrayNode(**{**dict(zip(_ARRAY_FIELDS, _array_fields(node), strict=True)), **changes})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupNode:
    """One group: attributes, dimensions, child groups and arrays by name, in document order.

    `attribute_types` and `internal_attributes` are as those of `ArrayNode`; `types` those that it declares,
    whether any array has them.
    """

    path: str = "/"
    attributes: Mapping[str, Any] = field(default_factory=dict)
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    types: Mapping[str, DataType] = field(default_factory=dict)
    groups: Mapping[str, GroupNode] = field(default_factory=dict)
    arrays: Mapping[str, ArrayNode] = field(default_factory=dict)
    metadata_keys: tuple[str, ...] = ()
    attribute_types: Mapping[str, str] = field(default_factory=dict)
    internal_attributes: Mapping[str, Any] = field(default_factory=dict)
    error: RefbrowserError | None = None

    @property
    def name(self) -> str:
        """Last part of the path; empty for the root."""
        return self.path.rsplit("/", 1)[-1]


Node = GroupNode | ArrayNode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hierarchy:
    """The whole of a dataset's description.

    Attributes
    ----------
    root
        A group, or an array where the root itself is one.
    format
        A name as in ``refbrowser export --to`` (``refs-v1``, ``zarr-v2``...).
    flavour
        Whose rules the metadata follows, one of `Flavour`.
    age
        What is known of the writer's age, for people (``netcdf-c 4.8.1 to 4.9.0``); empty where nothing is.
    findings
        Findings about the metadata.
    has_characters
        Whether single bytes are characters in its format.
    """

    root: Node
    format: str
    flavour: Flavour = Flavour.ZARR_V2
    age: str = ""
    findings: tuple[Finding, ...] = ()
    has_characters: bool = False

    def walk(self) -> Iterator[Node]:
        """Yield every node, parents first, in document order."""
        pending: list[Node] = [self.root]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, GroupNode):
                children: list[Node] = [*node.arrays.values(), *node.groups.values()]
                pending.extend(reversed(children))

    def find(self, path: str) -> Node | None:
        """Return the node at an absolute path (the leading ``/`` may be left out), or None.

        Where an array and a group share a path, which Zarr forbids, it is the array.
        """
        *above, last = [part for part in path.split("/") if part] or [""]
        node: Node | None = self.root
        for part in above:
            node = node.groups.get(part) if isinstance(node, GroupNode) else None
        if not last:
            return node
        return node.arrays.get(last) or node.groups.get(last) if isinstance(node, GroupNode) else None
