"""Nested arrays read as others are: by session, dataset, and on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import awkward
import numpy as np
import pytest
from awkward0_encoder import Encoder, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.export.request import ExportRequest
from refbrowser.engine.export.run import run_export
from refbrowser.engine.nested.python_values import check_number, python_values
from refbrowser.engine.pieces import PieceState
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.model.selection import Selection

DAYS = np.array(["2020-01-01", "NaT"], "M8[D]")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of one array of each kind."""
    counts = np.arange(3000) % 4
    makes = {
        "long": lambda e: e.jagged(counts, np.arange(counts.sum())),
        "optional": lambda e: e.make("MaskedArray", e.basic([True, False, False]), e.basic([1, 2, 3], "i2")),
        "days": lambda e: e.make("MaskedArray", e.basic([False, False]), e.basic(DAYS)),
        "pairs": lambda e: e.make("JaggedArray.fromregular", e.basic(np.arange(6.0).reshape(3, 2))),
        "texts": lambda e: e.strings(["a", "ö", ""]),
        "bytes": lambda e: e.strings([b"a", b"\xff"], None),
        "table": lambda e: e.table(x=[1.5, np.nan], y=e.jagged([1, 0], [5]), broken={"ref": 77}),
        "falls": lambda e: e.jagged(np.where(np.arange(3000) == 2999, 9, counts), np.arange(counts.sum())),
    }
    members: dict[str, bytes] = {}
    for name, make in makes.items():
        encoder = Encoder(name)
        members |= encoder.members(make(encoder))
    file = tmp_path_factory.mktemp("nested") / "made.awkd"
    file.write_bytes(zipped(members))
    return file


@pytest.fixture
def dataset(path: Path):
    with refbrowser.open(path) as dataset:
        yield dataset


def test_types_of_values(dataset: refbrowser.Dataset) -> None:
    assert dataset["/optional"][...].tolist()[1:] == [2.0, 3.0]
    assert np.isnan(dataset["/optional"][0])
    assert dataset["/days"][...].dtype == np.dtype("M8[D]")
    assert dataset["/pairs"][1:, 0].tolist() == [2.0, 4.0]
    assert dataset["/texts"][...].tolist() == ["a", "ö", ""]
    assert dataset["/bytes"][1] == b"\xff"
    rows = dataset["/long"][4:8]
    assert [row.tolist() for row in rows] == [[], [6], [7, 8], [9, 10, 11]]
    assert rows[1].dtype == np.int64
    assert dataset["/table/y"][0].tolist() == [5]


def test_what_is_missing_is_none_in_an_array_of_objects(dataset: refbrowser.Dataset) -> None:
    array, out = dataset["/optional"], np.empty(3, object)
    dataset.session.read(array.node, dataset.access, Selection.whole((3,)), out=out)
    assert out.tolist() == [None, 2, 3]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(data=st.data())
def test_selections(dataset: refbrowser.Dataset, data: st.DataObject) -> None:
    index = data.draw(st.slices(3000))
    counts = np.arange(3000) % 4
    ends = np.cumsum(counts)
    expected = [list(range(ends[row] - counts[row], ends[row])) for row in range(3000)[index]]
    assert [row.tolist() for row in dataset["/long"][index]] == expected


def test_a_bad_tile_hides_no_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.formats.awkward0.value_arrays._TILE_ROWS", 1000)
    with refbrowser.open(path) as dataset:
        array, pieces = dataset["/falls"], []
        out = np.empty(3000, object)
        dataset.session.read(
            array.node, dataset.access, Selection.whole((3000,)), out=out, on_piece=pieces.append
        )
        assert [piece.state for piece in pieces] == [PieceState.DONE, PieceState.DONE, PieceState.FAILED]
        assert out[1999].tolist() == [2997, 2998, 2999]
        with pytest.raises(RefbrowserError, match="which has"):
            array[...]


def test_what_cannot_be_read_is_told(dataset: refbrowser.Dataset) -> None:
    values = dataset["/table"][...]
    assert values[1] == {"x": pytest.approx(np.nan, nan_ok=True), "y": [], "broken": None}
    (warning,) = dataset.access.memory.warnings
    assert warning.kind is ErrorKind.SCHEMA
    assert "broken" in warning.message
    rows = dataset["/table"].nested_rows(0, 1)
    assert [fault.path for fault in rows.faults] == ["broken"]
    assert awkward.to_list(dataset["/table"].to_awkward(0, 1))[0]["y"] == [5]


def test_plain_arrays_as_awkward(tmp_path: Path) -> None:
    encoder = Encoder("one")
    (tmp_path / "x.awkd").write_bytes(zipped(encoder.members(encoder.basic(np.arange(6).reshape(3, 2)))))
    with refbrowser.open(tmp_path / "x.awkd") as dataset:
        assert awkward.to_list(dataset["/one"].to_awkward(1)) == [[2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("name", "select", "expected"),
    [
        ("/optional", "", [None, 2, 3]),
        ("/optional", "0", None),
        ("/days", "", ["2020-01-01", "NaT"]),
        ("/long", "5:8", [[6], [7, 8], [9, 10, 11]]),
        ("/bytes", "1", {"hex": "ff"}),
        ("/table", "1", {"x": "NaN", "y": [], "broken": None}),
        ("/pairs", "-1", [4.0, 5.0]),
    ],
)
def test_json(path: Path, capsys: pytest.CaptureFixture[str], name: str, select: str, expected: Any) -> None:
    assert main(["read", str(path), name, "--select", select, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == expected


def test_npy(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "x.npy"
    assert main(["read", str(path), "/optional", "-o", str(target)]) == 0
    assert np.load(target)[1:].tolist() == [2.0, 3.0]
    assert main(["read", str(path), "/table", "-o", str(target)]) == 2
    assert "--json" in capsys.readouterr().err


# -- Python values -----------------------------------------------------------------------------------------


def test_python_values_are_those_of_awkward() -> None:
    array = awkward.Array(
        [
            {"a": [1, None, 2.5], "b": "ö", "c": (1, [True])},
            None,
            {"a": [], "b": b"x", "c": (2, [])},
        ]
    )
    assert python_values(array.layout) == awkward.to_list(array)
    picked = array[[2, 0, 0]]
    assert python_values(picked.layout) == awkward.to_list(picked)


def test_times_are_exact() -> None:
    values = awkward.Array(np.array(["2020-01-01T00:00:00.123456789"], "M8[ns]"))
    assert str(python_values(values.layout)[0]) == "2020-01-01T00:00:00.123456789"


def overlapping(size: int, levels: int) -> Any:
    """Return lists each of which holds all lists of the level below."""
    content = awkward.contents.NumpyArray(np.arange(size))
    for _ in range(levels):
        starts, stops = np.zeros(size, np.int64), np.full(size, size)
        index = awkward.index.Index64
        content = awkward.contents.ListArray(index(starts), index(stops), content)
    return content


def test_values_that_are_shared_are_counted_as_often_as_they_are_shown() -> None:
    check_number(overlapping(10, 3))
    with pytest.raises(RefbrowserError, match="more than") as caught:
        python_values(overlapping(1000, 20))
    assert caught.value.kind is ErrorKind.BUDGET
    with pytest.raises(RefbrowserError):
        check_number(overlapping(int(LIMITS.awkward_values**0.5) + 1, 1))


def test_integers_beside_missing_ones_are_not_rounded(tmp_path: Path) -> None:
    encoder = Encoder("one")
    numbers = encoder.basic([2**53 + 1, 5, 2**53])
    root = encoder.make("MaskedArray", encoder.basic([False, True, False]), numbers)
    (tmp_path / "f.awkd").write_bytes(zipped(encoder.members(root)))
    with refbrowser.open(tmp_path / "f.awkd") as dataset:
        array = dataset["/one"]
        assert array.to_awkward().to_list() == [2**53 + 1, None, 2**53]
        assert array[2] == 2.0**53
        with pytest.raises(RefbrowserError, match="too large for float64"):
            array[:]


def test_lists_that_overlap_are_written_by_few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder("one")
    starts, stops = encoder.basic([0] * 300), encoder.basic([300] * 300)
    root = encoder.make("JaggedArray", starts, stops, encoder.basic(np.arange(300)))
    (tmp_path / "f.awkd").write_bytes(zipped(encoder.members(root)))
    monkeypatch.setattr(
        "refbrowser.engine.nested.python_values.LIMITS", replace(LIMITS, awkward_values=10_000)
    )
    with refbrowser.open(tmp_path / "f.awkd") as dataset:
        report = run_export(dataset, ExportRequest(str(tmp_path / "t"), "parquet"))
        assert report.chunks > 5
        assert awkward.from_parquet(tmp_path / "t")["one"].to_list() == [list(range(300))] * 300


def test_empty_lists_that_are_far_too_many_are_not_written(tmp_path: Path, capsys) -> None:
    encoder = Encoder("one")
    shape = encoder.basic(np.zeros((1, 0), "i1"))
    shape["args"][2] = {"json": 2**61}
    (tmp_path / "f.awkd").write_bytes(zipped(encoder.members(shape)))
    assert main(["read", str(tmp_path / "f.awkd"), "/one", "--json"]) == 2
    assert "E_BUDGET" in capsys.readouterr().err
    assert main(["read", str(tmp_path / "f.awkd"), "/one", "--json", "--select", "2:4"]) == 0
    assert json.loads(capsys.readouterr().out) == [[], []]
