"""Parquet and Feather of arrays that are not nested: dimensions, texts, structures, rows of streams."""

from __future__ import annotations

import json
from pathlib import Path

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from exported_streams import inline_document, opened
from looped import looped
from stream_constructs import ragged, texts
from structure_constructs import plain_structures, rich_structures

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.options import TABLE_CODECS, TableOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest

READ = {"parquet": ak.from_parquet, "feather": ak.from_feather}


def exported(dataset, target: Path, format="parquet", arrays=None, group_size=1 << 20, **options):
    chosen = None if arrays is None else tuple(ArrayChoice.of(dataset, *each) for each in arrays)
    tables = TableOptions(group_size=group_size)
    return run_export(dataset, ExportRequest(str(target), format, chosen, options=tables, **options))


@pytest.mark.parametrize("format", TABLE_CODECS)
def test_dimensions_are_lists_of_fixed_sizes(tmp_path: Path, format: str) -> None:
    cube = np.arange(7 * 2 * 3, dtype=">i2").reshape(7, 2, 3)
    line = np.linspace(0, 1, 7, dtype="<f4")
    arrays = {
        "cube": {"values": cube, "chunks": (2, 2, 2), "level": 1, "dimensions": ("t", "y", "x")},
        "deep/line": {"values": line, "attributes": {"units": "m"}},
        "single": {"values": np.array(4, "<i8")},
    }
    report = exported(opened(tmp_path, arrays, ("deep",)), tmp_path / "t", format, group_size=3 * (12 + 4))
    assert (report.arrays, report.chunks) == (3, 4)
    assert [str(loss) for loss in report.losses] == [
        "/single: the single value is kept in the metadata of the file"
    ]
    found = READ[format](tmp_path / "t")
    assert str(found.type) == '7 * {cube: 2 * 3 * int16, "deep/line": float32}'
    np.testing.assert_array_equal(found["cube"], cube)
    np.testing.assert_array_equal(found["deep/line"], line)
    if format == "parquet":
        file = pq.ParquetFile(tmp_path / "t")
        # Whole chunks: two rows each.
        assert [file.metadata.row_group(number).num_rows for number in range(4)] == [2, 2, 2, 1]
        about = json.loads(file.schema_arrow.metadata[b"refbrowser"])
        assert about["values"] == {"single": 4}
        assert about["arrays"]["cube"]["dimensions"] == ["t", "y", "x"]
        assert about["arrays"]["deep/line"]["attributes"] == {"units": "m"}


@pytest.mark.parametrize("format", TABLE_CODECS)
def test_types_of_numpy(tmp_path: Path, format: str) -> None:
    structure = np.zeros(3, [("a", "<i4"), ("b", "<f8", (2,)), ("in", [("c", "S2"), ("d", "?")])])
    structure["a"], structure["b"] = [1, 2, 3], np.arange(6).reshape(3, 2)
    structure["in"]["c"] = [b"x", b"", b"yz"]
    values = {
        "text": np.array(["a", "", "ä"], "<U2"),
        "binary": np.array([b"a", b"", b"\xff\x01"], "S2"),
        "time": np.array(["2020-01-01", "NaT", "1969-12-31"], "<M8[ms]"),
        "record": structure,
        "complex": np.array([1 + 2j, 0, -1j], "<c8"),
        "truth": np.array([True, False, True]),
    }
    dataset = opened(tmp_path, {name: {"values": each} for name, each in values.items()})
    exported(dataset, tmp_path / "t", format)
    found = READ[format](tmp_path / "t")
    assert found["text"].to_list() == ["a", "", "ä"]
    assert found["binary"].to_list() == [b"a", b"", b"\xff\x01"]
    assert found["time"].to_list() == [values["time"][0].item(), None, values["time"][2].item()]
    assert found["record"].to_list() == [
        {"a": 1, "b": [0, 1], "in": {"c": b"x", "d": False}},
        {"a": 2, "b": [2, 3], "in": {"c": b"", "d": False}},
        {"a": 3, "b": [4, 5], "in": {"c": b"yz", "d": False}},
    ]
    assert found["complex", "imag"].to_list() == [2, 0, -1]
    assert found["truth"].to_list() == [True, False, True]


CONSTRUCTS = [
    each
    for make in (ragged, texts, plain_structures, rich_structures)
    for each in make()
    if all(isinstance(value, list) for value in each.values.values())
]


def plain(value):
    """Return values as the constructs tell them: a row of letters is a list of them."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.slow
@looped("construct", CONSTRUCTS)
def test_constructs_of_streams(tmp_path: Path, construct) -> None:
    (tmp_path / "s.ncs").write_bytes(construct.stream)
    with refbrowser.open(tmp_path / "s.ncs") as dataset:
        chosen = [(path,) for path in construct.values]
        single = {path for path in construct.values if not dataset[path].shape}
        exported(dataset, tmp_path / "t", "feather", arrays=chosen, force=True)
    found = ak.from_feather(tmp_path / "t")
    for path, values in construct.values.items():
        rows = [values] if path in single else values
        assert plain(ak.to_list(found[path.strip("/")])) == plain(rows)


def test_parts_of_arrays(tmp_path: Path) -> None:
    cube = np.arange(60).reshape(3, 4, 5)
    dataset = opened(tmp_path, {"cube": {"values": cube, "chunks": (2, 2, 2)}})
    for text, part in (("1,:,::2", cube[1, :, ::2]), (":,2:,4", cube[:, 2:, 4]), ("::2", cube[::2])):
        exported(dataset, tmp_path / "t", arrays=[("/cube", text)], force=True, group_size=64)
        np.testing.assert_array_equal(ak.from_parquet(tmp_path / "t")["cube"], part)
    exported(dataset, tmp_path / "t", arrays=[("/cube", "1,2,3")], force=True)
    assert ak.from_parquet(tmp_path / "t")["cube"].to_list() == [33]
    with pytest.raises(RefbrowserError) as caught:
        exported(dataset, tmp_path / "t", arrays=[("/cube", "::-1")], force=True)
    assert caught.value.kind is ErrorKind.USAGE


def test_chunks_that_cannot_be_read_are_missing_where_that_is_wanted(tmp_path: Path) -> None:
    cube = np.arange(24).reshape(4, 6)
    document = json.loads(inline_document({"a": {"values": cube, "chunks": (2, 3), "level": 1}}))
    document["refs"]["a/1.0"] = "base64:AAAA"
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with refbrowser.open(tmp_path / "bad.json") as dataset:
        with pytest.raises(RefbrowserError):
            exported(dataset, tmp_path / "t")
        assert not (tmp_path / "t").exists()
        report = exported(dataset, tmp_path / "t", skip_bad=True)
    assert len(report.skipped) == 1
    wanted = cube.astype(object)
    wanted[2:, :3] = None
    assert ak.from_parquet(tmp_path / "t")["a"].to_list() == wanted.tolist()


def test_real_files_with_other_readers(shared_data: Path, tmp_path: Path) -> None:
    with refbrowser.open(shared_data / "real" / "eraint_uvz.refs.json") as dataset:
        exported(dataset, tmp_path / "t", arrays=[("/z", "..., :50")])
        found = pq.read_table(tmp_path / "t").column("z").combine_chunks()
        values = dataset["/z"][..., :50]
    while isinstance(found.type, pa.BaseExtensionType) or pa.types.is_fixed_size_list(found.type):
        found = found.storage if isinstance(found.type, pa.BaseExtensionType) else found.flatten()
    np.testing.assert_array_equal(found.to_numpy().reshape(values.shape), values)


# On the command line


@pytest.mark.slow
def test_the_command_line(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = str(shared_data / "awkward0" / "mini_particles.awkd"), tmp_path / "t.parquet"
    wanted = ["export", source, str(target), "--to", "parquet"]
    chosen = ["--array", "/Birr", "--array", "/Charge", "--select", "1:4"]
    assert main([*wanted, *chosen]) == 0
    said = capsys.readouterr()
    assert "note: /: arrays have different numbers of rows" in said.err
    assert "2 arrays, 2 row groups" in said.out
    names = sorted(each.name for each in target.iterdir())
    assert names == ["Birr.parquet", "Charge.parquet", "_tables.json"]
    options = ["--array", "/Birr", "--codec", "none", "--group-size", "4KiB", "--plain-types", "--force"]
    assert main([*wanted, *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "parquet"
    file = pq.ParquetFile(target)
    assert file.metadata.row_group(0).column(0).compression == "UNCOMPRESSED"
    assert file.schema_arrow.field("Birr").type == pa.list_(pa.field("item", pa.float32(), False))
    assert main([*wanted, "--array", "/Birr", "--estimate"]) == 0
    assert "1 row groups, 0 missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "parquet", "--codec", "blosc:lz4"], "is not a codec of parquet"),
        (["--to", "parquet", "--group-size", "many"], "is not a size"),
        (["--to", "parquet", "--chunks", "10"], "apply to stores"),
        (["--to", "parquet", "--resume"], "cannot be resumed"),
        (["--to", "zarr-v3", "--group-size", "4MiB"], "apply only to parquet and feather"),
        (["--to", "zarr-v3", "--plain-types"], "apply only to parquet and feather"),
    ],
)
def test_options_without_meaning(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    source = str(shared_data / "awkward0" / "mini_particles.awkd")
    assert main(["export", source, str(tmp_path / "t"), "--array", "/Birr", *options]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_chunks_of_more_rows_than_a_group_are_read_once(tmp_path: Path) -> None:
    values = np.arange(32).reshape(8, 4)
    zarr.create_array(tmp_path / "a.zarr", data=values, chunks=(8, 4), zarr_format=2)
    with refbrowser.open(tmp_path / "a.zarr") as dataset:
        report = exported(dataset, tmp_path / "t", group_size=64)
    assert (report.chunks, report.requests) == (4, 1)
    np.testing.assert_array_equal(ak.from_parquet(tmp_path / "t")["values"], values)
