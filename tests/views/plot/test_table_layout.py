from __future__ import annotations

import numpy as np
import pytest
from view_arrays import node

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.data_type import DataType
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import Coordinate, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.picture import ChunkState, Picture
from refbrowser.views.plot.slicing import SliceState
from refbrowser.views.plot.table import Mark, TableLayout, cell_from_text


def layout(
    array: ArrayNode,
    x: int = 0,
    y: int | None = None,
    indices: tuple[int, ...] | None = None,
    decoded: bool = True,
    **coordinates: Coordinate,
) -> TableLayout:
    names = tuple(str(name) for name in array.dimensions)
    state = SliceState(array.shape, names, x, y, indices or (0,) * len(names))
    each = [
        coordinates.get(name) or plain_coordinate(name, size)
        for name, size in zip(names, array.shape, strict=True)
    ]
    return TableLayout(array, state, each, Interpretation(array, decoded))


def picture(
    table: TableLayout, values: np.ndarray, rows: range, columns: range, **states: ChunkState
) -> Picture:
    """Return a picture of cells, with values of a whole array; `states` of chunks that are not done."""
    found = Picture(table.node, table.plan(rows, columns))
    grid = table.node.grid
    assert grid is not None
    selection = found.plan.selection
    found.out[...] = values[found.plan.slice.index(found.plan.ranges)]
    for part in grid.parts(selection):
        found.accept(part.coords, states.get("c" + "_".join(map(str, part.coords)), ChunkState.DONE))
    return found


def structure(count: int) -> tuple[ArrayNode, np.ndarray]:
    dtype = np.dtype([("id", "<i4"), ("name", "S3"), ("lat", "<f8")])
    values = np.zeros(count, dtype)
    values["id"], values["name"], values["lat"] = range(count), b"ab", 0.5
    array = node((count,), (2,), dimensions=("s",))
    return ArrayNode(**{**_fields(array), "type": DataType.of(dtype)}), values


def _fields(array: ArrayNode) -> dict[str, object]:
    return {
        name: getattr(array, name) for name in array.__dataclass_fields__ if getattr(array, name) is not None
    }


class TestSize:
    def test_image_line_scalar(self) -> None:
        cube = node((2, 3, 4))
        assert (layout(cube, 2, 1).rows, layout(cube, 2, 1).columns) == (3, 4)
        assert (layout(cube, 1, 2).rows, layout(cube, 1, 2).columns) == (4, 3)
        assert (layout(cube, 2).rows, layout(cube, 2).columns) == (4, 1)
        scalar = node(())
        assert (layout(scalar).rows, layout(scalar).columns) == (1, 1)

    def test_fields_are_columns(self) -> None:
        table = layout(structure(5)[0])
        assert (table.rows, table.columns) == (5, 3)
        assert [table.column_header(column)[0] for column in range(3)] == ["id", "name", "lat"]

    def test_any_number_of_rows(self) -> None:
        huge = layout(node((10**12, 10**9), (1000, 1000)), 1, 0)
        rows, columns = range(10**12 - 3, 10**12), range(10**9 - 2, 10**9)
        assert huge.row_header(10**12 - 1) == ("999999999999", "")
        plan = huge.block_plan(rows, columns)
        assert plan.chunks <= LIMITS.view_chunks
        assert plan.covers(huge.elements(rows, columns))
        assert huge.cells(None, rows, columns).texts == [["…", "…"]] * 3


class TestHeads:
    def test_units_stand_once(self) -> None:
        depth = Coordinate("z", 3, values=np.array([0.0, 10.5, 20.0]), units="m")
        table = layout(node((3, 2), dimensions=("z", "x")), 1, 0, z=depth)
        assert table.corner == ("z [m]", "x")
        assert [table.row_header(row) for row in range(3)] == [("0", "0"), ("1", "10.5"), ("2", "20")]

    def test_a_line_is_headed_by_name_and_units(self) -> None:
        table = layout(node((3,), path="/a/temp", units="K"))
        assert table.column_header(0) == ("temp", "K")
        assert table.corner == ("d0", "")


class TestCells:
    def test_marks(self) -> None:
        values = np.arange(16, dtype="i2").reshape(4, 4)
        table = layout(node((4, 4), (2, 2), "i2", _FillValue=5, scale_factor=0.5), 1, 0)
        seen = range(4), range(4)
        shown = picture(
            table, values, *seen, c0_1=ChunkState.MISSING, c1_0=ChunkState.FAILED, c1_1=ChunkState.PENDING
        )
        cells = table.cells(shown, *seen)
        assert cells.texts[0] == ["0", "0.5", "missing", "missing"]
        assert cells.texts[1][:2] == ["2", "–"]
        assert cells.texts[2] == ["failed", "failed", "…", "…"]
        assert cells.marks[1].tolist() == [Mark.VALUE, Mark.NO_VALUE, Mark.MISSING, Mark.MISSING]
        assert cells.marks[3].tolist() == [Mark.FAILED, Mark.FAILED, Mark.PENDING, Mark.PENDING]

    def test_as_stored(self) -> None:
        values = np.arange(16, dtype="i2").reshape(4, 4)
        table = layout(node((4, 4), (2, 2), "i2", _FillValue=5, scale_factor=0.5), 1, 0, decoded=False)
        cells = table.cells(picture(table, values, range(4), range(4)), range(4), range(4))
        assert cells.texts[1] == ["4", "5", "6", "7"]
        assert not cells.marks.any()

    def test_turned(self) -> None:
        values = np.arange(6).reshape(2, 3)
        table = layout(node((2, 3), dtype="i8"), 0, 1)
        cells = table.cells(picture(table, values, range(3), range(2)), range(3), range(2))
        assert cells.texts == [["0", "3"], ["1", "4"], ["2", "5"]]

    def test_a_part_that_is_held(self) -> None:
        values = np.arange(100).reshape(10, 10)
        table = layout(node((10, 10), dtype="i8"), 1, 0)
        held = picture(table, values, range(2, 6), range(3, 7))
        cells = table.cells(held, range(0, 4), range(5, 9))
        assert cells.texts[0] == ["…"] * 4
        assert cells.texts[2] == ["25", "26", "…", "…"]
        assert table.cells(held, range(8, 10), range(0, 2)).texts == [["…", "…"]] * 2

    def test_part_of_a_structure(self) -> None:
        array, values = structure(5)
        table = layout(array)
        shown = picture(table, values, range(5), range(3), c1=ChunkState.MISSING)
        assert table.cells(shown, range(1, 4), range(1, 3)).texts == [
            ["ab", "0.5"],
            ["missing", "missing"],
            ["missing", "missing"],
        ]

    def test_any_part_of_structures_in_rows_and_columns(self) -> None:
        _, line = structure(12)
        values = line.reshape(3, 4)
        values["lat"] += values["id"]
        array = ArrayNode(**{**_fields(node((3, 4), (1, 2))), "type": DataType.of(values.dtype)})
        table = layout(array, 1, 0)
        # The first element of each row is not held.
        held = picture(table, values, range(3), range(3, 12))
        whole = [
            ["…"] * 3 + [str(each) for item in row[1:] for each in (item["id"], "ab", item["lat"])]
            for row in values
        ]
        for first in range(12):
            for stop in range(first + 1, 13):
                cells = table.cells(held, range(1, 3), range(first, stop))
                assert cells.texts == [row[first:stop] for row in whole[1:]]
                assert (cells.marks == Mark.PENDING).sum() == 2 * len(range(first, min(stop, 3)))

    def test_scalar(self) -> None:
        table = layout(node((), dtype="f8"))
        assert table.cells(picture(table, np.float64(2.5), range(1), range(1)), range(1), range(1)).texts == [
            ["2.5"]
        ]

    def test_dates_and_texts(self) -> None:
        times = layout(node((2,), dtype="i4", units="days since 2020-02-28", calendar="noleap"))
        shown = picture(times, np.array([0, 1], "i4"), range(2), range(1))
        assert times.cells(shown, range(2), range(1)).texts == [["2020-02-28"], ["2020-03-01"]]
        words = layout(node((2,), dtype="<U5"))
        shown = picture(words, np.array(["a", "Ærø"]), range(2), range(1))
        assert words.cells(shown, range(2), range(1)).texts == [["a"], ["Ærø"]]


class TestNames:
    @pytest.fixture
    def cube(self) -> TableLayout:
        return layout(node((2, 3, 40, 50)), 3, 2, (1, 2, 0, 0))

    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("12, 40", (12, 40)),
            ("12 40", (12, 40)),
            ("[12,40]", (12, 40)),
            ("7", (7, 9)),
            ("-1,-2", (39, 48)),
        ],
    )
    def test_row_and_column(self, cube: TableLayout, text: str, cell: tuple[int, int]) -> None:
        found = cell_from_text(cube, text, (3, 9))
        assert (found.cell, found.held) == (cell, None)

    def test_whole_index(self, cube: TableLayout) -> None:
        found = cell_from_text(cube, "0, 1, 12, 40")
        assert (found.cell, found.held) == ((12, 40), (0, 1, 12, 40))

    def test_field(self) -> None:
        table = layout(structure(5)[0])
        assert cell_from_text(table, "3, lat").cell == (3, 2)
        assert cell_from_text(table, "3", (0, 1)).cell == (3, 1)

    @pytest.mark.parametrize("text", ["40", "1,50", "-41", "x", "1,2,3", "1.5", "", "9" * 50, "1,,x"])
    def test_none_such(self, cube: TableLayout, text: str) -> None:
        with pytest.raises(RefbrowserError) as caught:
            cell_from_text(cube, text)
        assert caught.value.kind is ErrorKind.USAGE
