"""Nested arrays read as others are: by session, dataset, and on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import awkward
import numpy as np
import pytest
import zarr
from awkward0_encoder import Encoder, zipped
from deep import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.nested.python_values import check_number, python_values
from refbrowser.engine.nested.rows import UnreadError, read_rows
from refbrowser.engine.reading.parts import PartState
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest
from refbrowser.limits import LIMITS
from refbrowser.model.json_values import _deep_text, json_text
from refbrowser.model.selection import Selection
from refbrowser.views.nested.nested_values import row_value
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS

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


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(30)
)
@given(data=st.data())
def test_selections(dataset: refbrowser.Dataset, data: st.DataObject) -> None:
    index = data.draw(st.slices(3000))
    counts = np.arange(3000) % 4
    ends = np.cumsum(counts)
    expected = [list(range(ends[row] - counts[row], ends[row])) for row in range(3000)[index]]
    assert [row.tolist() for row in dataset["/long"][index]] == expected


def test_a_bad_tile_hides_no_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.wings.awkward0.reading.value_arrays._CHUNK_ROWS", 1000)
    with refbrowser.open(path) as dataset:
        array, pieces = dataset["/falls"], []
        out = np.empty(3000, object)
        dataset.session.read(
            array.node, dataset.access, Selection.whole((3000,)), out=out, on_part=pieces.append
        )
        assert [piece.state for piece in pieces] == [PartState.DONE, PartState.DONE, PartState.FAILED]
        assert out[1999].tolist() == [2997, 2998, 2999]
        with pytest.raises(RefbrowserError, match=r"row 4505 .* and its length is 4500"):
            array[...]


def test_what_cannot_be_read_is_told(dataset: refbrowser.Dataset) -> None:
    array = dataset["/table"]
    for read in (lambda: array[...], lambda: array[1], array.to_awkward):
        with pytest.raises(RefbrowserError, match="field 'broken' of row") as caught:
            read()
        assert caught.value.kind is ErrorKind.SOURCE
    assert not dataset.access.memory.warnings
    # Asked for, what can be read is given, with what cannot beside it.
    rows = array.nested_rows(0, 1)
    assert [fault.path for fault in rows.faults] == ["broken"]
    assert awkward.to_list(array.to_awkward(0, 1, skip_bad=True))[0]["y"] == [5]
    (warning,) = dataset.access.memory.warnings
    assert warning.kind is ErrorKind.SCHEMA
    assert "broken" in warning.message
    values, errors = array.masked()
    assert values.mask.all()
    assert [type(error) for error in errors] == [UnreadError]


def one_of(tmp_path: Path, root: Callable[[Encoder], Any], damaged: bytes | None = None) -> Path:
    """Write a file of one array; a byte of what is given is changed in it."""
    encoder = Encoder("one")
    data = bytearray(zipped(encoder.members(root(encoder))))
    if damaged is not None:
        data[data.index(damaged)] ^= 1
    path = tmp_path / "one.awkd"
    path.write_bytes(data)
    return path


def test_what_cannot_be_read_names_rows_and_fields(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = np.array([7001, 7002], "<i8")
    cases: list[tuple[Callable[[Encoder], Any], str, list[int]]] = [
        (lambda e: e.table(good=[1, 2], bad=e.basic(bad)), "field 'bad' of rows 0 to 1 of", [0, 1]),
        (
            lambda e: e.jagged([0, 2, 0, 0], e.table(good=[1, 2], bad=e.basic(bad))),
            "field 'bad' of row 1 of",
            [1],
        ),
        (
            lambda e: e.make(
                "UnionArray",
                e.basic(np.array([0, 1, 0, 1, 0], "u1")),
                e.basic([0, 0, 1, 1, 2]),
                {"list": [e.basic([1.5, 2.5, 3.5]), e.basic(bad)]},
            ),
            "rows 1, 3 of",
            [1, 3],
        ),
    ]
    for root, said, failed in cases:
        path = one_of(tmp_path, root, bad.tobytes())
        assert main(["read", str(path), "/one", "--json"]) == 4
        out, err = capsys.readouterr()
        assert not out
        assert f"{said} /one cannot be read: the CRC-32" in err
        with refbrowser.open(path) as dataset:
            values, (error,) = dataset["/one"].masked()
            assert np.flatnonzero(values.mask).tolist() == failed
            assert error.rows.tolist() == failed
            for row in range(len(values)):
                if row in failed:
                    with pytest.raises(RefbrowserError, match="cannot be read"):
                        dataset["/one"][row]
                else:
                    assert dataset["/one"][row] == values[row]


def test_chunks_that_cannot_be_read_are_masked(tmp_path: Path) -> None:
    data = np.arange(12).reshape(4, 3)
    zarr.create_array(tmp_path / "a.zarr", data=data, chunks=(2, 3), zarr_format=2)
    (tmp_path / "a.zarr" / "1.0").write_bytes(b"?")
    with refbrowser.open(tmp_path / "a.zarr") as dataset:
        values, errors = dataset["/"].masked((slice(None, None, -1), 1))
        assert values.tolist() == [None, None, 4, 1]
        assert len(errors) == 1
        assert not dataset["/"].masked(0).errors


def linked_list(encoder: Encoder, last: int, count: int = 300) -> Any:
    """Return a table each row of which leads to the next one; the last one to `last`."""
    following = encoder.basic(np.append(np.arange(1, count), last))
    pairs = [
        ["x", encoder.basic(np.arange(count))],
        ["next", encoder.make("IndexedMaskedArray", following, {"ref": 99})],
    ]
    return {"call": ["awkward0", "Table", "frompairs"], "args": [{"pairs": pairs}, {"json": 0}], "id": 99}


@pytest.mark.long
def test_values_go_on_in_themselves_as_far_as_the_data_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = one_of(tmp_path, lambda encoder: linked_list(encoder, -1))
    assert main(["read", str(path), "/one", "--select", "0", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    for x in range(300):
        assert row["x"] == x
        row = row["next"]
    assert row is None
    assert main(["check", str(path)]) == 0
    capsys.readouterr()
    # A cycle without an end is legal, and cannot be written out; so are more turns than are followed.
    limits = replace(AWKWARD_LIMITS, awkward_turns=100)
    monkeypatch.setattr("refbrowser.wings.awkward0.rows.layout_values.AWKWARD_LIMITS", limits)
    for last, told in ((0, "rows 0 to 299"), (-1, "rows 0 to 199")):
        path = one_of(tmp_path, lambda encoder, last=last: linked_list(encoder, last))
        assert main(["check", str(path)]) == 0
        assert main(["read", str(path), "/one", "--json"]) == 2
        out, err = capsys.readouterr()
        assert "null" not in out
        assert told in err
        with refbrowser.open(path) as dataset:
            values, errors = dataset["/one"].masked()
            assert len(errors) == 1
            assert int(values.mask.sum()) == (300 if last == 0 else 200)


@pytest.mark.slow
def test_lists_of_themselves_go_on_too(tmp_path: Path) -> None:
    # [[[[[[[[[[]]]]]]]]]]: each list holds the one after it, and the last one none.
    counts = [1] * 30 + [0]
    starts, stops = np.arange(1, 32), np.arange(1, 32) + counts
    root = {"call": ["awkward0", "JaggedArray"], "id": 99}
    path = one_of(tmp_path, lambda e: {**root, "args": [e.basic(starts), e.basic(stops), {"ref": 99}]})
    with refbrowser.open(path) as dataset:
        value, depth = dataset["/one"][0], 0
        while len(value):
            (value,) = value
            depth += 1
        assert depth == 30
    path = one_of(tmp_path, lambda e: {**root, "args": [e.basic([0]), e.basic([1]), {"ref": 99}]})
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError, match="contain themselves"):
        dataset["/one"][0]


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
    assert main(["read", str(path), "/table", "-o", str(target), "--force"]) == 2
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


def test_very_many_rows_are_asked_for_and_written_in_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sparse(encoder: Encoder) -> Any:
        args = [{"json": 10**8}, encoder.basic([3, 7]), encoder.basic([1.5, 2.5]), {"json": 0.5}]
        return {"call": ["awkward0", "SparseArray"], "args": args, "id": encoder.number()}

    path = one_of(tmp_path, sparse)
    assert path.stat().st_size < 1000
    assert main(["read", str(path), "/one", "--json"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "--yes" in err
    monkeypatch.setattr("refbrowser.tools.read.value_files._BLOCK", 1000)
    sizes = []
    read = refbrowser.engine.dataset.Array.read

    def counted(array: Any, selection: Selection, control: Any = None) -> Any:
        sizes.append(selection.size)
        return read(array, selection, control)

    monkeypatch.setattr(refbrowser.engine.dataset.Array, "read", counted)
    for select in ("0:3500", "3500:2:-3", "5", "2:4"):
        assert main(["read", str(path), "/one", "--select", select, "--json"]) == 0
        written = json.loads(capsys.readouterr().out)
        values = np.full(3501, 0.5)
        values[[3, 7]] = 1.5, 2.5
        part = [slice(*(int(each) if each else None for each in select.split(":")))] if ":" in select else [5]
        assert written == values[part[0]].tolist()
    assert max(sizes) <= 1000
    assert len(sizes) == 4 + 2 + 1 + 1


@pytest.mark.long
def test_very_many_rows_take_little_memory(tmp_path: Path) -> None:
    def sparse(encoder: Encoder) -> Any:
        args = [{"json": 20_000_000}, encoder.basic([3]), encoder.basic([1.5]), {"json": 0.5}]
        return {"call": ["awkward0", "SparseArray"], "args": args, "id": encoder.number()}

    path = one_of(tmp_path, sparse)
    code = (
        "import resource, sys; from refbrowser.cli import main; code = main(sys.argv[1:]);"
        "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    target = tmp_path / "o.json"
    command = [sys.executable, "-c", code, "read", str(path), "/one", "--json", "--yes", "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    exit_code, kilobytes = map(int, done.stdout.split())
    assert exit_code == 0
    assert kilobytes < 400_000
    assert target.read_bytes().count(b"0.5") == 20_000_000 - 1


def test_json_of_any_depth() -> None:
    shallow: Any = {"a": [1, None, {"b": "ö"}], "c": (2.5, float("nan"), b"x"), "d": [], "e": {}}
    held = np.empty(2, object)
    held[:] = [shallow, np.datetime64("2020-01-01")]
    plain = json_text(held)
    assert _deep_text(held) == plain
    deep: Any = shallow
    for _ in range(5000):
        deep = {"next": [deep]}
    held[0] = deep
    assert json_text(held) == plain.replace('{"a"', '{"next": [' * 5000 + '{"a"').replace(
        '"e": {}}', '"e": {}}' + "]}" * 5000
    )


@pytest.mark.long
def test_words_for_rows_do_not_follow_what_is_linked(tmp_path: Path) -> None:
    e = Encoder("one")
    chain = e.make("IndexedMaskedArray", e.basic([*range(1, 900), -1]), {"ref": 77})
    pairs = {"pairs": [["v", e.basic(np.arange(900.0))], ["next", chain]]}
    call = {"call": ["awkward0", "Table", "frompairs"], "args": [pairs, {"json": 0}], "id": 77}
    (tmp_path / "a.awkd").write_bytes(zipped(e.members(call)))
    with refbrowser.open(tmp_path / "a.awkd") as dataset:
        node = dataset["/one"].node
        rows = read_rows(dataset.session, node, dataset.access, 0, 3)
        assert repr(rows) == "<NestedRows: 3 rows, 0 faults>"
        assert len(repr(row_value(rows, 0))) < 200
        assert len(repr(node)) < 2000
