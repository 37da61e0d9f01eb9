"""Stores in local folders, written by zarr-python and by hand: found, read, and never left."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import refbrowser
import refbrowser.references.document.document
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.sniffing import NotReferencesError
from refbrowser.formats.stores import reader as folder_module
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import Flavour
from refbrowser.references.content import made_text
from refbrowser.references.text import json_text

VALUES = np.arange(120, dtype="<f4").reshape(6, 20)


@pytest.fixture(params=[(2, False), (2, True), (3, False), (3, True)], ids=str)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store with groups, missing chunks, a scalar, an empty array and names that are hard to write."""
    version, consolidated = request.param
    path = tmp_path / "a store {x}"
    group = zarr.create_group(path, zarr_format=version, attributes={"title": "made"})
    group.create_array("temp", shape=(10, 20), chunks=(3, 10), dtype="<f4", fill_value=7)[:6] = VALUES
    group.create_array("scalar", shape=(), dtype="<i4")[...] = 3
    group.create_array("empty", shape=(0, 4), dtype="<i4")
    group.create_array("h {b}/c{{x", shape=(5,), chunks=(2,), dtype="<i2")[:] = range(5)
    group.create_array("h {b}/one %41#?", shape=(5,), chunks=(5,), dtype="<i2")[:] = range(5)
    if consolidated:
        zarr.consolidate_metadata(path, zarr_format=version)
    return path


def test_every_value_of_a_store(made: Path) -> None:
    wanted = zarr.open_group(made, mode="r")
    with refbrowser.open(made) as dataset:
        assert dataset.format == f"zarr-v{wanted.metadata.zarr_format}"
        assert dataset.attrs == {"title": "made"}
        assert sorted(dataset.arrays) == [
            "/empty",
            "/h {b}/c{{x",
            "/h {b}/one %41#?",
            "/scalar",
            "/temp",
        ]
        for path, array in dataset.arrays.items():
            np.testing.assert_array_equal(array[...], wanted[path[1:]][...])
        assert np.all(dataset["/temp"][7:] == 7)
        assert not dataset.document.findings
        assert not dataset.document.notes


def test_one_rule_for_each_array_of_many_chunks(made: Path) -> None:
    with refbrowser.open(made) as dataset:
        document = dataset.document
        assert {layout.count for layout in document.layouts} == {8, 3}
        assert not document.rules
        assert not document.templates.texts
        assert document.store.root == str(made)
        # What is made from the parts is what a reader of the text finds.
        again = refbrowser.references.document.document.ReferenceDocument.of(document.to_bytes())
        assert again.to_bytes() == document.to_bytes()
        assert again.expansion.rows == document.expansion.rows
        assert list(again.expansion.metadata_keys()) == list(document.expansion.metadata_keys())
        for key in again.expansion.metadata_keys():
            assert again.expansion.value(key) == document.expansion.value(key)


def test_no_folder_of_chunks_is_listed(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = []
    scandir = os.scandir

    def noted(path: Any) -> Any:
        listed.append(os.path.relpath(path, made))
        return scandir(path)

    monkeypatch.setattr(folder_module.os, "scandir", noted)
    with refbrowser.open(made):
        assert set(listed) <= {".", "h {b}"}


def test_root_array(tmp_path: Path) -> None:
    path = tmp_path / "a"
    zarr.create_array(path, shape=(4,), chunks=(2,), dtype="<i2", zarr_format=3)[:] = range(4)
    with refbrowser.open(path) as dataset:
        assert dataset["/"][...].tolist() == [0, 1, 2, 3]


def test_one_leading_folder_is_looked_into(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "outer" / "name.zarr", zarr_format=2)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="<i2")[:] = range(4)
    with refbrowser.open(tmp_path / "outer") as dataset:
        assert dataset["/a"][...].tolist() == [0, 1, 2, 3]


def test_roots_that_are_implied(tmp_path: Path) -> None:
    for name in "ab":
        zarr.create_array(tmp_path / name, shape=(2,), dtype="<i2", zarr_format=2)[:] = [1, 2]
    with refbrowser.open(tmp_path) as dataset:
        assert dataset.hierarchy.flavour == Flavour.ZARR_V2
        assert dataset["/b"][...].tolist() == [1, 2]


def test_folder_without_store_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    with pytest.raises(NotReferencesError) as caught:
        refbrowser.open(tmp_path)
    assert caught.value.message == "there is no store here"
    for name in ("zarr.json", ".zgroup", "root.group.json", ".nczarr"):
        assert name in caught.value.advice


def test_another_flavour_on_request(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2)
    group.create_array("old", shape=(2,), dtype="<i2")[:] = [1, 2]
    (tmp_path / "s" / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group"}))
    with refbrowser.open(tmp_path / "s") as dataset:
        assert dataset.hierarchy.flavour == Flavour.ZARR_V3
    with refbrowser.open(tmp_path / "s", flavour="zarr-v2") as dataset:
        assert dataset.hierarchy.flavour == Flavour.ZARR_V2
        assert dataset["/old"][...].tolist() == [1, 2]


def test_links_do_not_lead_out_of_a_store(tmp_path: Path) -> None:
    outside = zarr.create_group(tmp_path / "outside", zarr_format=2)
    outside.create_array("secret", shape=(2,), chunks=(1,), dtype="<i2")[:] = [1, 2]
    group = zarr.create_group(tmp_path / "s", zarr_format=2, attributes={"a": 1})
    group.create_array("a", shape=(2,), chunks=(1,), dtype="<i2")[:] = [1, 2]
    store = tmp_path / "s"
    (store / "linked").symlink_to(tmp_path / "outside", target_is_directory=True)
    (store / "inner").symlink_to(store / "a", target_is_directory=True)
    (store / "a" / ".zattrs").unlink(missing_ok=True)
    (store / "a" / ".zattrs").symlink_to(tmp_path / "outside" / "secret" / ".zarray")
    (store / "a" / "1").unlink()
    (store / "a" / "1").symlink_to(tmp_path / "outside" / "secret" / "1")
    with refbrowser.open(store) as dataset:
        assert "/linked/secret" not in dataset
        assert dataset["/a"].attrs == {}
        assert {note.kind for note in dataset.document.notes} == {ErrorKind.UNSAFE}
        assert dataset["/a"][0] == 1
        with pytest.raises(RefbrowserError) as caught:
            dataset["/a"][1]
        assert caught.value.kind is ErrorKind.BLOCKED
        assert dataset["/inner"][0] == 1


def test_consolidated_names_never_lead_out(tmp_path: Path) -> None:
    array = {
        "zarr_format": 2,
        "shape": [4],
        "chunks": [2],
        "dtype": "<i2",
        "compressor": None,
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    (tmp_path / "s").mkdir()
    names = ("../out", "/etc", "a/../../b", "a//b", "ok")
    metadata = {".zgroup": {"zarr_format": 2}} | {f"{name}/.zarray": array for name in names}
    (tmp_path / "s" / ".zmetadata").write_text(json.dumps({"metadata": metadata}))
    with refbrowser.open(tmp_path / "s") as dataset:
        assert list(dataset.arrays) == ["/ok"]
        assert len(dataset.document.notes) == len(names) - 1
        assert b".." not in dataset.document.to_bytes()


def test_absent_files_are_missing_only_below_the_store(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="<i2", fill_value=5)
    with refbrowser.open(tmp_path / "s") as dataset:
        text = dataset.document.to_bytes()
        assert dataset["/a"][...].tolist() == [5] * 4
    (tmp_path / "d.json").write_bytes(text)
    with refbrowser.open(tmp_path / "d.json") as dataset, pytest.raises(RefbrowserError) as caught:
        dataset["/a"][...]
    assert caught.value.kind is ErrorKind.IO


@pytest.mark.parametrize(
    ("key", "text", "node"),
    [
        ("a/zarr.json", "{", "/a"),
        ("a/zarr.json", '{"zarr_format": 3, "node_type": "array", "shape": "x"}', "/a"),
        ("a/zarr.json", "[" * 100_000, "/a"),
    ],
)
def test_a_broken_node_hides_no_other(tmp_path: Path, key: str, text: str, node: str) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=3)
    for name in "ab":
        group.create_array(name, shape=(4,), chunks=(2,), dtype="<i2")[:] = range(4)
    (tmp_path / "s" / key).write_text(text)
    with refbrowser.open(tmp_path / "s") as dataset:
        assert dataset["/b"][...].tolist() == [0, 1, 2, 3]
        assert dataset[node].node.error is not None
        assert {finding.place.key for finding in dataset.hierarchy.findings} == {key}


def test_special_files_are_not_read(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="<i2")[:] = range(4)
    (tmp_path / "s" / "a" / ".zattrs").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "s" / "a" / ".zattrs")
    with refbrowser.open(tmp_path / "s") as dataset:
        assert dataset["/a"][...].tolist() == [0, 1, 2, 3]
        assert [note.kind for note in dataset.document.notes] == [ErrorKind.UNSAFE]


def test_a_store_of_which_nothing_can_be_read_is_one(tmp_path: Path) -> None:
    zarr.create_group(tmp_path / "s", zarr_format=3)
    os.mkfifo(tmp_path / "s" / ".zgroup")
    with refbrowser.open(tmp_path / "s", flavour="zarr-v2") as dataset:
        assert not dataset.arrays
        assert [note.kind for note in dataset.document.notes] == [ErrorKind.UNSAFE]


def test_more_arrays_than_rules_open_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=3)
    for name in "abcd":
        group.create_array(name, shape=(4,), chunks=(2,), dtype="<i2")[:] = range(4)
    monkeypatch.setattr(made_text, "LIMITS", replace(LIMITS, gen_rules=2))
    with refbrowser.open(tmp_path / "s") as dataset:
        assert not dataset.document.notes
        for name in "abcd":
            assert dataset[name][...].tolist() == [0, 1, 2, 3]
        written = dataset.document.written()
        assert ["this array and 1 others" in note.message for note in written.notes] == [True]
        told = dataset.with_document(written)
        for name in "cd":
            # Not known is not the same as missing.
            with pytest.raises(RefbrowserError) as caught:
                told[name][...]
            assert caught.value.kind is ErrorKind.BUDGET
        # What has no rule is written out.
        refbrowser.export(dataset, tmp_path / "out.json", format="refs-v1")
    with refbrowser.open(tmp_path / "out.json") as again:
        assert [again[name][...].tolist() for name in "abcd"] == [[0, 1, 2, 3]] * 4


ARRAY = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i2",
    "compressor": None,
    "filters": None,
    "fill_value": 0,
    "order": "C",
}


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_groups_as_deep_as_is_read_and_deeper(tmp_path: Path, more: int) -> None:
    deepest = tmp_path
    for _ in range(LIMITS.group_nesting + more):
        deepest = deepest / "g"
        deepest.mkdir()
    for folder in (deepest, *deepest.parents[: LIMITS.group_nesting + more]):
        (folder / ".zgroup").write_text('{"zarr_format": 2}')
    with refbrowser.open(tmp_path) as dataset:
        told = [note.message for note in dataset.document.notes]
        assert [message for message in told if "levels deep" in message] == told
        assert bool(told) == (more > 0)


def test_names_that_are_no_text_hide_no_others(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/s/\xff"
    os.makedirs(odd)
    with open(odd + b"/.zarray", "w") as file:
        json.dump(ARRAY, file)
    (tmp_path / "s" / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / "s" / "ok").mkdir()
    (tmp_path / "s" / "ok" / ".zarray").write_text(json.dumps(ARRAY))
    with refbrowser.open(tmp_path / "s") as dataset:
        assert list(dataset.arrays) == ["/ok"]
    os.rename(os.fsencode(tmp_path / "s"), os.fsencode(tmp_path) + b"/\xfe")
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe"))
    assert caught.value.kind is ErrorKind.ENCODING


def consolidated(folder: Path, entries: str) -> Path:
    """Make a store of consolidated metadata with an array and more entries, as JSON."""
    group = '{"zarr_format": 2}'
    (folder / ".zgroup").write_text(group)
    text = f'{{"metadata": {{".zgroup": {group}, "ok/.zarray": {json.dumps(ARRAY)}, {entries}}}}}'
    (folder / ".zmetadata").write_text(text)
    return folder


@pytest.mark.parametrize("name", ["\\ud800", "a\\u0000"])
def test_consolidated_names_that_are_no_text_hide_no_others(tmp_path: Path, name: str) -> None:
    with refbrowser.open(consolidated(tmp_path, f'"{name}/.zarray": {json.dumps(ARRAY)}')) as dataset:
        assert list(dataset.arrays) == ["/ok"]
        assert len(dataset.document.notes) == 1


@pytest.mark.parametrize("depth", [300, 900, 970, 985, 990, 1000, 100_000])
def test_deep_consolidated_metadata_ends_in_order(tmp_path: Path, depth: int) -> None:
    deep = f'".zattrs": {{"x": {"[" * depth}{"]" * depth}}}'
    with refbrowser.open(consolidated(tmp_path, deep)) as dataset:
        assert dataset.hierarchy.findings or dataset.document.notes


def test_many_bad_entries_are_counted(tmp_path: Path) -> None:
    many = ", ".join(f'"x{number}": 0' for number in range(500))
    with refbrowser.open(consolidated(tmp_path, many)) as dataset:
        assert len(dataset.document.notes) < 100
        assert sum(note.count for note in dataset.document.notes) == 500


def test_metadata_with_too_many_values_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "LIMITS", replace(LIMITS, metadata_values=100))
    values = ",".join(["[]"] * 200)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".zarray").write_text(json.dumps(ARRAY))
    (tmp_path / "a" / ".zattrs").write_text(f'{{"x": [{values}]}}')
    with refbrowser.open(consolidated(tmp_path, f'"b/.zattrs": [{values}]')) as dataset:
        assert list(dataset.arrays) == ["/a"]
        assert {each.kind for each in dataset.hierarchy.findings} == {ErrorKind.BUDGET}
        assert ErrorKind.BUDGET in {each.kind for each in dataset.document.findings}
        assert any("consolidated metadata cannot be read" in note.message for note in dataset.document.notes)


def test_links_that_lead_round_are_not_followed(tmp_path: Path) -> None:
    for name in "xy":
        (tmp_path / name).mkdir()
        (tmp_path / name / ".zgroup").write_text('{"zarr_format": 2}')
        for other in ("../x", "../y", "..", "."):
            (tmp_path / name / f"to {other.strip('./') or len(other)}").symlink_to(other)
    (tmp_path / ".zgroup").write_text('{"zarr_format": 2}')
    with refbrowser.open(tmp_path) as dataset:
        assert sorted(each.path for each in dataset.hierarchy.walk()) == [
            "/",
            "/x",
            "/x/to y",
            "/y",
            "/y/to x",
        ]


def test_links_that_lead_to_each_other_are_followed_within_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "_LINKS", 100)
    for number in range(12):
        (tmp_path / str(number)).mkdir()
        for name in "ab":
            (tmp_path / str(number) / name).symlink_to(f"../{number + 1}")
    (tmp_path / ".zgroup").write_text('{"zarr_format": 2}')
    with refbrowser.open(tmp_path) as dataset:
        assert any("more names than the limit" in note.message for note in dataset.document.notes)


def test_with_the_whole_store_gone_no_chunk_is_missing(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="<i2", fill_value=5)
    with refbrowser.open(tmp_path / "s") as dataset:
        (tmp_path / "s").rename(tmp_path / "t")
        with pytest.raises(RefbrowserError) as caught:
            dataset["/a"][...]
        assert caught.value.kind is ErrorKind.IO


def test_odd_attributes_are_told_of_consolidated_metadata_as_of_single_documents(tmp_path: Path) -> None:
    texts = {
        "plain": '{"x": [1, 2.5, "é"]}',
        "nan": '{"x": NaN}',
        "large": '{"x": 1e999}',
        "long": f'{{"x": {10**LIMITS.json_digits}}}',
        "fits": f'{{"x": {10**LIMITS.json_digits - 1}}}',
        "half": '{"x": "\\ud800"}',
        "deep": f'{{"x": {"[" * 300}{"]" * 300}}}',
        "many": f'{{"x": [{", ".join(["[]"] * 300)}]}}',
    }
    group = {"zarr_format": 3, "node_type": "group"}
    documents = {}
    for name, text in texts.items():
        head = json.dumps(group)[:-1]
        documents[name] = f'{head}, "attributes": {text}}}'
    single = tmp_path / "single"
    for name, document in {".": json.dumps(group), **documents}.items():
        (single / name).mkdir(parents=True, exist_ok=True)
        (single / name / "zarr.json").write_text(document.replace("1e999", "Infinity"))
    alone = told_of(single)
    assert {name for name, _, _ in alone} == {"nan", "large", "long", "deep"}
    # A long number anywhere has all read in full: what is without one is looked at too.
    for left_out in ("long", "plain"):
        folder = tmp_path / f"without {left_out}"
        folder.mkdir()
        entries = ", ".join(f'"{key}": {each}' for key, each in documents.items() if key != left_out)
        head = json.dumps(group)[:-1]
        consolidated = f'{head}, "consolidated_metadata": {{"metadata": {{{entries}}}}}}}'
        (folder / "zarr.json").write_text(consolidated)
        told = told_of(folder)
        assert [each for each in told if each[0] != "half"] == [each for each in alone if each[0] != left_out]
        assert [kind for name, kind, _ in told if name == "half"] == [ErrorKind.ENCODING]
        with refbrowser.open(folder) as dataset, refbrowser.open(single) as other:
            for path in ("/many", "/fits"):
                assert dataset.hierarchy.find(path).attributes == other.hierarchy.find(path).attributes


def told_of(folder: Path) -> list[tuple[str, ErrorKind, str]]:
    """Return node, kind and message of the findings of a store, by node."""
    with refbrowser.open(folder) as dataset:
        findings = dataset.hierarchy.findings
    return sorted((str(each.place.key).partition("/")[0], each.kind, each.message) for each in findings)


def test_special_files_in_place_of_consolidated_metadata(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "s", zarr_format=2)
    group.create_array("a", shape=(4,), chunks=(2,), dtype="<i2")[:] = range(4)
    os.mkfifo(tmp_path / "s" / ".zmetadata")
    with refbrowser.open(tmp_path / "s") as dataset:
        assert dataset["/a"][...].tolist() == [0, 1, 2, 3]
