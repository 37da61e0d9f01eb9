"""Parquet and Feather: what awkward reads again, what is told, and what is left after failures."""

from __future__ import annotations

import json
import sys
from datetime import date, datetime
from pathlib import Path

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from awkward import contents, index
from awkward0_encoder import Encoder, zipped
from nested_datasets import HeldValues, nested_dataset, same

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.nested import plain_rows as unrolling
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting import folder
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.options import TABLE_CODECS, TableOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.exporting.targets import tables_writing as writing
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.nested import NestedFault, NestedRows, NestedType, TypeKind, parts_of_kind

READ = {"parquet": ak.from_parquet, "feather": ak.from_feather}


def exported(dataset, target: Path, format: str = "parquet", arrays=None, control=None, **options):
    settings = {
        name: options.pop(name) for name in ("codec", "group_size", "awkward_types") if name in options
    }
    chosen = None if arrays is None else tuple(ArrayChoice.of(dataset, *each) for each in arrays)
    request = ExportRequest(str(target), format, chosen, options=TableOptions(**settings), **options)
    return run_export(dataset, request, control)


def optional(content) -> contents.IndexedOptionArray:
    return contents.IndexedOptionArray(index.Index64(np.array([*range(len(content)), -1])), content)


TEXTS = ak.Array(["a", "", "ä€"]).layout
FLOATS = contents.NumpyArray(np.array([0.5, np.nan, -np.inf]))
CASES = {
    "floats": FLOATS,
    "half": contents.NumpyArray(np.array([0.5, 2], np.float16)),
    "bytes": contents.NumpyArray(np.arange(3, dtype=np.uint8)),
    "truth": contents.NumpyArray(np.array([True, False])),
    "all missing below": ak.Array([{"x": [1], "y": "a"}, None]).layout[1:],
    "all missing far below": ak.Array([{"x": [{"y": None}]}, {"x": [{"y": [[None, 1]]}]}]).layout[:1],
    "texts": TEXTS,
    "binary": ak.Array([b"\x00", b"", b"\xff"]).layout,
    "missing texts": optional(TEXTS),
    "lists": ak.Array([[1, 2], [], [3]]).layout,
    "missing lists": optional(ak.Array([[1, 2], [], [3]]).layout),
    "lists of lists of texts": ak.Array([[["a"], []], [], [["b", "c"]]]).layout,
    "regular": contents.RegularArray(contents.NumpyArray(np.arange(6.0)), 2),
    "missing regular": optional(contents.RegularArray(contents.NumpyArray(np.arange(6.0)), 2)),
    "records": ak.Array([{"x": 1.5, "y": [1, None]}, {"x": 2.5, "y": []}]).layout,
    "named records": contents.RecordArray([FLOATS, TEXTS], ["x", "y"], parameters={"__record__": "Point"}),
    "missing records": optional(contents.RecordArray([FLOATS, TEXTS], ["x", "y"])),
    "pairs": contents.RecordArray([FLOATS, TEXTS], None),
    "lists of records": ak.Array([[{"x": 1, "y": "a"}], [], [{"x": 2, "y": "b"}] * 2]).layout,
    "unknown": ak.Array([[], []]).layout,
    "always missing": ak.Array([None, None]).layout,
}


@pytest.mark.slow
@pytest.mark.parametrize("format", TABLE_CODECS)
def test_awkward_reads_each_type_again(tmp_path: Path, format: str) -> None:
    for name, layout in CASES.items():
        array = ak.Array(layout)
        target = tmp_path / f"{name}.{format}"
        report = exported(nested_dataset(tmp_path, {"c": array}), target, format, group_size=40)
        assert (report.arrays, report.losses) == (1, ()), name
        assert report.verified == report.chunks >= 1
        assert same(READ[format](target)["c"], array), name


def losses_of(tmp_path: Path, layout, format: str) -> tuple[list[str], ak.Array]:
    dataset = nested_dataset(tmp_path, {"c": ak.Array(layout)})
    request = ExportRequest(str(tmp_path / f"t.{format}"), format, force=True)
    told = estimate_export(dataset, request).losses
    report = run_export(dataset, request)
    assert report.losses == told
    return [loss.what for loss in told], READ[format](request.target)["c"]


@pytest.mark.parametrize("format", TABLE_CODECS)
def test_what_arrow_has_no_type_for_is_written_otherwise_and_told(tmp_path: Path, format: str) -> None:
    numbers = contents.NumpyArray(np.array([1 + 2j, -1j]))
    told, found = losses_of(tmp_path, contents.RegularArray(numbers, 2), format)
    assert told == ["complex numbers are written as records of real and imag"]
    assert found.to_list() == [[{"real": 1.0, "imag": 2.0}, {"real": 0.0, "imag": -1.0}]]
    told, found = losses_of(tmp_path, contents.RegularArray(contents.EmptyArray(), 0, 3), format)
    assert (len(told), found.to_list()) == (1, [[], [], []])
    told, found = losses_of(tmp_path, contents.NumpyArray(np.array(["2020-01-01", "NaT"], "M8[h]")), format)
    assert told == [
        f"datetime64[h] is written as datetime64[{'ms' if format == 'parquet' else 's'}]",
        "no time (NaT) is written as missing",
    ]
    assert found.to_list() == [datetime(2020, 1, 1), None]
    told, found = losses_of(tmp_path, contents.NumpyArray(np.array([1.5], np.longdouble)), format)
    assert (told, found.to_list()) == (["float128 is written as float64"], [1.5])


def test_a_union_stays_one_in_feather_and_is_a_record_in_parquet(tmp_path: Path) -> None:
    array = ak.Array([1, "a", None, [1.5], "b"])
    told, found = losses_of(tmp_path, array.layout, "feather")
    assert told == []
    assert same(found, array)
    told, found = losses_of(tmp_path, array.layout, "parquet")
    assert told == ["a union is written as a record with one field set: int64, string, list"]
    assert found.to_list() == [
        {"int64": 1, "string": None, "list": None},
        {"int64": None, "string": "a", "list": None},
        {"int64": None, "string": None, "list": None},
        {"int64": None, "string": None, "list": [1.5]},
        {"int64": None, "string": "b", "list": None},
    ]


def two_of(*parts) -> contents.UnionArray:
    tags = np.arange(len(parts), dtype=np.int8)
    first = index.Index64(np.zeros(len(parts), np.int64))
    return contents.UnionArray(index.Index8(tags), first, list(parts))


@pytest.mark.parametrize("format", TABLE_CODECS)
@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((np.array([2**53 + 1]), np.array([0.5])), [2**53 + 1, 0.5]),
        ((np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-01T01"], "M8[s]")),
         [date(2020, 1, 1), datetime(2020, 1, 1, 1)]),
        ((np.array([[1, 2]]), np.array([[1, 2, 3]])), [[1, 2], [1, 2, 3]]),
        ((np.array([True]), np.array([1 + 2j])), [True, {"real": 1.0, "imag": 2.0}]),
    ],
)  # fmt: skip
def test_possibilities_that_are_alike_are_told_apart(tmp_path: Path, format: str, parts, wanted) -> None:
    _, found = losses_of(tmp_path, two_of(*map(contents.NumpyArray, parts)), format)
    rows = found.to_list()
    for at, row in enumerate(rows):
        if isinstance(row, dict) and len(found.fields) == len(parts) and "real" not in row:
            (rows[at],) = (each for each in row.values() if each is not None)
    assert rows == wanted


def test_records_without_fields_are_missing_in_parquet(tmp_path: Path) -> None:
    told, found = losses_of(tmp_path, contents.RecordArray([], [], 2), "parquet")
    assert told == ["records without fields are written as missing"]
    assert found.to_list() == [None, None]


@pytest.mark.parametrize("format", TABLE_CODECS)
def test_arrays_of_equal_length_are_columns_in_groups_of_rows(tmp_path: Path, format: str) -> None:
    first, second = ak.Array([[n] * (n % 3) for n in range(10)]), ak.Array([str(n) for n in range(10)])
    dataset = nested_dataset(tmp_path, {"a": first, "b": second}, title="both")
    target = tmp_path / "t"
    report = exported(dataset, target, format, group_size=3 * 64)
    assert (report.arrays, report.chunks, report.written_bytes) == (2, 4, target.stat().st_size)
    found = READ[format](target)
    assert same(found["a"], first)
    assert same(found["b"], second)
    if format == "parquet":
        file = pq.ParquetFile(target)
        assert [file.metadata.row_group(number).num_rows for number in range(4)] == [3, 3, 3, 1]
        about = json.loads(file.schema_arrow.metadata[b"refbrowser"])
        assert about["attributes"] == {"title": "both"}
        assert about["arrays"]["a"] == {"path": "/a", "attributes": {"note": "of a"}}


def test_arrays_of_other_lengths_are_files_of_a_folder(tmp_path: Path) -> None:
    arrays = {"a": ak.Array([[1], []]), "b": ak.Array([None, 1, 2]), "c": ak.Array([[1]])[:0]}
    dataset = nested_dataset(tmp_path, arrays)
    target = tmp_path / "t"
    report = exported(dataset, target)
    assert [loss.what for loss in report.losses] == [
        "arrays have different numbers of rows: they are written to a folder with a file each"
    ]
    assert left(target) == ["_tables.json", "a.parquet", "b.parquet", "c.parquet"]
    tables = json.loads((target / "_tables.json").read_text())["tables"]
    assert tables["b.parquet"] == {"rows": 3, "arrays": ["/b"]}
    assert ak.from_parquet(target / "b.parquet")["b"].to_list() == [None, 1, 2]
    assert same(ak.from_parquet(target / "c.parquet")["c"], arrays["c"])
    with pytest.raises(RefbrowserError, match="exists already"):
        exported(dataset, target)
    assert exported(dataset, target, force=True).arrays == 3
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(RefbrowserError, match="without a dataset"):
        exported(dataset, tmp_path / "mine", force=True)


def test_rows_of_an_array_may_be_chosen(tmp_path: Path) -> None:
    array = ak.Array([[n] * (n % 3) for n in range(10)])
    dataset = nested_dataset(tmp_path, {"a": array})
    exported(dataset, tmp_path / "t", arrays=[("/a", "2:9:3")], group_size=32)
    assert same(ak.from_parquet(tmp_path / "t")["a"], array[2:9:3])
    for wrong in ("3", "::-1"):
        with pytest.raises(RefbrowserError) as caught:
            exported(dataset, tmp_path / "u", arrays=[("/a", wrong)])
        assert caught.value.kind is ErrorKind.USAGE


def test_types_without_those_of_awkward_are_plain(tmp_path: Path) -> None:
    array = ak.Array(contents.RecordArray([FLOATS, TEXTS], ["x", "y"], parameters={"__record__": "Point"}))
    exported(nested_dataset(tmp_path, {"c": array}), tmp_path / "t", "feather", awkward_types=False)
    with pa.ipc.open_file(str(tmp_path / "t")) as file:
        assert file.schema.field("c").type == pa.struct(
            [pa.field("x", pa.float64(), False), pa.field("y", pa.string(), False)]
        )


@pytest.mark.parametrize(
    ("format", "codec", "stored"),
    [("parquet", "keep", "ZSTD"), ("parquet", "none", "UNCOMPRESSED"), ("parquet", "gzip:9", "GZIP"),
     ("feather", "zstd:3", None), ("feather", "none", None)],
)  # fmt: skip
def test_the_codec_is_chosen(tmp_path: Path, format: str, codec: str, stored: str | None) -> None:
    array = ak.Array([[1, 2, 3]] * 50)
    exported(nested_dataset(tmp_path, {"a": array}), tmp_path / "t", format, codec=codec)
    assert same(READ[format](tmp_path / "t")["a"], array)
    if stored is not None:
        assert pq.ParquetFile(tmp_path / "t").metadata.row_group(0).column(0).compression == stored


@pytest.mark.parametrize("codec", ["blosc:lz4", "zstd:99", "snappy:3", "zstd:", "lzma"])
def test_codecs_that_a_format_has_not_are_refused(tmp_path: Path, codec: str) -> None:
    for format in TABLE_CODECS:
        with pytest.raises(RefbrowserError, match="is not a codec"):
            exported(nested_dataset(tmp_path, {"a": ak.Array([1])}), tmp_path / "t", format, codec=codec)
    with pytest.raises(RefbrowserError, match="cannot be resumed"):
        exported(nested_dataset(tmp_path, {"a": ak.Array([1])}), tmp_path / "t", resume=True)


# Failures


def left(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.name != "nothing.json")


def test_a_cancelled_export_leaves_nothing(tmp_path: Path) -> None:
    token = CancelToken()

    def seen(start: int, stop: int) -> None:
        if start >= 4:
            token.cancel()

    dataset = nested_dataset(tmp_path, {"a": HeldValues(ak.Array([[1]] * 10), seen=seen)})
    with pytest.raises(Cancelled):
        exported(dataset, tmp_path / "t", group_size=32, control=JobControl(token))
    assert left(tmp_path) == []


def test_what_is_not_read_again_as_it_was_written_is_an_error(tmp_path: Path, monkeypatch) -> None:
    dataset = nested_dataset(tmp_path, {"a": ak.Array([[1], [2, 3]])})
    (tmp_path / "t").write_text("old")
    found = writing.tables_in

    def damaged(format: str, path: Path):
        for table in found(format, path):
            yield table.slice(1)

    monkeypatch.setattr(writing, "tables_in", damaged)
    with pytest.raises(RefbrowserError, match="verification failed"):
        exported(dataset, tmp_path / "t", force=True)
    monkeypatch.setattr(writing, "tables_in", lambda format, path: iter(()))
    with pytest.raises(RefbrowserError, match="0 groups of rows where 1 were written"):
        exported(dataset, tmp_path / "t", force=True)
    assert (left(tmp_path), (tmp_path / "t").read_text()) == (["t"], "old")


def faulty(path: str, array: ak.Array, start_of_fault: int):
    """Return values whose rows cannot be read from some row on."""

    def seen(start: int, stop: int) -> NestedRows | None:
        if stop <= start_of_fault:
            return None
        content = array[start:stop].layout
        missing = contents.IndexedOptionArray(index.Index64(np.full(len(content), -1)), content.content("y"))
        error = RefbrowserError(ErrorKind.DECODE, "blob 3 is damaged")
        record = contents.RecordArray([content.content("x"), missing], ["x", "y"])
        return NestedRows(record, (NestedFault(path, error),))

    return HeldValues(array, seen=seen)


def test_parts_that_cannot_be_read_are_missing_only_where_that_is_wanted(tmp_path: Path) -> None:
    array = ak.Array([{"x": n, "y": [n]} for n in range(6)])
    dataset = nested_dataset(tmp_path, {"a": faulty("y", array, 4), "b": ak.Array([1, 2, 3, 4, 5, 6])})
    with pytest.raises(RefbrowserError, match="blob 3 is damaged"):
        exported(dataset, tmp_path / "t", group_size=64)
    assert left(tmp_path) == []
    report = exported(dataset, tmp_path / "t", group_size=64, skip_bad=True)
    assert [error.message for error in report.skipped] == ["blob 3 is damaged"]
    found = ak.from_parquet(tmp_path / "t")
    assert found["a"].to_list() == [*array.to_list()[:4], {"x": 4, "y": None}, {"x": 5, "y": None}]
    assert str(found.type.content.content("a")) == "{x: int64, y: option[var * int64]}"
    assert found["b"].to_list() == [1, 2, 3, 4, 5, 6]


def test_parts_whose_type_cannot_be_read_are_named(tmp_path: Path) -> None:
    array = ak.Array([{"x": 1, "y": None}])
    number, opaque = (
        NestedType(TypeKind.NUMBER, dtype=np.dtype("i8")),
        NestedType(TypeKind.OPAQUE, name="refused"),
    )
    type = NestedType(TypeKind.RECORD, items=(number, opaque), fields=("x", "y"))
    dataset = nested_dataset(tmp_path, {"a": HeldValues(array, type), "b": HeldValues(array["y"], opaque)})
    with pytest.raises(RefbrowserError, match="cannot be read: refused"):
        exported(dataset, tmp_path / "t")
    report = exported(dataset, tmp_path / "t", skip_bad=True)
    assert [(error.place.path, error.message) for error in report.skipped] == [
        ("/b", "cannot be read: refused")
    ]
    assert [str(loss) for loss in report.losses] == [
        "/a: y: cannot be read and is written as missing: refused"
    ]
    assert ak.from_parquet(tmp_path / "t")["a"].to_list() == [{"x": 1, "y": None}]


def test_rows_that_are_too_many_to_be_held_are_read_by_fewer(tmp_path: Path) -> None:
    reads = []

    def seen(start: int, stop: int) -> None:
        reads.append(stop - start)
        if stop - start > 3:
            raise RefbrowserError(ErrorKind.BUDGET, "too many")

    array = ak.Array([[n] for n in range(11)])
    dataset = nested_dataset(tmp_path, {"a": HeldValues(array, seen=seen)})
    assert exported(dataset, tmp_path / "t").chunks == 6
    assert reads == [11, 5, *[2] * 5, 1]
    assert same(ak.from_parquet(tmp_path / "t")["a"], array)

    def never(start: int, stop: int) -> None:
        raise RefbrowserError(ErrorKind.BUDGET, "too large")

    dataset = nested_dataset(tmp_path, {"a": HeldValues(array, seen=never)})
    with pytest.raises(RefbrowserError, match="too large"):
        exported(dataset, tmp_path / "u")


@pytest.mark.long
@pytest.mark.parametrize("format", TABLE_CODECS)
def test_real_files_of_awkward_0_become_tables(shared_data: Path, tmp_path: Path, format: str) -> None:
    expected = json.loads((shared_data / "awkward0" / "mini_particles.expected.json").read_text())
    with refbrowser.open(shared_data / "awkward0" / "mini_particles.awkd") as dataset:
        report = exported(dataset, tmp_path / "t", format)
        assert report.arrays == len(expected)
        for name, facts in expected.items():
            found = READ[format](tmp_path / "t" / f"{name}.{format}")[name]
            if "scalar" in facts:
                assert found.to_list() == [facts["scalar"]]
                continue
            assert len(found) == facts["length"]
            if "union" not in facts["type"]:
                assert str(found.type) == facts["type"]
            if "sum" in facts:
                flat = ak.to_numpy(ak.flatten(found, axis=None)).astype(float)
                assert np.sum(flat[np.isfinite(flat)]) == pytest.approx(facts["sum"], rel=1e-9)


def linked_table(path: Path, links: str, index: list[int]) -> None:
    encoder = Encoder("one")
    numbers = encoder.basic([at + 1 for at in range(len(index))])
    columns = {"pairs": [["x", numbers], ["next", encoder.make(links, encoder.basic(index), {"ref": 99})]]}
    table = {"call": ["awkward0", "Table", "frompairs"], "args": [columns, {"json": 0}], "id": 99}
    path.write_bytes(zipped(encoder.members(table)))


def test_arrays_that_go_on_in_themselves_are_written_by_some_turns(tmp_path: Path) -> None:
    linked_table(tmp_path / "a.awkd", "IndexedMaskedArray", [1, 2, -1])
    with refbrowser.open(tmp_path / "a.awkd") as dataset:
        report = exported(dataset, tmp_path / "t")
    assert report.skipped == ()
    assert ["is recursive" in str(loss) for loss in report.losses] == [True]
    last = {"x": 3, "next": None}
    middle = {"x": 2, "next": last}
    found = ak.from_parquet(tmp_path / "t")["one"]
    assert found.to_list() == [{"x": 1, "next": middle}, middle, last]


def test_arrays_without_an_end_are_no_fault(tmp_path: Path) -> None:
    linked_table(tmp_path / "a.awkd", "IndexedArray", [1, 0])
    with refbrowser.open(tmp_path / "a.awkd") as dataset:
        assert exported(dataset, tmp_path / "t").skipped == ()
    row, seen = ak.from_parquet(tmp_path / "t")["one"].to_list()[0], []
    while row is not None:
        seen.append(row["x"])
        row = row["next"]
    assert seen == [1, 2, 1, 2, 1, 2, 1]


def test_types_with_many_links_have_fewer_turns(monkeypatch) -> None:
    monkeypatch.setattr(unrolling, "MOST_TYPES", 200)
    link = NestedType(TypeKind.LINK, name="7")
    tree = NestedType(TypeKind.RECORD, items=(link,) * 10, fields=tuple("abcdefghij"))
    values = HeldValues(ak.Array([1]), tree)
    values.linked = {"7": tree}.__getitem__
    found = unrolling.unrolled_type(values)
    assert [len(path) for path, _ in parts_of_kind(found, TypeKind.LINK)] == [2] * 100


def test_files_that_would_have_the_same_name_are_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(folder, "ignores_case", lambda path: True)
    dataset = nested_dataset(tmp_path, {"a": ak.Array([[1]]), "A": ak.Array([[1], []])})
    with pytest.raises(RefbrowserError, match="the same path"):
        exported(dataset, tmp_path / "t")
    assert left(tmp_path) == []


def test_names_that_are_no_file_names_are_escaped(tmp_path: Path) -> None:
    dataset = nested_dataset(tmp_path, {"..": ak.Array([[1]]), "a:b": ak.Array([[1], []])})
    exported(dataset, tmp_path / "t")
    assert left(tmp_path / "t") == ["%2E%2E.parquet", "_tables.json", "a%3Ab.parquet"]
    assert ak.from_parquet(tmp_path / "t" / "a%3Ab.parquet")["a:b"].to_list() == [[1], []]


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RefbrowserError) as caught:
        exported(nested_dataset(tmp_path, {"a": ak.Array([[1]])}), tmp_path / "t")
    assert "refbrowser[parquet]" in caught.value.advice
