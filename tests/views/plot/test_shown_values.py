"""What is written of a slice can be read again: as text with every digit, and as numpy files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from documents_of_values import CUBE, NAMES, STATIONS, value_document
from hypothesis import given
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot import slice_files
from refbrowser.views.plot.coordinates import Coordinate, plain_coordinate
from refbrowser.views.plot.interpretation import Interpretation, coordinate_text, exact_text
from refbrowser.views.plot.slice_files import (
    ShownValues,
    cells_as_tsv,
    csv_blocks,
    csv_lines,
    npy_bytes,
    read_shown,
    rows_with_headers,
    tsv_text,
)
from refbrowser.views.plot.slicing import SliceState, dimension_names
from refbrowser.views.plot.table import TableLayout


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[Dataset]:
    made = value_document(tmp_path)
    made.add("lost", np.arange(4.0), ["l"], (2,))
    made.refs["lost/1"] = ["nowhere.bin", 0, 16]
    made.add("raw", np.arange(6, dtype="u1").reshape(2, 3), ["r", "s"], missing=[(0, 0)])
    made.add("swapped", np.array([1, 2, 70_000], ">i4"), ["b"])
    made.add("swapped_unsigned", np.array([1, -1], ">i2"), ["u"], _Unsigned="true")
    with refbrowser.open(made.write()) as found:
        yield found


Shown = Callable[..., ShownValues]


@pytest.fixture
def shown(dataset: Dataset) -> Shown:
    def read(name: str, x: int = 0, y: int | None = None, *indices: int, decoded: bool = True) -> ShownValues:
        table = layout(dataset, name, x, y, *indices, decoded=decoded)
        ranges = tuple(range(table.slice.shape[axis]) for axis in table.slice.axes)
        return read_shown(dataset.session, dataset.access, table, ranges)

    return read


def layout(
    dataset: Dataset, name: str, x: int = 0, y: int | None = None, *indices: int, decoded: bool = True
) -> TableLayout:
    node = dataset.hierarchy.find(name)
    assert isinstance(node, ArrayNode)
    names = dimension_names(node)
    state = SliceState(node.shape, names, x, y, indices or (0,) * len(names))
    coordinates = [_coordinate(dataset, each, size) for each, size in zip(names, node.shape, strict=True)]
    return TableLayout(node, state, coordinates, Interpretation(node, decoded))


def _coordinate(dataset: Dataset, name: str, size: int) -> Coordinate:
    if name not in ("lat", "lon"):
        return plain_coordinate(name, size)
    array = dataset[name]
    return Coordinate(name, size, values=array[:], units=array.attrs["units"])


def table_of(values: ShownValues) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(csv_blocks(values)).decode())))


def array_of(values: ShownValues) -> np.ndarray:
    return np.load(io.BytesIO(npy_bytes(values)), allow_pickle=False)


class TestText:
    def test_image_with_coordinates(self, shown: Shown) -> None:
        rows = table_of(shown("cube", 3, 2, 1, 2, 0, 0))
        assert rows[0][0] == r"cube [K] at run 1, lev 2: lat [degrees_north] \ lon [degrees_east]"
        assert rows[0][1:] == ["0.0", "2.0", "4.0", "6.0", "8.0"]
        assert [row[0] for row in rows[1:]] == ["10.0", "20.0", "30.0", "40.0"]
        found = np.array([row[1:] for row in rows[1:]], float)
        assert (found == CUBE[1, 2] * 0.1 + 5.0).all()

    def test_no_value_and_missing_chunks_are_empty(self, shown: Shown) -> None:
        rows = table_of(shown("cube", 3, 2))
        assert rows[2][3] == ""  # the fill value, 7
        assert rows[3][1:] == rows[4][1:] == [""] * 5
        assert rows[1][1] == "5.0"

    def test_stored(self, shown: Shown) -> None:
        assert table_of(shown("cube", 3, 2, 0, 0, 0, 0, decoded=False))[2][1:] == ["5", "6", "7", "8", "9"]

    def test_turned(self, shown: Shown) -> None:
        across = table_of(shown("cube", 3, 2, 1, 2, 0, 0))
        down = table_of(shown("cube", 2, 3, 1, 2, 0, 0))
        assert [list(row) for row in zip(*across, strict=True)][1:] == down[1:]

    def test_line_structure_texts_scalar(self, shown: Shown) -> None:
        assert table_of(shown("line"))[:3] == [["times", "line [K]"], ["0", "0.0"], ["1", "0.25"]]
        stations = table_of(shown("stations"))
        assert stations[0] == ["station", "id", "name", "lat", "ok"]
        assert stations[3] == ["2", "2", "ccc", "0.5", "true"]
        assert [row[1] for row in table_of(shown("names"))[1:]] == NAMES.tolist()
        assert table_of(shown("scalar")) == [["scalar [m]"], ["3.14159265358979"]]

    def test_dates(self, shown: Shown) -> None:
        assert [row[1] for row in table_of(shown("times"))[1:3]] == [
            "2020-01-01T00:00:00",
            "2020-01-01T06:00:00",
        ]
        assert [row[1] for row in table_of(shown("days"))[1:]] == ["2020-02-28", "2020-03-01", "2020-03-02"]
        assert table_of(shown("times", decoded=False))[2][1] == "6"

    def test_cells_of_a_structure(self, dataset: Dataset) -> None:
        table = layout(dataset, "stations")
        text = cells_as_tsv(dataset.session, dataset.access, table, range(1, 3), range(1, 3))
        assert text == ("bb\t-30.0\nccc\t0.5", "")

    def test_tabs_and_lines_in_texts_make_no_cells(self, shown: Shown) -> None:
        text = tsv_text(rows_with_headers(shown("names")))
        assert [line.count("\t") for line in text.split("\n")] == [1] * 6

    def test_many_rows_in_blocks(self, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = table_of(shown("cube", 3, 2, 1, 2, 0, 0))
        monkeypatch.setattr(slice_files, "_TOGETHER", 1)
        assert table_of(shown("cube", 3, 2, 1, 2, 0, 0)) == whole


class TestNumpy:
    def test_decoded(self, shown: Shown) -> None:
        found = array_of(shown("cube", 3, 2))
        wanted = CUBE[0, 0] * 0.1 + 5.0
        wanted[1, 2] = np.nan
        wanted[2:] = np.nan
        np.testing.assert_array_equal(found, wanted)

    def test_stored(self, shown: Shown) -> None:
        found = array_of(shown("cube", 2, 3, 1, 2, 0, 0, decoded=False))
        assert found.dtype == np.dtype("i2")
        assert (found == CUBE[1, 2].T).all()

    def test_whole_numbers_stay_whole(self, shown: Shown) -> None:
        assert array_of(shown("flags", 1, 0, decoded=False)).dtype == np.dtype("u1")
        assert np.isnan(array_of(shown("raw", 1, 0))).all()

    def test_dates(self, shown: Shown) -> None:
        assert array_of(shown("times"))[1] == np.datetime64("2020-01-01T06:00")
        assert array_of(shown("days")).tolist() == ["2020-02-28", "2020-03-01", "2020-03-02"]

    def test_texts_structures_scalars(self, shown: Shown) -> None:
        assert array_of(shown("names")).tolist() == NAMES.tolist()
        assert (array_of(shown("stations")) == STATIONS).all()
        assert array_of(shown("scalar")).shape == ()
        assert array_of(shown("bits")).tolist() == [True, False, True]


def test_values_of_stale_files_are_counted(tmp_path: Path) -> None:
    made = value_document(tmp_path)
    made.add("wide", np.arange(12, dtype="<i4").reshape(3, 4), ["u", "v"], (3, 2))
    kept = tmp_path / "kept.bin"
    kept.write_bytes(bytes(24))
    made.refs["wide/0.1"] = ["kept.bin", 0, 24]
    path = made.write()
    refbrowser.lock(path)
    kept.write_bytes(bytes(range(24)))
    with refbrowser.open(path, stale="allow") as found:
        table = layout(found, "wide", 1, 0)
        shown = read_shown(found.session, found.access, table, (range(3), range(4)))
        assert (shown.stale, shown.reserve) == (6, "; 6 of them from files that differ from the lock")
        _text, reserve = cells_as_tsv(found.session, found.access, table, range(1, 3), range(1, 3))
        assert reserve == "; 2 of them from files that differ from the lock"
        _text, reserve = cells_as_tsv(found.session, found.access, table, range(1, 3), range(1))
        assert reserve == ""


class TestFailures:
    def test_a_failed_chunk_is_raised(self, dataset: Dataset) -> None:
        with pytest.raises(RefbrowserError) as caught:
            read_shown(dataset.session, dataset.access, layout(dataset, "lost"), (range(4),))
        assert caught.value.place.key == "lost/1"

    def test_too_many_values(self, dataset: Dataset) -> None:
        table = layout(dataset, "line")
        with pytest.raises(RefbrowserError) as caught:
            read_shown(dataset.session, dataset.access, table, (range(LIMITS.view_elements + 1),))
        assert caught.value.kind is ErrorKind.BUDGET


@given(st.floats(allow_nan=False), st.sampled_from(["f4", "f8"]))
def test_every_digit_of_floats(value: float, kind: str) -> None:
    with np.errstate(over="ignore"):
        number = np.array(value).astype(kind)[()]
    assert np.dtype(kind).type(exact_text(number)) == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_digit_of_whole_numbers(value: int) -> None:
    assert int(exact_text(np.int64(value))) == value


def test_other_values_as_text() -> None:
    assert exact_text(np.complex128(1 - 2j)) == "1-2j"
    assert exact_text(np.datetime64("NaT")) == ""
    assert exact_text(np.timedelta64(90, "s")) == "90"
    assert exact_text(np.bytes_(b"ab")) == "ab"
    assert exact_text(np.bytes_(b"\xff")) == "\\xff"
    assert exact_text(b"ab\0") == "0x616200", "bytes of their own length are no text"
    assert exact_text(np.array([[1, 2], [3, 4]])) == "1 2 3 4"


def test_coordinates_as_text() -> None:
    assert coordinate_text(Coordinate("x", 2, values=np.array([0.1, 2.5])), 0) == "0.1"
    assert coordinate_text(Coordinate("x", 2, values=np.float64(np.array([0.1, 2.5], "f4"))), 0) == "0.1"
    assert coordinate_text(Coordinate("x", 2, texts=("a", "b")), 1) == "b"
    assert coordinate_text(plain_coordinate("x", 5), 3) == "3"


FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd|x", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")')
NUMBERS = ("-1", "+1.5e-07", "-inf", "-nan", "-1-2j", "-0001-01-01T00:00:00", "-1 -2", "a=1", "", "1")


def test_text_is_never_a_formula() -> None:
    read = list(csv.reader(io.StringIO(b"".join(csv_lines([list(FORMULAS)])).decode(), newline="")))
    assert read == [[f"'{text}" for text in FORMULAS]]
    pasted = tsv_text([list(FORMULAS)]).split("\t")
    assert not [cell for cell in pasted if cell.strip().startswith(("=", "+", "-", "@"))]


def test_numbers_and_dates_stay_as_they_are() -> None:
    assert list(csv.reader(io.StringIO(b"".join(csv_lines([list(NUMBERS)])).decode()))) == [list(NUMBERS)]
    assert tsv_text([list(NUMBERS)]) == "\t".join(NUMBERS)


def test_elements_that_are_stored_with_the_highest_byte_first_keep_their_values(shown: Shown) -> None:
    assert array_of(shown("swapped")).tolist() == [1, 2, 70_000]
    assert array_of(shown("swapped_unsigned")).tolist() == [1, 65_535]
    assert table_of(shown("swapped"))[1:] == [["0", "1"], ["1", "2"], ["2", "70000"]]
