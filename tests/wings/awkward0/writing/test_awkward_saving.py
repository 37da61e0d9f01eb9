"""Files that we save are read by awkward0 with equal values, and both add to files of one another."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import zarr
from awkward0_corpus import CASES, CYCLIC
from awkward0_encoder import zipped
from awkward0_environment import Awkward0Process
from awkward0_values import plain_value, same
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_nested import contents
from zarr_versions import put

import refbrowser
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.wings.awkward0.writing import written_arrays as blocks
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing
from refbrowser.wings.awkward0.writing.blobs import DEFAULT_POLICY, MemorySink
from refbrowser.wings.awkward0.writing.feeding import feed, type_of_content
from refbrowser.wings.awkward0.writing.parts import Naming, part_of, written_type
from refbrowser.wings.awkward0.writing.serialize import Spools, put_array, serialize

DATA = Path(__file__).resolve().parents[5] / "shared" / "data" / "awkward0"
TARGETS = ("x.awkd", "x.h5")
#: Where rules are given arrays of Awkward 0 are not copied, but written by rows.
ROWS = ("default",)
NESTED: dict[str, list[Any]] = {
    "lists": [[1.5, None], None, [], [float("nan"), 3.5]],
    "deep": [[[1], []], [], [[2, 3]]],
    "records": [{"a": 1, "b": ["x", ""]}, {"a": 2, "b": []}],
    "lists of records": [[{"a": 1, "b": None}], [], [{"a": 2, "b": 2.5}]],
    "union": [1, "x", [2], None, {"a": 1}, b"\xff"],
    "texts": ["a", "", None, "zwölf\0"],
    "true": [True, None],
    "none": [None, None],
    "empty": [],
}
PLAIN: dict[str, np.ndarray[Any, Any]] = {
    "numbers": np.arange(20_000, dtype="u2"),
    "big endian": np.arange(24, dtype=">f8").reshape(2, 3, 4),
    "times": np.array(["2020-01-01T00", "2021-01-01T01"], "M8[s]"),
    "complex": np.array([1 + 2j]),
    "no rows": np.zeros((0, 2), "i1"),
    "record": np.array([(1, 2.5)], [("a", "i4"), ("b", ">f8")]),
}


def save(source: Path, target: Path, arrays: tuple[str, ...] = (), **options: Any) -> None:
    chosen = tuple(ArrayChoice(path) for path in arrays) or None
    with refbrowser.open(str(source)) as dataset:
        run_export(
            dataset, ExportRequest(str(target), "awkward0", chosen, options=Awkward0Writing(**options))
        )


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    sink = MemorySink()
    for name, values in NESTED.items():
        serialize(ak.from_iter(values, highlevel=False), sink, name)
    path = tmp_path / "nested.awkd"
    path.write_bytes(zipped(sink))
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    group = zarr.open_group(tmp_path / "plain.zarr", mode="w", zarr_format=2)
    for name, values in PLAIN.items():
        put(group, name, values)
    return tmp_path / "plain.zarr"


@pytest.mark.slow
@pytest.mark.parametrize(("target", "compression"), [("x.awkd", ()), ("x.awkd", ROWS), ("x.h5", ROWS)])
def test_awkward0_reads_nested_arrays(
    nested: Path,
    tmp_path: Path,
    target: str,
    compression: tuple[str, ...],
    awkward0: Awkward0Process,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 16)
    save(nested, tmp_path / target, codec=compression)
    found = awkward0.read(tmp_path / target)
    assert found.keys() == NESTED.keys()
    for name, values in NESTED.items():
        assert same(found[name], plain_value(values)), name


@pytest.mark.parametrize("compression", [(), ("lzma",), ("lz4",), ("zlib:9,contexts=*.counts", "lz4")])
def test_awkward0_reads_plain_arrays_in_every_compression(
    plain: Path, tmp_path: Path, compression: tuple[str, ...], awkward0: Awkward0Process
) -> None:
    save(plain, tmp_path / "x.awkd", codec=compression)
    found = awkward0.read(tmp_path / "x.awkd")
    assert found.keys() == PLAIN.keys()
    for name, values in PLAIN.items():
        wanted = list(values) if values.dtype.kind in "mM" else values.tolist()
        if values.dtype.names:
            wanted = [{"a": 1, "b": 2.5}]
        assert same(found[name], plain_value(wanted)), name


@pytest.mark.long
@pytest.mark.parametrize("name", ["mini.hepmc", "mini_particles"])
def test_real_files_are_saved_with_equal_values(name: str, tmp_path: Path, awkward0: Awkward0Process) -> None:
    source = DATA / f"{name}.awkd"
    if not source.exists():
        pytest.skip("the sample files are not there")
    save(source, tmp_path / "x.awkd", codec=ROWS)
    check(awkward0, tmp_path / "x.awkd", awkward0.read(source))


def check(awkward0: Awkward0Process, path: Path, wanted: dict[str, Any]) -> None:
    """Compare the arrays of a file, as awkward0 reads them, with what they should be."""
    found = awkward0.read(path)
    assert found.keys() == wanted.keys()
    wrong = {name: (found[name], wanted[name]) for name in wanted if not same(found[name], wanted[name])}
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("compression", [(), ROWS])
def test_every_class_is_saved_with_equal_values(
    tmp_path: Path, compression: tuple[str, ...], awkward0: Awkward0Process
) -> None:
    cases = [name for name in CASES if name != "plain_nan"]  # It becomes an array of one.
    names = {f"n{number:02}": name for number, name in enumerate(cases)}
    wanted = awkward0.write(tmp_path / "theirs.awkd", names)
    save(tmp_path / "theirs.awkd", tmp_path / "ours.awkd", codec=compression)
    check(awkward0, tmp_path / "ours.awkd", wanted)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_arrays_that_hold_themselves_are_copied(
    tmp_path: Path, target: str, awkward0: Awkward0Process
) -> None:
    names = {f"n{number:02}": name for number, name in enumerate(CYCLIC)}
    wanted = awkward0.write(tmp_path / "theirs.awkd", names)
    save(tmp_path / "theirs.awkd", tmp_path / target)
    check(awkward0, tmp_path / target, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_both_add_to_one_file(nested: Path, tmp_path: Path, target: str, awkward0: Awkward0Process) -> None:
    first = awkward0.write(tmp_path / target, {"theirs": "lists", "gone": "strings"})
    save(nested, tmp_path / target, ("/records",), append=True)
    second = awkward0.write(tmp_path / target, {"more": "table"})
    save(nested, tmp_path / target, ("/union",), removed=("gone",))
    found = awkward0.read(tmp_path / target)
    assert found.keys() == {"theirs", "records", "more", "union"}
    assert same(found["theirs"], first["theirs"])
    assert same(found["more"], second["more"])
    assert same(found["records"], plain_value(NESTED["records"]))
    assert same(found["union"], plain_value(NESTED["union"]))


@settings(max_examples=examples(60))
@given(data=st.data())
def test_rows_may_come_in_any_portions(data: st.DataObject) -> None:
    content = data.draw(st.integers(0, 6).flatmap(contents))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=3)))
    whole, parts = MemorySink(), MemorySink()
    serialize(content, whole)
    with Spools() as spools:
        part = part_of(written_type(type_of_content(content)).type, spools)
        for start, stop in itertools.pairwise([0, *cuts, len(content)]):
            feed(part, content[start:stop])
        put_array(part, parts, "", Naming(), DEFAULT_POLICY)
    assert parts == whole


def test_awkward0_finds_an_array_without_a_name(
    nested: Path, tmp_path: Path, awkward0: Awkward0Process
) -> None:
    save(nested, tmp_path / "x.awkd", ("/deep",), name="")
    assert awkward0.read(tmp_path / "x.awkd") == {"": NESTED["deep"]}
