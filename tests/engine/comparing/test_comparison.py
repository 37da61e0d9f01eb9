"""Comparing datasets: each kind of difference in known numbers, none between equal ones of other formats."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents_made import DocumentMaker

import refbrowser
from refbrowser.engine.comparing.comparison import CompareRequest, compare_datasets
from refbrowser.engine.comparing.differences import ChunkState, Comparison, DifferenceKind
from refbrowser.engine.comparing.node_differences import _same_scalar
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.tools.compare.compared_entries import entries_of
from refbrowser.tools.compare.comparison_words import value_rows

Refs = dict[str, Any]
ZARRAY = {
    "zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i2", "compressor": None,
    "filters": None, "fill_value": -1, "order": "C",
}  # fmt: skip


def references() -> Refs:
    """Return a document with two arrays of 4 chunks each, in two files."""
    refs: Refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps({"title": "made"})}
    for name in ("a", "b"):
        refs[f"{name}/.zarray"] = json.dumps(ZARRAY)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K", "n": [1, 2]})
        for number in range(4):
            refs[f"{name}/{number // 2}.{number % 2}"] = [f"{name}.bin", 12 * number, 12]
    return refs


@pytest.fixture
def compared(tmp_path: Path) -> Iterator[Callable[..., Comparison]]:
    """Return what compares two documents given as objects; files ``a.bin`` and ``b.bin`` lie beside them."""
    opened: list[Any] = []
    for number, name in enumerate("ab"):
        (tmp_path / f"{name}.bin").write_bytes((np.arange(24, dtype="<i2") + 100 * number).tobytes())

    def compare(here: Any, there: Any, **how: Any) -> Comparison:
        sides = []
        for name, value in (("here", here), ("there", there)):
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(value if "version" in value else {"version": 1, "refs": value}))
            sides.append(refbrowser.open(path))
        opened.extend(sides)
        return compare_datasets(sides[0], sides[1], CompareRequest(**how))

    yield compare
    for each in opened:
        each.close()


def changed(refs: Refs, key: str, **members: Any) -> Refs:
    """Return references with other members in one of the metadata documents; None takes one away."""
    value = {**json.loads(refs[key]), **members}
    return {**refs, key: json.dumps({name: each for name, each in value.items() if each is not None})}


def kinds(comparison: Comparison) -> Counter[str]:
    return Counter(str(each.kind) for each in comparison.differences)


def states(comparison: Comparison, path: str = "/a") -> dict[str, int]:
    chunks = next(each.chunks for each in comparison.arrays if each.path == path)
    return {state.words: count for state, count in chunks.counts.items() if count}


# Equal ones


def test_equal_documents_differ_in_nothing(compared: Callable[..., Comparison]) -> None:
    found = compared(references(), dict(reversed(references().items())), values="all")
    assert found.is_equal
    assert not found.differences
    assert states(found) == {"same": 4}
    assert sum(each.values.compared for each in found.arrays if each.values is not None) == 48


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one dataset in many formats."""
    folder = tmp_path_factory.mktemp("formats")
    maker = DocumentMaker(folder)
    maker.store.clear()
    import zarr

    zarr.create_group(maker.memory, zarr_format=2, attributes={"title": "made", "levels": [1, 2.5]})
    temp = np.arange(144, dtype="<i2").reshape(12, 12)
    temp[0:5, 0:6] = -99
    said = {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K", "scale_factor": 0.5, "valid": [1, 2]}
    maker.array("temp", temp, (5, 6), fill_value=-99, attributes=said)
    maker.array("y", np.arange(12, dtype=">f8"), (12,), attributes={"_ARRAY_DIMENSIONS": ["y"]})
    maker.group("sub", note="below")
    x = np.linspace(0, 1, 12, dtype="f4")
    maker.array("sub/x", x, (5,), compressors=None, fill_value=None, attributes={"_ARRAY_DIMENSIONS": ["x"]})
    document = maker.write(missing=("temp/0.0",))
    for form, name in (
        ("zarr-v2", "v2.zarr"),
        ("zarr-v3", "v3.zarr"),
        ("nczarr", "nc.zarr"),
        ("refs-v0", "v0.json"),
        ("refs-parquet", "refs.parquet"),
        ("netcdf4", "made.nc"),
    ):
        refbrowser.export(document, folder / name, format=form)
    refbrowser.fold(document, folder / "folded.json")
    refbrowser.export(folder / "v2.zarr", folder / "of_v2.json", format="refs-v1")
    return folder


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("document.json", "v2.zarr"),
        ("document.json", "v3.zarr"),
        ("document.json", "v0.json"),
        ("document.json", "refs.parquet"),
        ("document.json", "folded.json"),
        ("v3.zarr", "v2.zarr"),
        ("v3.zarr", "of_v2.json"),
        ("refs.parquet", "folded.json"),
    ],
)
def test_nothing_is_invented_between_formats(exported: Path, base: str, name: str) -> None:
    found = refbrowser.diff(exported / base, exported / name, values="all")
    assert found.differences == ()
    assert found.is_equal
    assert found.chunks_different == 0
    compared = {each.path: each.values.compared for each in found.arrays if each.values is not None}
    assert compared == {"/temp": 144, "/y": 12, "/sub/x": 12}
    assert not found.unread


@pytest.mark.parametrize("name", ["nc.zarr", "made.nc"])
def test_other_codecs_are_the_only_difference_of_what_netcdf_writes(exported: Path, name: str) -> None:
    found = refbrowser.diff(exported / "document.json", exported / name, values="all")
    assert {(each.kind, each.name) for each in found.differences} <= {
        (DifferenceKind.LAYOUT, "codecs"),
        (DifferenceKind.LAYOUT, "byte order"),
    }
    assert found.values_different == 0
    assert found.chunks_different == 0
    ignored = refbrowser.diff(exported / "document.json", exported / name, ignore=["layout"])
    assert ignored.is_equal


def test_references_into_a_store_are_those_of_the_store(exported: Path) -> None:
    found = refbrowser.diff(exported / "v2.zarr", exported / "of_v2.json")
    assert states(found, "/temp") == {"in neither": 1, "same": 5}


# One difference each


def test_structure(compared: Callable[..., Comparison]) -> None:
    there = {**references(), "c/.zarray": json.dumps({**ZARRAY, "shape": [1, 1]})}
    there["g/.zgroup"] = '{"zarr_format": 2}'
    found = compared(references(), there)
    assert kinds(found) == {"arrays": 1, "groups": 1}
    assert {(each.path, str(each.side)) for each in found.differences} == {("/c", "there"), ("/g", "there")}


def test_an_array_with_the_same_references_is_renamed(compared: Callable[..., Comparison]) -> None:
    refs = references()
    there = {key.replace("b/", "new/"): value for key, value in refs.items()}
    found = compared(refs, there)
    (told,) = found.differences
    assert (told.kind, told.name, told.here, told.there) == (DifferenceKind.ARRAY, "renamed", "/b", "/new")
    assert [(each.path, each.there) for each in found.arrays] == [("/a", "/a"), ("/b", "/new")]
    # One chunk elsewhere: nothing proves that it is the same array.
    there["new/0.0"] = ["other.bin", 0, 12]
    assert kinds(compared(refs, there)) == {"arrays": 2}


@pytest.mark.parametrize(
    ("key", "members", "kind", "name"),
    [
        ("a/.zattrs", {"units": "degC"}, "attributes", "units"),
        ("a/.zattrs", {"units": None}, "attributes", "units"),
        ("a/.zattrs", {"new": 1}, "attributes", "new"),
        ("a/.zattrs", {"n": [1, 2, 3]}, "attributes", "n"),
        ("a/.zattrs", {"_ARRAY_DIMENSIONS": ["y", "z"]}, "dimensions", "dimensions"),
        (".zattrs", {"title": "other"}, "attributes", "title"),
        ("a/.zarray", {"fill_value": 0}, "fill", "fill value"),
        ("a/.zarray", {"dtype": ">i2"}, "layout", "byte order"),
        ("a/.zarray", {"dtype": "<u2", "fill_value": 1}, "types", "type"),
        ("a/.zarray", {"order": "F"}, "layout", "order of axes"),
        ("a/.zarray", {"compressor": {"id": "zlib", "level": 1}}, "layout", "codecs"),
        ("a/.zarray", {"chunks": [4, 6]}, "layout", "chunk shape"),
    ],
)
def test_one_thing_is_told_as_one_difference(
    compared: Callable[..., Comparison], key: str, members: dict[str, Any], kind: str, name: str
) -> None:
    refs = references()
    found = compared(refs, changed(refs, key, **members))
    assert (kind, name) in {(str(each.kind), each.name) for each in found.differences}
    assert kinds(found).total() == 1
    assert not found.is_equal
    found = compared(refs, changed(refs, key, **members), ignore=(DifferenceKind(kind),))
    # With chunks of another shape the references say nothing, and the values cannot be read.
    assert found.is_equal is (None if name == "chunk shape" else True)


def test_other_spellings_are_no_difference(compared: Callable[..., Comparison]) -> None:
    refs = changed(references(), "a/.zattrs", n=[1], f=1, none=[float("nan")])
    there = changed(refs, "a/.zattrs", n=1, f=1.0)
    there = changed(there, "a/.zarray", compressor=None, filters=[], dimension_separator=".")
    assert compared(refs, there).differences == ()


def test_a_level_alone_is_told_to_decode_alike(compared: Callable[..., Comparison]) -> None:
    refs = changed(references(), "a/.zarray", compressor={"id": "zlib", "level": 1})
    there = changed(refs, "a/.zarray", compressor={"id": "zlib", "level": 9})
    (told,) = compared(refs, there).differences
    assert "decode the same" in told.note
    assert (told.here, told.there) == ("zlib(level=1)", "zlib(level=9)")


def test_another_shape_gives_chunks_on_one_side(compared: Callable[..., Comparison]) -> None:
    refs = references()
    there = changed(refs, "a/.zarray", shape=[6, 6]) | {"a/2.0": ["a.bin", 0, 12], "a/2.1": ["a.bin", 12, 12]}
    found = compared(refs, there)
    assert kinds(found) == {"shapes": 1}
    assert states(found) == {"same": 4, "only there": 2}


def test_references_in_every_state(compared: Callable[..., Comparison]) -> None:
    refs = references()
    there = {**refs, "a/0.0": ["z.bin", 0, 12], "a/0.1": ["a.bin", 12, 11], "b/0.0": ["b.bin", 1, 12]}
    del there["a/1.0"]
    del there["b/1.1"], refs["b/1.1"], refs["b/1.0"]
    found = compared(refs, there)
    assert states(found) == {"moved": 1, "changed": 1, "only here": 1, "same": 1}
    assert states(found, "/b") == {"in neither": 1, "same": 1, "moved": 1, "only there": 1}
    chunks = found.arrays[0].chunks
    assert chunks.states is not None
    assert chunks.states.tolist() == [
        [ChunkState.MOVED, ChunkState.CHANGED],
        [ChunkState.ONLY_HERE, ChunkState.SAME],
    ]
    assert [(each.state, each.key_here) for each in chunks.examples] == [
        (ChunkState.MOVED, "a/0.0"),
        (ChunkState.CHANGED, "a/0.1"),
        (ChunkState.ONLY_HERE, "a/1.0"),
    ]
    assert chunks.examples[0].there == '["z.bin", 0, 12]'
    assert found.chunks_different == 5


def test_whole_files(compared: Callable[..., Comparison]) -> None:
    refs = {**references(), "a/0.0": ["a.bin"], "a/0.1": ["a.bin"], "a/1.0": ["a.bin"]}
    there = {**refs, "a/0.1": ["z.bin"], "a/1.0": ["a.bin", 0, 12]}
    assert states(compared(refs, there)) == {"same": 2, "moved": 1, "changed": 1}


def test_a_fill_value_that_is_not_told_differs_where_chunks_are_missing(
    compared: Callable[..., Comparison],
) -> None:
    refs = changed(references(), "a/.zarray", fill_value=5)
    untold = {**refs, "a/.zarray": json.dumps({**ZARRAY, "fill_value": None})}
    assert [each.name for each in compared(refs, untold).differences] == ["mark of missing values"]
    del refs["a/0.0"], untold["a/0.0"]
    assert [each.name for each in compared(refs, untold).differences] == ["fill value"]


def test_bytes_in_documents(compared: Callable[..., Comparison]) -> None:
    refs = {**references(), "a/0.0": "x" * 12, "a/0.1": "x" * 12, "a/1.0": "base64:AAAA", "a/1.1": "y" * 12}
    there = {**refs, "a/0.1": "z" * 12, "a/1.1": ["a.bin", 0, 12]}
    assert states(compared(refs, there)) == {"same": 2, "changed": 1, "moved": 1}


def test_urls_that_lead_to_one_place_are_the_same(
    compared: Callable[..., Comparison], tmp_path: Path
) -> None:
    refs = references()
    there = {**refs, "a/0.0": [f"{tmp_path}/a.bin", 0, 12], "a/0.1": [f"file://{tmp_path}/a.bin", 12, 12]}
    there["a/1.0"] = ["./a.bin", 24, 12]
    assert states(compared(refs, there)) == {"same": 4}


def test_faulty_references_are_never_equal_to_sound_ones(compared: Callable[..., Comparison]) -> None:
    refs = {**references(), "a/0.1": ["a.bin", -1, 12]}
    there = {**refs, "a/0.0": ["a.bin", -1, 12]}
    found = compared(refs, there)
    assert states(found) == {"same": 3, "changed": 1}
    assert (found.arrays[0].chunks.faulty_here, found.arrays[0].chunks.faulty_there) == (1, 2)


# Documents


RULE = {"key": "a/{{i}}.{{j}}", "url": "a.bin", "offset": "{{24*i+12*j}}", "length": "12",
        "dimensions": {"i": {"stop": 2}, "j": {"stop": 2}}}  # fmt: skip


def test_a_rule_is_equal_to_what_it_generates(compared: Callable[..., Comparison]) -> None:
    refs = references()
    ruled = {"version": 1, "gen": [RULE], "refs": {k: v for k, v in refs.items() if not k.startswith("a/0")}}
    ruled["refs"] = {key: value for key, value in ruled["refs"].items() if not key.startswith("a/1")}
    found = compared(refs, ruled)
    assert found.is_equal
    assert states(found) == {"same": 4}
    assert [(each.name, each.note) for each in found.spelled] == [("rule 0", "the same 4 references")]
    shifted = {**ruled, "gen": [{**RULE, "offset": "{{24*i+12*j+12}}"}]}
    found = compared(ruled, shifted)
    assert states(found) == {"moved": 4}
    assert [(str(each.kind), each.note) for each in found.differences] == [
        ("rules", "4 of 4 rows differ, the first is a/0.0")
    ]


def test_a_rule_of_other_words_is_no_difference(compared: Callable[..., Comparison]) -> None:
    refs = {key: value for key, value in references().items() if key[:3] not in ("a/0", "a/1")}
    here = {"version": 1, "gen": [RULE], "refs": refs}
    other = {**RULE, "url": "{{'a'}}.bin", "offset": "{{12*(2*i+j)}}"}
    found = compared(here, {**here, "gen": [other]})
    assert found.is_equal
    assert len(found.spelled) == 1


def test_a_rule_whose_urls_lead_to_the_same_place_is_no_difference(
    compared: Callable[..., Comparison], tmp_path: Path
) -> None:
    refs = {key: value for key, value in references().items() if key[:3] not in ("a/0", "a/1")}
    here = {"version": 1, "gen": [RULE], "refs": refs}
    found = compared(here, {**here, "gen": [{**RULE, "url": f"{tmp_path}/a.bin"}]})
    assert found.is_equal
    assert [each.note for each in found.spelled] == ["the same 4 references"]


def test_long_rules_are_not_decided_rather_than_equal(
    compared: Callable[..., Comparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refbrowser.engine.comparing.document_differences.RULE_ROWS", 2_000)
    rule = {"key": "k{{i}}", "url": "a.bin", "dimensions": {"i": {"stop": 5_000}}}
    here = {"version": 1, "gen": [rule], "refs": references()}
    found = compared(here, {**here, "gen": [{**rule, "url": "{{'a'}}.bin"}]})
    (told,) = found.spelled
    assert told.note == "not decided (2,000 of 5,000 rows checked)"
    assert (found.is_equal, found.undecided) == (None, 6_000)


def test_templates_members_and_other_keys(compared: Callable[..., Comparison]) -> None:
    refs = {**references(), "notes.txt": "one", "a/9.9": ["a.bin", 0, 1]}
    here = {"version": 1, "templates": {"u": "x", "only": "y"}, "title": {"a": 1}, "refs": refs}
    there = {"version": 1, "templates": {"u": "z"}, "title": {"a": 2}, "refs": {**refs, "notes.txt": "two"}}
    del there["refs"]["a/9.9"]
    found = compared(here, there)
    assert [(str(each.kind), each.name, str(each.side)) for each in found.differences] == [
        ("members", "title", "both"),
        ("templates", "u", "both"),
        ("keys", "notes.txt", "both"),
        ("keys", "a/9.9", "here"),
    ]
    assert [(each.name, str(each.side)) for each in found.spelled] == [("only", "here")]


def rewritten(how: str, folder: Path) -> Any:
    """Return `references` written in another way, with a key that is no chunk."""
    refs: Refs = {**references(), "notes": ["a.bin", 0, 3]}
    said: dict[str, Any] = {"version": 1, "title": "t", "templates": {}, "refs": refs}
    if how == "relative":
        return said
    before = {"templates": "{{u}}", "other templates": "{{u}}", "absolute": f"{folder}/"}[how]
    said["templates"] = {"templates": {"u": ""}, "other templates": {"u": f"{folder}/"}}.get(how, {})
    for key, value in refs.items():
        if isinstance(value, list):
            refs[key] = [before + value[0], *value[1:]]
    return said


WAYS = ("relative", "templates", "other templates", "absolute")


@pytest.mark.parametrize(("one", "other"), [(a, b) for a in WAYS for b in WAYS if a < b])
def test_equality_is_of_what_references_come_to(
    compared: Callable[..., Comparison], tmp_path: Path, one: str, other: str
) -> None:
    found = compared(rewritten(one, tmp_path), rewritten(other, tmp_path))
    assert (found.differences, states(found)) == ((), {"same": 4})
    assert (found.is_equal, found.verdict) == (True, "same references")
    shifted = rewritten(other, tmp_path)
    shifted["templates"] = dict.fromkeys(shifted["templates"], f"{tmp_path}/sub/")
    if shifted["templates"]:
        found = compared(rewritten(one, tmp_path), shifted)
        assert (found.is_equal, found.chunks_different) == (False, 8)


def test_relative_names_in_other_folders_lead_to_other_files(tmp_path: Path) -> None:
    names = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        names.append(tmp_path / folder / "x.json")
        refs = {**references(), "notes": ["a.bin", 0, 3]}
        names[-1].write_text(json.dumps({"version": 1, "refs": refs}))
    found = refbrowser.diff(*names)
    assert (found.is_equal, states(found)) == (False, {"moved": 4})
    assert "different folders" in found.notes[0]


def test_a_member_that_a_version_has_no_place_for_is_a_difference(
    compared: Callable[..., Comparison],
) -> None:
    titled = {"version": 1, "title": "t", "refs": references()}
    (told,) = compared(titled, references()).differences
    assert (told.name, str(told.side)) == ("title", "here")


def test_a_key_that_a_rule_gives_there_is_no_difference(compared: Callable[..., Comparison]) -> None:
    rule = {
        "key": "k{{i}}",
        "url": "a.bin",
        "offset": "{{i}}",
        "length": "1",
        "dimensions": {"i": {"stop": 3}},
    }
    ruled = {"version": 1, "gen": [rule], "refs": references()}
    written = {"version": 1, "refs": {**references(), **{f"k{i}": ["a.bin", i, 1] for i in range(3)}}}
    assert compared(ruled, written).is_equal
    written["refs"]["k1"] = ["a.bin", 2, 1]
    found = compared(ruled, written)
    assert [(each.name, str(each.side)) for each in found.differences if each.kind is DifferenceKind.KEY] == [
        ("k1", "both")
    ]


# Values


@pytest.mark.parametrize(
    ("values", "equal"), [("auto", True), ("none", None), ("sample", True), ("all", True)]
)
def test_the_verdict_tells_what_was_compared(tmp_path: Path, values: str, equal: bool | None) -> None:
    import zarr

    for name in ("one", "two"):
        group = zarr.create_group(tmp_path / name, zarr_format=2)
        group.create_array("t", shape=(60,), chunks=(1,), dtype="<i4")[:] = np.arange(1, 61)
    found = refbrowser.diff(tmp_path / "one", tmp_path / "two", values=values)
    sampled = {"none": "not compared", "all": "same values (all)"}.get(values, "same values (sample)")
    assert (found.is_equal, found.verdict) == (equal, sampled)
    assert found.to_json()["equal"] is equal
    zarr.open_group(tmp_path / "two")["t"][59] = 5
    found = refbrowser.diff(tmp_path / "one", tmp_path / "two", values=values)
    assert found.is_equal is (None if values == "none" else False)


def test_where_references_tell_nothing_is_read(compared: Callable[..., Comparison]) -> None:
    refs = {
        key: ["gone.bin", *value[1:]] if isinstance(value, list) else value
        for key, value in references().items()
    }
    found = compared(refs, refs)
    assert [each.values for each in found.arrays] == [None, None]
    assert (found.is_equal, found.verdict) == (True, "same references")
    assert compared(refs, refs, values="sample").is_equal is None


def test_a_file_is_a_copy_by_its_bytes(tmp_path: Path) -> None:
    import h5py

    for name, last in (("one", 1), ("two", 1), ("three", 2)):
        with h5py.File(tmp_path / f"{name}.h5", "w", track_order=True) as file:
            file.create_dataset("t", data=np.array([0, last]), chunks=(1,), track_times=False)
    found = refbrowser.diff(tmp_path / "one.h5", tmp_path / "two.h5")
    assert (found.is_equal, found.verdict, found.arrays[0].values) == (True, "same bytes", None)
    assert refbrowser.diff(tmp_path / "one.h5", tmp_path / "two.h5", values="none").is_equal is None
    found = refbrowser.diff(tmp_path / "one.h5", tmp_path / "three.h5")
    assert (found.is_equal, found.values_different) == (False, 1)


def test_chunks_that_differ_are_listed_by_how_much(
    compared: Callable[..., Comparison], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.arange(24, dtype="<i2")
    # Of chunk 0.1 two by little, of chunk 1.0 one by much.
    values[[6, 8, 13]] += np.array([1, 2, 99], "<i2")
    (tmp_path / "a2.bin").write_bytes(values.tobytes())
    refs = references()
    there = {key: ["a2.bin", *value[1:]] if key.startswith("a/") and isinstance(value, list) else value
             for key, value in refs.items()}  # fmt: skip
    # Blocks of two elements: a chunk is put together from several of them.
    for size in (16 << 20, 4):
        monkeypatch.setattr("refbrowser.engine.comparing.value_differences.BLOCK", size)
        told = compared(refs, there, values="all").arrays[0].values
        assert told is not None
        assert told.chunks_different == 2
        found = [(each.coords, each.different, each.amount, each.index) for each in told.chunks]
        assert found == [((1, 0), 1, 99, (2, 1)), ((0, 1), 2, 2, (0, 5))]
        rows = [(row.what, row.note) for row in value_rows(told)]
        assert ("chunk [0, 1]", "2 values, by up to 2 at [0, 5]") in rows
        assert told.to_json()["chunks"][0] == {"chunk": [1, 0], "different": 1, "amount": 99, "index": [2, 1]}
    monkeypatch.setattr("refbrowser.engine.comparing.value_differences.CHUNKS", 1)
    told = compared(refs, there, values="all").arrays[0].values
    assert told is not None
    assert (told.chunks_different, told.has_more_chunks) == (1, True)


def test_values_in_known_numbers(compared: Callable[..., Comparison], tmp_path: Path) -> None:
    values = np.arange(24, dtype="<i2")
    values[[3, 20]] += np.array([5, -7], "<i2")
    (tmp_path / "a2.bin").write_bytes(values.tobytes())
    refs = references()
    there = {key: ["a2.bin", *value[1:]] if key.startswith("a/") and isinstance(value, list) else value
             for key, value in refs.items()}  # fmt: skip
    found = compared(refs, there, values="all").arrays[0].values
    assert found is not None
    assert (found.elements, found.compared, found.different) == (24, 24, 2)
    assert found.absolute is not None
    # Element 20 of the file is the third of the second row of chunk 1.1.
    assert (found.absolute.amount, found.absolute.index) == (7, (2, 5))
    assert (found.absolute.here, found.absolute.there) == ("20", "13")
    assert found.relative is not None
    assert found.relative.amount == pytest.approx(5 / 8)


def test_fill_where_nothing_is_stored(compared: Callable[..., Comparison], tmp_path: Path) -> None:
    (tmp_path / "fill.bin").write_bytes(np.full(6, -1, "<i2").tobytes())
    refs = references()
    refs["a/0.0"] = ["fill.bin", 0, 12]
    there = {key: value for key, value in refs.items() if key not in ("a/0.0", "a/0.1")}
    found = compared(refs, there, values="all").arrays[0]
    assert found.values is not None
    assert (found.values.different, found.values.absent_there, found.values.absent_equal) == (6, 12, 6)
    assert found.chunks.different == 2


@pytest.mark.parametrize("values", ["sample", "all"])
def test_what_cannot_be_read_is_told_and_never_equal(
    compared: Callable[..., Comparison], values: str
) -> None:
    refs = {**references(), "a/0.1": ["gone.bin", 0, 12]}
    found = compared(refs, refs, values=values)
    told = found.arrays[0].values
    assert told is not None
    assert (told.compared, told.unread_here, told.unread_there, told.different) == (18, 6, 6, 0)
    assert not told.is_complete
    assert found.unread


def test_what_one_side_alone_cannot_read_is_not_compared(compared: Callable[..., Comparison]) -> None:
    refs = references()
    told = compared(refs, {**refs, "a/0.1": ["gone.bin", 12, 12]}, values="all").arrays[0].values
    assert told is not None
    assert (told.compared, told.unread_here, told.unread_there, told.different) == (18, 0, 6, 0)


def test_values_of_stale_files_are_counted_and_told(tmp_path: Path) -> None:
    values = np.arange(24, dtype="<i2")
    for name in ("a.bin", "new.bin", "b.bin"):
        (tmp_path / name).write_bytes(values.tobytes())
    refs = references()
    # One chunk is of another file, which is not replaced.
    refs["a/1.1"] = ["new.bin", *refs["a/1.1"][1:]]
    path = tmp_path / "here.json"
    path.write_text(json.dumps(refs))
    refbrowser.lock(path)
    (tmp_path / "a.bin").write_bytes((values + 0).tobytes()[:-2] + b"xy")
    with refbrowser.open(path, stale="allow") as here, refbrowser.open(path, stale="ignore") as there:
        found = compare_datasets(here, there, CompareRequest("all"))
        told = found.arrays[0].values
        assert told is not None
        assert (told.compared, told.different, told.stale_here, told.stale_there) == (24, 0, 18, 0)
        words = "of files that differ from the lock: 18 here, 0 there"
        assert [words in row.note for row in value_rows(told)] == [True]
        assert [entry.what for entry in entries_of(found) if words in entry.note] == ["values"]
    with refbrowser.open(path) as here, refbrowser.open(path, stale="ignore") as there:
        told = compare_datasets(here, there, CompareRequest("all")).arrays[0].values
        assert told is not None
        assert (told.compared, told.unread_here, told.has_stale) == (6, 18, False)


def test_numbers_that_are_none(compared: Callable[..., Comparison], tmp_path: Path) -> None:
    sides = []
    for name, numbers in (("f1", [np.nan, np.nan, 1, np.inf]), ("f2", [np.nan, 2, np.nan, np.inf])):
        (tmp_path / f"{name}.bin").write_bytes(np.array(numbers, "<f4").tobytes())
        array = {**ZARRAY, "shape": [4], "chunks": [4], "dtype": "<f4", "fill_value": None}
        sides.append(
            {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array), "v/0": [f"{name}.bin"]}
        )
    found = compared(*sides, values="all").arrays[0].values
    assert found is not None
    assert (found.different, found.nan_here, found.nan_there, found.absolute) == (2, 1, 1, None)
    assert found.first is not None
    assert found.first.index == (1,)
    (tmp_path / "f2.bin").write_bytes(np.array([np.nan, np.nan, 1, 2], "<f4").tobytes())
    endless = compared(*sides, values="all").arrays[0].values
    assert endless is not None
    assert endless.absolute is not None
    assert (endless.absolute.amount, endless.absolute.to_json()["amount"]) == (np.inf, None)
    assert "Infinity" not in json.dumps(endless.to_json())


def test_other_packing_is_compared_as_physical_values(
    compared: Callable[..., Comparison], tmp_path: Path
) -> None:
    (tmp_path / "twice.bin").write_bytes((2 * np.arange(24, dtype="<i2")).tobytes())
    refs = references()
    there = {key: ["twice.bin", *value[1:]] if key.startswith("a/") and isinstance(value, list) else value
             for key, value in refs.items()}  # fmt: skip
    found = compared(refs, changed(there, "a/.zattrs", scale_factor=0.5), values="all").arrays[0].values
    assert found is not None
    assert found.is_decoded
    assert found.different == 0


def test_a_sample_is_the_same_each_time_and_looks_at_what_was_moved(tmp_path: Path) -> None:
    from refbrowser.engine.comparing.value_differences import SAMPLED

    sides = []
    for name in ("one", "two"):
        values = np.zeros(4_000, "<i2")
        if name == "two":
            values[1_234] = 9
        (tmp_path / f"{name}.bin").write_bytes(values.tobytes())
        array = {**ZARRAY, "shape": [4_000], "chunks": [2], "compressor": None}
        refs = {".zgroup": '{"zarr_format": 2}', "v/.zarray": json.dumps(array)}
        refs |= {f"v/{number}": ["one.bin", 4 * number, 4] for number in range(2_000)}  # type: ignore[misc]
        if name == "two":
            refs["v/617"] = ["two.bin", 4 * 617, 4]  # type: ignore[assignment]
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"version": 1, "refs": refs}))
        sides.append(path)
    found = [refbrowser.diff(*sides, values="sample").to_json() for _ in range(2)]
    assert found[0] == found[1]
    told = found[0]["arrays"][0]["values"]
    assert (told["sample"], told["compared"], told["different"]) == (True, 2 * SAMPLED, 1)
    assert told["first"]["index"] == [1_234]


@pytest.mark.parametrize("values", ["sample", "all"])
def test_arrays_without_dimensions_or_elements(tmp_path: Path, values: str) -> None:
    import zarr

    for name, number in (("one", 1), ("two", 2)):
        group = zarr.create_group(tmp_path / name, zarr_format=3)
        group.create_array("scalar", shape=(), dtype="<f8")[...] = number
        group.create_array("empty", shape=(0, 3), chunks=(1, 3), dtype="<f8")
    found = refbrowser.diff(tmp_path / "one", tmp_path / "two", values=values)
    told = {each.path: each.values for each in found.arrays if each.values is not None}
    assert (told["/empty"].elements, told["/empty"].compared) == (0, 0)
    assert told["/scalar"].absolute is not None
    assert (told["/scalar"].different, told["/scalar"].absolute.amount) == (1, 1.0)
    assert told["/scalar"].absolute.index == ()


@pytest.mark.parametrize(("place", "expected"), [(2**63 - 1, 2**64 - 1), (0, 2**63)])
def test_whole_numbers_of_64_bits_are_exact(tmp_path: Path, place: int, expected: int) -> None:
    import zarr

    for name, number in (("one", -(2**63)), ("two", place)):
        zarr.create_array(tmp_path / name, shape=(1,), chunks=(1,), dtype="<i8", zarr_format=2)[:] = number
    found = refbrowser.diff(tmp_path / "one", tmp_path / "two", values="all").arrays[0].values
    assert found is not None
    assert found.absolute is not None
    assert found.absolute.amount == float(expected)


def test_texts_structures_and_rows_are_compared(tmp_path: Path) -> None:
    import zarr

    for name, word in (("one", "b"), ("two", "c")):
        group = zarr.create_group(tmp_path / name, zarr_format=2)
        group.create_array("t", shape=(3,), chunks=(3,), dtype=str)[:] = np.array(["a", word, "c"], object)
        structure = np.dtype([("x", "<i2"), ("y", "<f4")])
        group.create_array("s", shape=(2,), chunks=(2,), dtype=structure)[:] = np.array(
            [(1, np.nan), (2, 4 if word == "b" else 5)], structure
        )
    found = refbrowser.diff(tmp_path / "one", tmp_path / "two", values="all")
    assert found.differences == ()
    assert {each.path: each.values.different for each in found.arrays if each.values} == {"/t": 1, "/s": 1}


# The whole


def test_one_array_alone(compared: Callable[..., Comparison]) -> None:
    refs = references()
    there = changed(refs, "b/.zattrs", units="x")
    assert compared(refs, there, arrays=("a",)).is_equal
    assert not compared(refs, there, arrays=("/b",)).is_equal
    with pytest.raises(RefbrowserError, match="neither side has an array"):
        compared(refs, there, arrays=("c",))


def test_broken_metadata_is_a_difference_and_hides_nothing(compared: Callable[..., Comparison]) -> None:
    refs = references()
    found = compared(refs, {**refs, "a/.zarray": "{", "b/0.0": ["c.bin", 0, 12]})
    assert kinds(found)["problems"] == 1
    assert states(found, "/b") == {"moved": 1, "same": 3}
    broken = {**refs, "a/.zarray": "{"}
    told = compared(broken, broken, values="all").arrays[0].values
    assert told is not None
    assert told.why
    assert not told.is_complete


def test_large_grids_are_not_decided_rather_than_equal(
    compared: Callable[..., Comparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refbrowser.engine.comparing.chunk_differences.MOST", 3)
    monkeypatch.setattr("refbrowser.engine.comparing.chunk_differences.BLOCK", 1)
    monkeypatch.setattr("refbrowser.engine.comparing.chunk_differences._SPREAD", 2)
    found = compared(references(), references())
    assert states(found) == {"same": 2, "not decided": 2}
    assert found.undecided == 4


def test_comparing_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "refs": references()}))
    token = CancelToken()
    with refbrowser.open(path) as here, refbrowser.open(path) as there:
        token.cancel()
        with pytest.raises(Cancelled):
            compare_datasets(here, there, CompareRequest("all"), JobControl(token))


def test_the_json_of_a_comparison_is_strict(compared: Callable[..., Comparison]) -> None:
    refs = references()
    there = {**changed(refs, "a/.zattrs", units=float("nan")), "a/0.0": ["z.bin", 0, 12]}
    found = compared(refs, there, values="all").to_json()
    told = json.loads(json.dumps(found, allow_nan=False))
    assert told["equal"] is False
    assert told["differences"][0]["kind"] == "attributes"
    assert told["arrays"][0]["references"]["counts"] == {"same": 3, "moved": 1}
    assert told["arrays"][0]["values"]["unread_there"] == 6


def test_rows_of_variable_length_have_fill_values_too(tmp_path: Path) -> None:
    import h5py

    paths = [tmp_path / f"{name}.h5" for name in ("one", "same", "other")]
    for path, rows in zip(paths, ([1, 2], [1, 2], [1, 3]), strict=True):
        with h5py.File(path, "w") as file:
            file.create_dataset("v", (2,), dtype=h5py.vlen_dtype(np.int32))[0] = rows
    assert refbrowser.diff(paths[0], paths[1]).is_equal
    assert [each.kind for each in refbrowser.diff(paths[0], paths[2]).differences] == []
    assert refbrowser.diff(paths[0], paths[2]).is_equal is False


def test_fill_values_of_several_elements_are_compared_whole() -> None:
    nan = np.array([1.0, np.nan])
    assert _same_scalar(nan, nan.copy())
    assert not _same_scalar(nan, np.array([1.0, 2.0]))
    assert not _same_scalar(nan, nan[:1])
    assert _same_scalar(np.float32("nan"), np.float64("nan"))
