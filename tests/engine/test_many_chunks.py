"""Very many small chunks: planned and read by columns, with little for each beside its own bytes."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.reading.reader import BATCH
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.access.access import Access

SIDE = 300


def store(folder: Path, shape: list[int], chunks: list[int], dtype: str = "|u1") -> Path:
    (folder / "a").mkdir(parents=True)
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    metadata = {
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": None,
        "filters": None, "order": "C", "fill_value": 0,
    }  # fmt: skip
    (folder / "a" / ".zarray").write_text(json.dumps(metadata))
    return folder


@pytest.mark.slow
def test_a_plan_takes_little_for_each_chunk_and_looks_at_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = store(tmp_path / "s.zarr", [SIDE, SIDE], [1, 1])
    with refbrowser.open(path) as dataset:
        array = dataset["a"]
        array.plan(array.selection("0:2"))
        with patch.object(Access, "locate", side_effect=AssertionError("asked where one chunk lies")):
            tracemalloc.start()
            plan = array.plan(array.selection(""))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert plan.chunks == plan.ranges.request_count == SIDE * SIDE
    assert peak < 400 * SIDE * SIDE
    assert main(["plan", str(path), "a", "--json", "--select", "0:2,0:2"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [Path(url).name for url, _, _ in shown["requests"]] == ["0.0", "0.1", "1.0", "1.1"]
    assert shown["chunks"] == 4


@pytest.mark.slow
def test_a_read_asks_once_for_each_file_and_hands_many_over_together(tmp_path: Path) -> None:
    path = store(tmp_path / "s.zarr", [4_000], [1])
    for number in range(0, 4_000, 2):
        (path / "a" / str(number)).write_bytes(bytes([number % 251]))
    wanted = np.arange(4_000) % 251 * (np.arange(4_000) % 2 == 0)
    with refbrowser.open(path) as dataset:
        asked, turns = [], []
        locate, pool = Access.locate, dataset.session.fetcher._pool

        def count(access: Access, url: str):
            asked.append(url)
            return locate(access, url)

        def counted(name: str, threads: int):
            turns.append(name)
            return pool(name, threads)

        with (
            patch.object(Access, "locate", count),
            patch.object(dataset.session.fetcher, "_pool", counted),
            patch("refbrowser.engine.session.KEPT_CHUNKS", 100),
        ):
            np.testing.assert_array_equal(dataset["a"][...], wanted)
        assert len(asked) <= 4_000 + 10
        assert len(turns) <= 4_000 // 16


@pytest.mark.slow
def test_the_first_fault_of_a_billion_chunks_comes_with_the_first_batch(tmp_path: Path) -> None:
    metadata = json.loads((store(tmp_path / "s", [10**9], [1]) / "a" / ".zarray").read_text())
    rule = {
        "key": "a/{{i}}", "url": "none.bin", "offset": "{{i}}", "length": "1",
        "dimensions": {"i": {"stop": 10**9}},
    }  # fmt: skip
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(metadata)}
    (tmp_path / "d.json").write_text(json.dumps({"version": 1, "gen": [rule], "refs": refs}))
    with refbrowser.open(tmp_path / "d.json") as dataset:
        array, asked = dataset["a"], []
        out = np.broadcast_to(np.zeros(1, "u1"), (10**9,))
        columns = type(array.node.manifest).columns

        def count(manifest, coords):
            asked.append(len(coords))
            return columns(manifest, coords)

        tracemalloc.start()
        with (
            patch.object(type(array.node.manifest), "columns", count),
            pytest.raises(RefbrowserError) as error,
        ):
            dataset.session.read(array.node, dataset.access, array.selection(""), out=out)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert error.value.kind is ErrorKind.IO
    assert asked == [BATCH]
    assert peak < 30 << 20


def test_an_array_of_more_elements_than_can_be_counted_shows_its_shape_and_is_read_in_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = 2**40
    path = store(tmp_path / "s.zarr", [size, size], [2**10, 2**10], "<i4")
    chunk = np.arange(2**20, dtype="<i4").reshape(2**10, 2**10)
    (path / "a" / "0.0").write_bytes(chunk.tobytes())
    (path / "a" / f"{size // 2**10 - 1}.0").write_bytes(chunk.tobytes())
    with refbrowser.open(path) as dataset:
        array = dataset["a"]
        assert array.shape == (size, size)
        np.testing.assert_array_equal(array[1020:1030, 3], [*chunk[1020:, 3], *[0] * 6])
        np.testing.assert_array_equal(array[-2:, 5:7], chunk[-2:, 5:7])
        assert array.plan(array.selection("0,0:3000")).chunks == 3
        for call in (lambda: array[...], lambda: array.plan(array.selection(""))):
            with pytest.raises(RefbrowserError) as error:
                call()
            assert error.value.kind is ErrorKind.BUDGET
        with pytest.raises(RefbrowserError) as error:
            refbrowser.export(dataset, tmp_path / "out", format="zarr-v2")
        assert error.value.kind is ErrorKind.BUDGET
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["arrays"]["/a"]["shape"] == [size, size]
    assert main(["cdl", str(path)]) == 0
    assert f"= {size}LL" in capsys.readouterr().out
    for output in ([], ["-o", str(tmp_path / "x.npy")], ["--json"]):
        assert main(["read", str(path), "a", *output]) == 2
        assert "E_BUDGET" in capsys.readouterr().err


def test_more_values_than_one_read_gives_are_refused_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = store(tmp_path / "s.zarr", [1 << 40], [1 << 20])
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError) as caught:
        dataset["a"][:]
    assert caught.value.kind is ErrorKind.BUDGET
    assert "(read_values)" in caught.value.message
    for more in (["--json"], ["-o", str(tmp_path / "x.npy")]):
        assert main(["read", str(path), "a", *more]) == 2
        assert caught.value.message in capsys.readouterr().err
