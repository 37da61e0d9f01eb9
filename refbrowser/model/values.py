"""What gives the values of an array, chunk by chunk of its grid: encoded chunks, pieces, or nested rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from refbrowser.errors import NOWHERE, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import ChunkGrid, ChunkPart
from refbrowser.model.reference import Inline, Reference, ReferenceColumns, ReferenceKind

if TYPE_CHECKING:
    from refbrowser.model.nested import NestedValues


@dataclass(frozen=True, slots=True)
class CodecSpec:
    """One codec as the metadata names it, in encoding order within `Chunks.codecs`."""

    name: str
    configuration: Mapping[str, Any] = field(default_factory=dict)


class ChunkManifest(Protocol):
    """Chunk coordinates to references; computed, not stored, for gen rules and key formulas."""

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension; () for a 0-d array."""
        ...

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the full key of the chunk at `coords`, as it stands in the document."""
        ...

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the references of the chunks at `coords`, shape (n, ndim), in that order."""
        ...

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid.

        Only for grids whose number of chunks fits memory: the caller checks it.
        """
        ...

    def stored(self) -> int | None:
        """Return how many chunks have a reference, or None where that is not known."""
        ...


class NoManifest:
    """The manifest of chunks that nobody refers to: of an array that is to be written, or is broken."""

    grid_shape: tuple[int, ...] = ()

    def key(self, coords: tuple[int, ...]) -> str:
        """Return the relative key of a chunk as Zarr v2 writes it."""
        return ".".join(map(str, coords))

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return that they are missing."""
        return columns_of_kinds(np.full(len(coords), ReferenceKind.MISSING, np.uint8))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return that it is missing."""
        return np.full((), ReferenceKind.MISSING, np.uint8)

    def stored(self) -> int | None:
        """Return None: it is not known."""
        return None


#: The one that all such arrays share.
NO_MANIFEST = NoManifest()


class ChunkWitness(Protocol):
    """What the file that regular chunks lie in tells of their bytes, beside the references to them."""

    def check(self, url: str, offset: int, data: memoryview) -> Finding | None:
        """Return what is to be warned of in the stored bytes of a chunk, or None."""
        ...

    def fault(self, url: str, offset: int, data: memoryview) -> RefbrowserError | None:
        """Return why the stored bytes of a chunk are not what they should be, in words of the file."""
        ...


_USUAL_KEYS = ChunkKeyEncoding()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Values:
    """What gives the values of an array; one of `Chunks`, `Pieces` and `Rows`.

    Attributes
    ----------
    grid
        The chunks in which they are read, counted and drawn.
    manifest
        Tells of each chunk where it is, or that it is made.
    keys
        How the keys of chunks are written.
    prefix
        What stands before the keys of chunks: ``data/ocean/temp/`` in the v3 drafts. None where it is the
        path, as `ArrayNode.key_prefix` gives it.
    """

    grid: ChunkGrid
    manifest: ChunkManifest = NO_MANIFEST
    keys: ChunkKeyEncoding = _USUAL_KEYS
    prefix: str | None = None

    @property
    def divided(self) -> Values | None:
        """These values where it is known how they are divided into chunks."""
        return self

    @property
    def encoded(self) -> Chunks | None:
        """These values where they are encoded chunks."""
        return None

    @property
    def assembled(self) -> ArraySource | None:
        """What gives the pieces that they are assembled from, where they are."""
        return None

    @property
    def nested(self) -> NestedValues | None:
        """What makes the rows, where these are."""
        return None

    def encoded_by(self, codecs: tuple[CodecSpec, ...], order: str | None = None) -> Values:
        """Return these values with their chunks encoded by other codecs; what is made is encoded by none."""
        return self

    def witnessed(self, witness: ChunkWitness) -> Values:
        """Return these values with what tells more of their stored chunks; what is made has none."""
        return self

    @property
    def why(self) -> str:
        """Why no reference gives them, in words; empty where nothing is said."""
        return ""

    @property
    def held(self) -> str:
        """What the file has them in where these are no chunks, in words; empty where they are."""
        return ""

    @property
    def keyed(self) -> ChunkGrid:
        """The chunks that keys of references name."""
        return self.grid

    @property
    def codecs(self) -> tuple[CodecSpec, ...]:
        """What encodes chunks, in encoding order; chunks that are made have none."""
        return ()

    @property
    def order(self) -> str:
        """``C`` or ``F``: memory layout within a chunk."""
        return "C"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chunks(Values):
    """Chunks that have one reference each, and are encoded by codecs.

    Attributes
    ----------
    codecs
        In encoding order.
    order
        ``C`` or ``F``: memory layout within a chunk.
    witness
        Tells more of the stored bytes of the chunks than their references do.
    """

    codecs: tuple[CodecSpec, ...] = ()
    order: str = "C"
    witness: ChunkWitness | None = None

    @property
    def encoded(self) -> Chunks:
        """These values."""
        return self

    def encoded_by(self, codecs: tuple[CodecSpec, ...], order: str | None = None) -> Chunks:
        """Return chunks that are encoded in this way."""
        return replace(self, codecs=codecs, order=self.order if order is None else order)

    def witnessed(self, witness: ChunkWitness) -> Chunks:
        """Return chunks of which a file tells more."""
        return replace(self, witness=witness)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pieces(Values):
    """Chunks that are assembled from any number of pieces: stored in messages, or parts of other chunks.

    Attributes
    ----------
    unreferenced
        Why no reference gives them, in words; empty where nothing is said.
    stored_in
        What the file has them in, in words.
    named
        The chunks that keys of references name, where these are smaller ones.
    """

    source: ArraySource
    unreferenced: str = ""
    stored_in: str = "pieces of a file"
    named: ChunkGrid | None = None

    @property
    def why(self) -> str:
        """Why no reference gives them."""
        return self.unreferenced

    @property
    def held(self) -> str:
        """What the file has them in."""
        return self.stored_in

    @property
    def keyed(self) -> ChunkGrid:
        """The chunks that keys of references name."""
        return self.named or self.grid

    @property
    def assembled(self) -> ArraySource:
        """What gives the pieces."""
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows(Values):
    """Rows whose elements are lists, records, options or unions, made from buffers.

    The shape of the array has one number, that of the rows, before those of regular lists of numbers. A group
    of the same path, if any, has the parts of the array: its fields and buffers.
    """

    source: NestedValues

    @property
    def nested(self) -> NestedValues:
        """What makes the rows."""
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoValues:
    """Nothing can be read: the array is broken, or how it is divided into chunks is not known.

    `codecs` and `order` are what the metadata says of chunks all the same.
    """

    codecs: tuple[CodecSpec, ...] = ()
    order: str = "C"

    @property
    def divided(self) -> None:
        """None: it is not known how they are divided into chunks."""

    @property
    def encoded(self) -> None:
        """None: they are no chunks."""

    @property
    def assembled(self) -> None:
        """None: nothing gives pieces of them."""

    @property
    def nested(self) -> None:
        """None: nothing makes rows of them."""

    @property
    def why(self) -> str:
        """Nothing."""
        return ""

    @property
    def held(self) -> str:
        """Nothing."""
        return ""

    def witnessed(self, witness: ChunkWitness) -> NoValues:
        """Return nothing: there are no chunks to be told of."""
        return self


#: That of which nothing else is known.
NO_VALUES = NoValues()


#: Makes the values of a range of bytes, of the shape that the piece tells, in any type that the array's
#: casts from. Raises `RefbrowserError` where they are not what they should be.
DecodePiece = Callable[[memoryview], npt.NDArray[Any]]
#: Looks at the bytes of a whole range; returns what is to be warned of, or None.
CheckPiece = Callable[[memoryview], Finding | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePiece:
    """A range of bytes, and which of the elements that it holds go where in a part of a chunk.

    Attributes
    ----------
    reference
        Where the bytes are; never `Missing`. Pieces of the same `reference` and `how` are read once.
    shape
        Of all values that the bytes hold.
    inside
        Which of them are taken, as slices (with steps) of `shape`.
    target
        Where they go, as slices (with steps) of `Selection.box_shape`.
    decode
        Makes all values of the bytes.
    raw
        Where the bytes are elements of this type in C order: any part of them may be read alone, to its
        place, without `decode`. None where only all of them can be decoded.
    check
        Is given all bytes of the piece, where all of them are read at once.
    hides
        All of its elements are given: nothing is seen of what lies below. Structures may have some of their
        fields only; `decode` then gives values with just these.
    name
        What gives them, for people: ``message 12``.
    place
        Where errors in the bytes are.
    how
        What the decoding depends on besides the bytes, hashable, so that decoded values can be kept.
    error
        Why there are no values: nothing is read, and all elements of the piece are lost.
    """

    reference: Reference
    shape: tuple[int, ...]
    inside: tuple[slice, ...]
    target: tuple[slice, ...]
    decode: DecodePiece
    raw: np.dtype[Any] | None = None
    check: CheckPiece | None = None
    hides: bool = True
    name: str = ""
    place: Place = NOWHERE
    how: tuple[Any, ...] = ()
    error: RefbrowserError | None = None

    @classmethod
    def lost(cls, error: RefbrowserError, name: str, target: tuple[slice, ...]) -> SourcePiece:
        """Return elements that are lost, and why; `name` is what should have given them."""
        shape = tuple(len(range(each.start, each.stop, each.step or 1)) for each in target)

        def fail(data: memoryview) -> npt.NDArray[Any]:
            raise error

        return cls(
            reference=Inline(b""),
            shape=shape,
            inside=tuple(map(slice, shape)),
            target=target,
            decode=fail,
            name=name,
            place=error.place,
            how=("lost", name),
            error=error,
        )


class ArraySource(Protocol):
    """What the values of an array are made from, by chunk of its (regular) grid.

    The chunks are what is read, counted and drawn together; they need not be how the bytes are stored.
    """

    def pieces(self, part: ChunkPart) -> Iterable[SourcePiece]:
        """Return what gives the elements of a part, in the order in which it is laid down.

        Later pieces replace earlier ones; elements that none gives hold the fill value. None at all: the
        chunk is missing.
        """
        ...

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return, in the shape of the grid, `ReferenceKind` DERIVED, MISSING or FAULTY of each chunk.

        FAULTY ones are lost for a reason that is known before anything is read.

        Only for grids whose number of chunks fits memory: the caller checks it.
        """
        ...

    def kinds_at(self, coords: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the kind of each of some chunks, shape (n, ndim)."""
        ...

    def stored(self) -> int | None:
        """Return how many chunks are not missing, or None where that is not known."""
        ...


def columns_of_kinds(kinds: npt.NDArray[np.uint8]) -> ReferenceColumns:
    """Return columns that tell the kinds of chunks; there is no reference to any of them."""
    return ReferenceColumns(
        kind=kinds,
        url=np.full(len(kinds), -1, np.int32),
        offset=np.zeros(len(kinds), np.int64),
        length=np.full(len(kinds), -1, np.int64),
        urls=(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Faults(Mapping[int, RefbrowserError]):
    """Why chunks are lost, by row of `kinds`; found out for those that are asked about."""

    source: ArraySource
    grid: ChunkGrid
    coords: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]

    def __getitem__(self, row: int) -> RefbrowserError:
        if self.kinds[row] != ReferenceKind.FAULTY:
            raise KeyError(row)
        part = self.grid.whole_part(tuple(self.coords[row].tolist()))
        return next(piece.error for piece in self.source.pieces(part) if piece.error is not None)

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.kinds == ReferenceKind.FAULTY).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self.kinds == ReferenceKind.FAULTY))


@dataclass(frozen=True, eq=False)
class SourceManifest:
    """Tells of the chunks of a source in the form of references (`ChunkManifest`)."""

    source: ArraySource
    path: str
    grid: ChunkGrid

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each dimension."""
        return self.grid.grid_shape

    def key(self, coords: tuple[int, ...]) -> str:
        """Return what a chunk is called: as one of Zarr would be."""
        return f"{self.path.strip('/')}/{'.'.join(map(str, coords)) or '0'}"

    def columns(self, coords: npt.NDArray[np.int64]) -> ReferenceColumns:
        """Return the kinds of the chunks at `coords`."""
        columns = columns_of_kinds(self.source.kinds_at(coords))
        if not (columns.kind == ReferenceKind.FAULTY).any():
            return columns
        return replace(columns, faults=_Faults(self.source, self.grid, coords, columns.kind))

    def kinds(self) -> npt.NDArray[np.uint8]:
        """Return the `ReferenceKind` of every chunk, in the shape of the grid."""
        return self.source.kinds()

    def stored(self) -> int | None:
        """Return how many chunks are not missing, or None where that is not known."""
        return self.source.stored()
