"""Parts of elements as arrays of their own: fields of structures, lengths of rows, of any source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refbrowser.model.data_type import DataType, MemberAttributes, RowType, StructureType, named_values
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, ReferenceKind
from refbrowser.model.values import Chunks, Pieces, SourcePiece, columns_of_kinds
from refbrowser.views.plot.element_parts import LENGTH, part_node, parts_of, row_lengths

INNER = np.dtype([("speed", ">f4"), ("kind", named_values(np.dtype("u1"), {1: "gust"}))])
DTYPE = np.dtype(
    [("day", "i1"), ("name", "O"), ("wind", INNER), ("pair", ">i2", (2,)), ("large", "u1", (900,))]
)
ELEMENTS = np.zeros(3, DTYPE)
ELEMENTS["day"], ELEMENTS["wind"]["speed"], ELEMENTS["pair"] = (
    [1, 2, 3],
    [0.5, 1.5, 2.5],
    [[1, 2], [3, 4], [5, 6]],
)


class OnePiece:
    """A source whose only tile is one piece."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def pieces(self, part: ChunkPart) -> list[SourcePiece]:
        reference = ByteRange("a.ncs", 0, 4)
        raw = self.values.dtype if not self.values.dtype.hasobject else None
        return [
            SourcePiece(
                reference=reference,
                shape=self.values.shape,
                inside=part.inside,
                target=part.target,
                decode=lambda _data: self.values,
                raw=raw,
                how=("all",),
            )
        ]

    def kinds(self) -> np.ndarray:
        return np.array([ReferenceKind.DERIVED], np.uint8)

    def kinds_at(self, coords: np.ndarray) -> np.ndarray:
        return self.kinds()[coords[:, 0]]

    def stored(self) -> int:
        return 1


def node_of(values: np.ndarray, type: DataType | None = None, **more: Any) -> ArrayNode:
    """Return an array of one tile."""
    return ArrayNode(
        path="/obs",
        shape=values.shape,
        type=type or DataType.of(values.dtype),
        values=Pieces(grid=RegularChunkGrid(values.shape, values.shape), source=OnePiece(values)),
        **more,
    )


def part_named(node: ArrayNode, name: str) -> ArrayNode:
    """Return a part of the elements of an array, by its name."""
    return part_node(node, next(part for part in parts_of(node) if part.name == name))


def decoded(node: ArrayNode) -> np.ndarray:
    """Return the values of the only piece of the only tile."""
    everything = (slice(0, node.shape[0], 1),)
    assert node.assembled is not None
    (piece,) = node.assembled.pieces(ChunkPart((0,), everything, everything, True))
    assert piece.raw is None, "parts of elements cannot be read alone"
    return piece.decode(memoryview(b""))


def test_numbers_are_offered_and_nothing_else() -> None:
    names = [part.name for part in parts_of(node_of(ELEMENTS))]
    assert names == ["day", "wind.speed", "wind.kind", "pair[0]", "pair[1]"]
    assert parts_of(node_of(np.zeros(3))) == ()


@pytest.mark.parametrize(
    ("name", "values", "dtype"),
    [("day", [1, 2, 3], "i1"), ("wind.speed", [0.5, 1.5, 2.5], ">f4"), ("pair[1]", [2, 4, 6], ">i2")],
)
def test_a_part_is_an_array_of_its_own(name: str, values: list[float], dtype: str) -> None:
    fill = np.zeros((), DTYPE)[()]
    fill["day"], fill["pair"] = -9, [7, 8]
    part = part_named(node_of(ELEMENTS, fill_value=fill), name)
    assert part.dtype == np.dtype(dtype)
    assert part.shape == (3,)
    assert decoded(part).tolist() == values
    assert part.fill_value == {"day": -9, "wind.speed": 0, "pair[1]": 8}[name]


def test_attributes_of_a_member_go_with_the_part() -> None:
    said = {"wind.speed": MemberAttributes({"units": "m/s", "_FillValue": 1.5}, {"_FillValue": "float"})}
    node = node_of(ELEMENTS, StructureType(DTYPE, said=said))
    part = part_named(node, "wind.speed")
    assert part.attributes == {"long_name": "obs: wind.speed", "units": "m/s", "_FillValue": 1.5}
    assert part.attribute_types == {"_FillValue": "float"}
    assert part_named(node, "day").attributes == {"long_name": "obs: day"}


def test_names_of_values_go_with_the_part() -> None:
    assert part_named(node_of(ELEMENTS), "wind.kind").type.names == {1: "gust"}


def test_parts_are_kept_apart_by_how_they_are_decoded() -> None:
    everything = (slice(0, 3, 1),)
    part = ChunkPart((0,), everything, everything, True)
    pieces = [
        next(iter(part_named(node_of(ELEMENTS), name).assembled.pieces(part)))  # type: ignore[union-attr]
        for name in ("day", "wind.speed")
    ]
    assert len({piece.how for piece in pieces}) == 2
    assert all(piece.reference == pieces[0].reference for piece in pieces)


def test_lengths_of_rows() -> None:
    rows = np.empty(3, object)
    rows[:] = [np.arange(2), np.zeros(0), np.arange(5)]
    node = node_of(rows, RowType(rows.dtype, elements=DataType.of(np.dtype("f8"))), fill_value=np.zeros(0))
    part = part_named(node, LENGTH)
    assert decoded(part).tolist() == [2, 0, 5]
    assert (part.dtype, type(part.type), part.fill_value) == (np.dtype("i8"), DataType, 0)
    assert row_lengths(np.array([None, None], object)).tolist() == [0, 0], "what has not come"


class ChunksOfBytes:
    """A manifest of two chunks, the second of which is missing."""

    grid_shape = (2,)

    def key(self, coords: tuple[int, ...]) -> str:
        return f"obs/{coords[0]}"

    def columns(self, coords: np.ndarray) -> Any:
        columns = columns_of_kinds(np.where(coords[:, 0] == 0, ReferenceKind.RANGE, 0).astype(np.uint8))
        return replace(
            columns, url=np.zeros(len(coords), np.int32), length=np.full(len(coords), 8), urls=("a",)
        )

    def kinds(self) -> np.ndarray:
        return np.array([ReferenceKind.RANGE, ReferenceKind.MISSING], np.uint8)

    def stored(self) -> int:
        return 1


def test_chunks_of_zarr_have_parts_too() -> None:
    dtype = np.dtype([("a", "<i2"), ("b", "<i2")])
    node = ArrayNode(
        path="/obs",
        shape=(4,),
        type=DataType.of(dtype),
        values=Chunks(grid=RegularChunkGrid((4,), (2,)), manifest=ChunksOfBytes()),
    )
    part = part_named(node, "b")
    whole = (slice(0, 2, 1),)
    (piece,) = part.assembled.pieces(ChunkPart((0,), whole, whole, True))
    assert piece.decode(memoryview(np.array([(1, 2), (3, 4)], dtype).tobytes())).tolist() == [2, 4]
    assert not list(part.assembled.pieces(ChunkPart((1,), whole, whole, True)))
    assert part.assembled.kinds().tolist() == [ReferenceKind.DERIVED, ReferenceKind.MISSING]
    assert part.assembled.kinds_at(np.array([[1], [0]])).tolist() == [
        ReferenceKind.MISSING,
        ReferenceKind.DERIVED,
    ]
