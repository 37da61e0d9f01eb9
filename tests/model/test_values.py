"""Values answer what they are, whatever their kind; an array passes that on."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.chunk_keys import ChunkKeyEncoding
from refbrowser.model.grid import ChunkPart, RegularChunkGrid
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import Inline, ReferenceKind
from refbrowser.model.values import (
    NO_MANIFEST,
    NO_VALUES,
    Chunks,
    CodecSpec,
    NoValues,
    Pieces,
    Rows,
    SourceManifest,
    SourcePiece,
)

GRID = RegularChunkGrid((5, 4), (2, 4))
ZLIB = (CodecSpec("zlib", {"level": 1}),)


class Source:
    """Gives one piece of each chunk of the first column; the second is missing, the third is lost."""

    def pieces(self, part: ChunkPart) -> list[SourcePiece]:
        if part.coords[0] == 1:
            return []
        if part.coords[0] == 2:
            return [SourcePiece.lost(RefbrowserError(ErrorKind.DECODE, "cut"), "message 2", part.target)]
        data = np.arange(8.0)
        piece = SourcePiece(
            reference=Inline(data.tobytes()),
            shape=(2, 4),
            inside=part.inside,
            target=part.target,
            decode=lambda data: np.frombuffer(data).reshape(2, 4),
        )
        return [piece]

    def kinds(self) -> np.ndarray:
        return self.kinds_at(np.array([[0, 0], [1, 0], [2, 0]])).reshape(3, 1)

    def kinds_at(self, coords: np.ndarray) -> np.ndarray:
        of_row = [ReferenceKind.DERIVED, ReferenceKind.MISSING, ReferenceKind.FAULTY]
        return np.array(of_row, np.uint8)[coords[:, 0]]

    def stored(self) -> int:
        return 2


SOURCE: Any = Source()
NESTED: Any = object()
CHUNKS = Chunks(grid=GRID, codecs=ZLIB, order="F")
PIECES = Pieces(grid=GRID, source=SOURCE)
ROWS = Rows(grid=GRID, source=NESTED)
NOTHING = NoValues(codecs=ZLIB, order="F")


def node(values: Any, **more: Any) -> ArrayNode:
    return ArrayNode(path="/ocean/temp", shape=(5, 4), values=values, **more)


@pytest.mark.parametrize(
    ("values", "encoded", "assembled", "nested", "codecs", "order", "is_made"),
    [
        (CHUNKS, CHUNKS, None, None, ZLIB, "F", False),
        (PIECES, None, SOURCE, None, (), "C", True),
        (ROWS, None, None, NESTED, (), "C", True),
        (NOTHING, None, None, None, ZLIB, "F", False),
        (NO_VALUES, None, None, None, (), "C", False),
    ],
)
def test_each_kind_answers_every_question(
    values: Any, encoded: Any, assembled: Any, nested: Any, codecs: Any, order: str, is_made: bool
) -> None:
    array = node(values)
    assert values.encoded is encoded
    assert values.assembled is array.assembled is assembled
    assert values.nested is array.nested is nested
    assert (values.codecs, values.order) == (array.codecs, array.order) == (codecs, order)
    assert array.is_made == is_made
    assert values.divided is (values if array.has_grid else None)


def test_no_values_have_neither_grid_nor_manifest_nor_chunks() -> None:
    for values in (NO_VALUES, NOTHING):
        array = node(values)
        assert not array.has_grid
        assert not array.has_manifest
        assert array.key_prefix == "ocean/temp/"
        assert not list(array.pieces(GRID.whole_part((0, 0))))
        assert values.witnessed(object()) is values  # type: ignore[arg-type]
        asked = ("grid", "manifest", "chunk_keys", "chunks", "rows")
        why = RefbrowserError(ErrorKind.META, "the metadata is broken")
        for name in asked:
            with pytest.raises(RefbrowserError, match=r"^the (array|elements)"):
                getattr(array, name)
            for told in ({"error": why}, {"unreadable": why}):
                with pytest.raises(RefbrowserError, match="the metadata is broken"):
                    getattr(node(values, **told), name)
        with pytest.raises(RefbrowserError, match="the array has no chunks"):
            array.over(GRID)
    # That nothing is known of codecs does not make two of them one.
    assert NoValues() != NO_VALUES


def test_an_array_is_asked_for_what_it_is_not() -> None:
    for values in (PIECES, ROWS):
        with pytest.raises(RefbrowserError, match="no encoded chunks"):
            _ = node(values).chunks
    for values in (CHUNKS, PIECES):
        with pytest.raises(RefbrowserError, match="not nested"):
            _ = node(values).rows
    assert node(CHUNKS).chunks is CHUNKS
    assert node(ROWS).rows is NESTED


def test_values_over_another_grid_with_other_codecs() -> None:
    other = RegularChunkGrid((5, 4), (5, 1))
    for values in (CHUNKS, PIECES, ROWS):
        moved = node(replace(values, prefix="data/x/")).over(other)
        assert type(moved) is type(values)
        assert moved.grid is other
        assert node(moved).key_prefix == "data/x/"
    plain = CHUNKS.encoded_by(())
    assert (plain.codecs, plain.order, plain.grid) == ((), "F", GRID)
    assert CHUNKS.encoded_by(ZLIB, "C").order == "C"
    witness: Any = object()
    assert CHUNKS.witnessed(witness).witness is witness
    for values in (PIECES, ROWS):
        assert values.encoded_by(ZLIB, "F") is values, "what is made has no codecs"
        assert values.witnessed(witness) is values


def test_the_manifest_of_what_is_assembled_tells_of_its_chunks() -> None:
    manifest = SourceManifest(SOURCE, "/ocean/temp", GRID)
    array = node(replace(PIECES, manifest=manifest, keys=ChunkKeyEncoding()))
    assert array.has_manifest
    assert not node(PIECES).has_manifest
    assert node(PIECES).manifest is NO_MANIFEST
    assert manifest.key((2, 0)) == "ocean/temp/2.0"
    assert manifest.grid_shape == (3, 1)
    columns = manifest.columns(np.array([[2, 0], [0, 0], [1, 0]]))
    assert columns.kind.tolist() == [ReferenceKind.FAULTY, ReferenceKind.DERIVED, ReferenceKind.MISSING]
    assert dict(columns.faults).keys() == {0}
    assert columns.faults[0].message == "cut"
    with pytest.raises(KeyError):
        _ = columns.faults[1]
    (piece,) = array.pieces(GRID.whole_part((0, 0)))
    assert piece.decode(memoryview(np.arange(8.0).tobytes())).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    (lost,) = array.pieces(GRID.whole_part((2, 0)))
    assert lost.shape == (1, 4)
    with pytest.raises(RefbrowserError, match="cut"):
        lost.decode(memoryview(b""))
