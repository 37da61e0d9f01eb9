"""Edits written into the store that was opened: its metadata alone, each object whole, also consolidated."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import zarr

import refbrowser
from refbrowser.engine.attribute_edits import AttributeChange, attributes_edit
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.node_metadata import read_metadata
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.saving import save as saving
from refbrowser.exporting.saving.save import (
    BACKUP,
    PartlyWrittenError,
    StoreWritten,
    save_into_store,
    store_change,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files import atomic
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.edits.edits import RemoveReference, SetMetadata, SetReference, SetTemplate

#: Flavours of stores, and whether their metadata is consolidated.
STORES = ("v2", "v2 consolidated", "v3", "v3 consolidated", "draft", "nczarr")


def made(path: Path, kind: str) -> Path:
    """Write a store with an array in a group."""
    path.parent.mkdir(parents=True)
    if kind == "nczarr":
        with netCDF4.Dataset(f"file://{path}#mode=nczarr,file", "w") as dataset:
            group = dataset.createGroup("g")
            group.createDimension("x", 4)
            variable = group.createVariable("a", "i4", ("x",))
            variable[:] = [1, 2, 3, 4]
            variable.units = "K"
        return path
    if kind == "draft":
        source = made(path.parent / "source" / "s.zarr", "v2")
        with refbrowser.open(source) as dataset:
            refbrowser.export(dataset, path, format="zarr-v3-draft")
        return path
    number = 2 if kind.startswith("v2") else 3
    group = zarr.create_group(path, zarr_format=number, attributes={"title": "made"})
    array = group.create_array("g/a", shape=(4,), chunks=(2,), dtype="<i4", attributes={"units": "K"})
    array[:] = [1, 2, 3, 4]
    if "consolidated" in kind:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(path)
    return path


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("stores")
    return {kind: made(folder / kind.replace(" ", "-") / "s.zarr", kind) for kind in STORES}


def edited(path: Path, values: dict[str, Any]) -> tuple[ReferenceDocument, ReferenceDocument]:
    """Return the document of a store with other attributes of ``/g/a`` and the root, and as it is."""
    with refbrowser.open(path) as dataset:
        return with_attributes(dataset, dataset.document, values), dataset.document


def with_attributes(
    dataset: Dataset, document: ReferenceDocument, values: dict[str, Any]
) -> ReferenceDocument:
    """Return a document of the store of a dataset with other attributes of ``/g/a`` and the root."""
    for node in map(dataset.hierarchy.find, ("/g/a", "/")):
        for name, value in values.items():
            texts = read_metadata(dataset, document, node, CancelToken())
            change = AttributeChange.added(name, value)
            if name in node.attributes:
                change = AttributeChange.of_value(name, value)
            document = document.apply(attributes_edit(node, dataset.hierarchy.flavour, texts, change))
    return document


def content(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def attributes(path: Path, kind: str) -> Any:
    """Return the attributes of ``/g/a`` and the root as other software reads them; both ways where it can."""
    if kind == "draft":
        with refbrowser.open(path) as dataset:
            return [dict(dataset["/g/a"].attrs), dict(dataset.hierarchy.root.attributes)]
    if kind == "nczarr":
        with netCDF4.Dataset(f"file://{path}#mode=nczarr,file") as dataset:
            assert dataset["g/a"][:].tolist() == [1, 2, 3, 4]
            return [dataset["g/a"].__dict__, dataset.__dict__]
    found = []
    for consolidated in (False, True) if "consolidated" in kind else (False,):
        with warnings.catch_warnings():
            # Nothing of ours is taken for a part of the hierarchy.
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "Consolidated metadata is currently not part")
            group = zarr.open_group(path, mode="r", use_consolidated=consolidated)
            assert [name for name, _ in group.members(max_depth=None)] == ["g", "g/a"] or sorted(
                name for name, _ in group.members(max_depth=None)
            ) == ["g", "g/a"]
            assert group["g/a"][:].tolist() == [1, 2, 3, 4]
            found.append([dict(group["g/a"].attrs), dict(group.attrs)])
    assert all(each == found[0] for each in found)
    return found[0]


@pytest.mark.parametrize("kind", STORES)
def test_edits_are_read_by_others_and_nothing_else_changes(
    kind: str, stores: dict[str, Path], tmp_path: Path
) -> None:
    path = Path(shutil.copytree(stores[kind].parent, tmp_path / "t")) / "s.zarr"
    before = content(path)
    document, saved = edited(path, {"units": "degC", "new": "yes"})
    change = store_change(document, saved)
    assert not change.obstacle
    written = save_into_store(document, saved)
    after = content(path)
    assert {key for key in after if after.get(key) != before.get(key)} == set(written.keys)
    assert set(change.keys) <= set(written.keys)
    assert set(before) <= set(after)
    for found in attributes(path, kind):
        assert found["units"] == "degC"
        assert found["new"] == "yes"
    # What was replaced is kept, where no reader finds it.
    kept = content(Path(written.backup))
    assert Path(written.backup).parent == path.with_name(f"s.zarr{BACKUP}")
    assert kept == {f"{key}.old": before[key] for key in written.keys if key in before}
    # Opened anew it is what was saved; and undone it is what it was.
    with refbrowser.open(path) as again:
        assert again["/g/a"].attrs["units"] == "degC"
        assert again["/g/a"][...].tolist() == [1, 2, 3, 4]
    assert save_into_store(document, document) == StoreWritten(())
    save_into_store(saved, document)
    assert {key: json.loads(data) for key, data in content(path).items() if is_json(key)} == {
        key: json.loads(data) for key, data in before.items() if is_json(key)
    }
    if "consolidated" not in kind:
        assert content(path) == before


def is_json(key: str) -> bool:
    return key.rpartition("/")[2].startswith(".z") or key.endswith(".json")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["v2 consolidated", "v3 consolidated"])
def test_a_failure_at_any_step_leaves_objects_old_or_new_and_can_be_gone_on_from(
    kind: str, stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, fsync = os.replace, os.fsync
    whole = Path(shutil.copytree(stores[kind].parent, tmp_path / "whole")) / "s.zarr"
    document, saved = edited(whole, {"units": "degC"})
    save_into_store(document, saved)
    before, after = content(stores[kind]), content(whole)
    changed = {key for key in after if after[key] != before.get(key)}
    failures = 0
    for number in range(100):
        path = Path(shutil.copytree(stores[kind].parent, tmp_path / str(number))) / "s.zarr"
        document, saved = edited(path, {"units": "degC"})
        left = [number]

        def fails(real: Any, left: list[int] = left) -> Any:
            def call(*arguments: Any) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    raise OSError(28, "No space left on device")
                return real(*arguments)

            return call

        monkeypatch.setattr(atomic.os, "replace", fails(replace))
        monkeypatch.setattr(atomic.os, "fsync", fails(fsync))
        try:
            save_into_store(document, saved)
        except RefbrowserError as error:
            failures += 1
            now = content(path)
            assert set(now) == set(before) | (set(now) & changed)
            new = {key for key in changed if now.get(key) == after[key] != before.get(key)}
            assert all(now.get(key) == before.get(key) for key in after if key not in new)
            words = f"{error.message} {error.advice}"
            assert "No space left" in words
            if new:
                assert f"{len(new)} of {len(changed)} objects were written" in words
            else:
                assert "nothing was written" in words
            monkeypatch.undo()
            # Readable, and saving again goes on.
            assert zarr.open_group(path, mode="r")["g/a"][:].tolist() == [1, 2, 3, 4]
            save_into_store(document, saved)
            assert content(path) == after
        else:
            break
        finally:
            monkeypatch.undo()
    assert failures >= 2 * len(changed)


def test_what_a_store_has_no_place_for_is_said(stores: dict[str, Path], tmp_path: Path) -> None:
    path = Path(shutil.copytree(stores["v2"], tmp_path / "s.zarr"))
    with refbrowser.open(path) as dataset:
        saved = dataset.document
    before = content(path)
    for document, words in (
        (
            saved.apply(SetReference("g/a/0", ["elsewhere", 0, 8])),
            "references of chunks were edited ('g/a/0')",
        ),
        (saved.apply(SetTemplate("u", "/elsewhere")), "references of chunks were edited"),
        (saved.apply(RemoveReference("g/a/.zarray")), "'g/a/.zarray' was removed"),
    ):
        assert words in store_change(document, saved).obstacle
        with pytest.raises(RefbrowserError, match="cannot be written into the store"):
            save_into_store(document, saved)
    faulty = saved.apply(SetReference("g/a/.zattrs", "{rubbish"))
    with pytest.raises(RefbrowserError, match="not a JSON object"):
        save_into_store(faulty, saved)
    assert content(path) == before
    # Attributes can be removed again: of an object that an edit began.
    begun = saved.apply(SetMetadata("g/.zattrs", {"a": 1}))
    save_into_store(begun, saved)
    save_into_store(saved, begun)
    assert content(path) == before


def test_a_store_that_others_changed_or_protected_is_left_alone(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    for kind, key in (
        ("v2", "g/a/.zattrs"),
        ("v2", "g/a/.zarray"),
        ("v3", "g/a/zarr.json"),
        ("v2 consolidated", ".zmetadata"),
    ):
        path = Path(shutil.copytree(stores[kind], tmp_path / f"{kind}-{key.replace('/', '-')}"))
        document, saved = edited(path, {"units": "degC"})
        target = path / key
        target.write_bytes(target.read_bytes().replace(b'"K"', b'"F"').replace(b'"<i4"', b'"<u4"'))
        before = content(path)
        with pytest.raises(RefbrowserError, match="changed by another program"):
            save_into_store(document, saved)
        assert content(path) == before
    path = Path(shutil.copytree(stores["v2"], tmp_path / "protected"))
    document, saved = edited(path, {"units": "degC"})
    before = content(path)
    (path / "g/a/.zattrs").chmod(0o444)
    with pytest.raises(RefbrowserError, match="read-only"):
        save_into_store(document, saved)
    path.chmod(0o555)
    assert store_change(document, saved).obstacle == "it is read-only"
    path.chmod(0o755)
    assert content(path) == before
    assert not list(tmp_path.glob(f"*{BACKUP}"))


def test_the_backup_of_a_group_stands_beside_the_whole_store(stores: dict[str, Path], tmp_path: Path) -> None:
    path = Path(shutil.copytree(stores["v2"], tmp_path / "s.zarr"))
    with refbrowser.open(path / "g") as dataset:
        saved = dataset.document
    written = save_into_store(saved.apply(SetMetadata("a/.zattrs", {"units": "degC"})), saved)
    assert Path(written.backup).parent == tmp_path / f"s.zarr{BACKUP}"
    assert (Path(written.backup) / "g/a/.zattrs.old").is_file()
    assert np.array_equal(zarr.open_group(path, mode="r")["g/a"][:], [1, 2, 3, 4])


@pytest.mark.parametrize("kind", ["v2 consolidated", "v3 consolidated"])
def test_what_the_store_around_a_group_repeats_is_in_step(
    kind: str, stores: dict[str, Path], tmp_path: Path
) -> None:
    path = Path(shutil.copytree(stores[kind], tmp_path / "s.zarr"))
    with refbrowser.open(path / "g") as dataset:
        saved = dataset.document
        node = dataset.hierarchy.find("/a")
        texts = read_metadata(dataset, saved, node, CancelToken())
        change = AttributeChange.of_value("units", "degC")
        document = saved.apply(attributes_edit(node, dataset.hierarchy.flavour, texts, change))
    written = save_into_store(document, saved)
    assert len(written.keys) == 2
    for consolidated in (True, False):
        group = zarr.open_group(path, mode="r", use_consolidated=consolidated)
        assert group["g/a"].attrs["units"] == "degC"


def test_two_copies_that_differ_are_no_change_of_others(stores: dict[str, Path], tmp_path: Path) -> None:
    path = Path(shutil.copytree(stores["v2 consolidated"], tmp_path / "s.zarr"))
    document, saved = edited(path, {"units": "degC", "other": 1})
    # Members in another order are the same.
    target = path / "g/a/.zarray"
    value = json.loads(target.read_text())
    target.write_text(json.dumps(dict(reversed(value.items()))))
    save_into_store(document, saved)
    save_into_store(saved, document)
    (path / "g/a/.zattrs").write_text('{"units": "Fahrenheit"}')
    before = content(path)
    with pytest.raises(RefbrowserError, match="differs from the consolidated metadata"):
        save_into_store(document, saved)
    assert content(path) == before


@pytest.mark.parametrize("kind", ["v2", "v2 consolidated"])
@pytest.mark.parametrize("broken", [b'{"units": "K"', b"[1]", b""])
def test_a_broken_object_can_be_corrected(
    stores: dict[str, Path], tmp_path: Path, kind: str, broken: bytes
) -> None:
    path = Path(shutil.copytree(stores[kind], tmp_path / "s.zarr"))
    # Consolidated metadata that cannot be read repeats nothing.
    target = path / (".zmetadata" if "consolidated" in kind else "g/a/.zattrs")
    target.write_bytes(broken)
    with refbrowser.open(path) as dataset:
        saved = dataset.document
    with pytest.raises(RefbrowserError, match="is not a JSON object in the document"):
        save_into_store(saved.apply(SetReference("g/a/.zattrs", "[2]")), saved)
    assert target.read_bytes() == broken
    written = save_into_store(saved.apply(SetReference("g/a/.zattrs", '{"units": "m"}')), saved)
    assert written.keys == ("g/a/.zattrs",)
    assert (path / "g/a/.zattrs").read_bytes() == b'{"units": "m"}'
    if "consolidated" in kind:
        assert target.read_bytes() == broken
    else:
        assert (Path(written.backup) / "g/a/.zattrs.old").read_bytes() == broken


@pytest.mark.parametrize("broken", [b"{", b"[]"])
def test_broken_metadata_above_repeats_nothing(
    stores: dict[str, Path], tmp_path: Path, broken: bytes
) -> None:
    path = Path(shutil.copytree(stores["v3"], tmp_path / "s.zarr"))
    (path / "g/zarr.json").write_bytes(broken)
    with refbrowser.open(path) as dataset:
        saved = dataset.document
    value = json.loads(saved.expansion.value("g/a/zarr.json") or b"")
    value["attributes"] = {"units": "m"}
    document = saved.apply(SetReference("g/a/zarr.json", json.dumps(value)))
    assert save_into_store(document, saved).keys == ("g/a/zarr.json",)
    assert json.loads((path / "g/a/zarr.json").read_bytes()) == value
    assert (path / "g/zarr.json").read_bytes() == broken


def fail_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rename of an object with this number, from 0, fail; those of the backup are not counted."""
    real, left = os.replace, [number]

    def replace(source: str, target: str) -> None:
        if BACKUP not in target:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(atomic.os, "replace", replace)


def values_of(root: Path) -> dict[str, Any]:
    return {key: json.loads(data) for key, data in content(root).items() if is_json(key)}


@pytest.mark.parametrize("kind", STORES)
def test_edits_go_on_after_a_save_that_failed_half_way(
    kind: str, stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote is known as ours: other values, and none, take its place; what others wrote stays."""
    path = Path(shutil.copytree(stores[kind].parent, tmp_path / "t")) / "s.zarr"
    document, saved = edited(path, {"units": "degC"})
    with refbrowser.open(stores[kind]) as original:
        for number, values in enumerate(({"units": "F"}, {"units": "F", "new": 1}, {})):
            fail_at(1, monkeypatch)
            with pytest.raises(PartlyWrittenError) as caught:
                save_into_store(document, saved)
            monkeypatch.undo()
            ours = caught.value.ours
            (half,) = map(Path, ours)
            state = half.read_bytes()
            assert b"degC" in state
            other = with_attributes(original, saved, values)
            if number == 0:
                # What another program has written since is not ours.
                half.write_bytes(state.replace(b"degC", b"theirs"))
                now = content(path)
                with pytest.raises(
                    RefbrowserError, match=r"changed by another program|differs from the consolidated"
                ):
                    save_into_store(other, saved, ours=ours)
                assert content(path) == now
            else:
                save_into_store(other, saved, ours=ours)
                wanted = Path(shutil.copytree(stores[kind], tmp_path / f"{number}.zarr"))
                save_into_store(*edited(wanted, values))
                assert values_of(path) == values_of(wanted)
            shutil.rmtree(path)
            shutil.copytree(stores[kind], path)


@pytest.mark.parametrize("kind", ["v2", "v2 consolidated"])
def test_what_was_begun_and_removed_half_way_is_undone(
    kind: str, stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copytree(stores[kind], tmp_path / "s.zarr"))
    before = values_of(path)
    with refbrowser.open(path) as dataset:
        saved = dataset.document
    document = saved.apply(SetMetadata("n/.zgroup", {"zarr_format": 2})).apply(RemoveReference("g/a/.zattrs"))
    document = document.apply(SetMetadata("z/.zgroup", {"zarr_format": 2}))
    fail_at(1, monkeypatch)
    with pytest.raises(PartlyWrittenError, match=r"'z/\.zgroup' was not written") as caught:
        save_into_store(document, saved)
    monkeypatch.undo()
    assert values_of(path).keys() ^ before.keys() == {"n/.zgroup", "g/a/.zattrs"}
    ours = caught.value.ours
    assert store_change(saved, saved, ours).keys == ("g/a/.zattrs", "n/.zgroup")
    save_into_store(saved, saved, ours=ours)
    assert values_of(path) == before


def test_objects_that_others_made_or_removed_since_are_noticed(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    for number, (key, data) in enumerate((("n/.zgroup", b'{"zarr_format": 2}'), ("g/a/.zarray", None))):
        path = Path(shutil.copytree(stores["v2"], tmp_path / f"{number}.zarr"))
        document, saved = edited(path, {"units": "degC"})
        assert (path / key).exists() == (data is None)
        (path / key).parent.mkdir(exist_ok=True)
        (path / key).unlink() if data is None else (path / key).write_bytes(data)
        before = content(path)
        with pytest.raises(RefbrowserError, match="changed by another program"):
            save_into_store(document, saved)
        assert content(path) == before


@pytest.mark.parametrize("kind", ["v2", "v2 consolidated"])
def test_objects_that_others_make_and_remove_meanwhile_stay_theirs(
    kind: str, stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = saving._Plan._keep
    for number, (edit, key, data, words) in enumerate(
        (
            (
                SetMetadata("n/.zgroup", {"zarr_format": 2}),
                "n/.zgroup",
                b'{"theirs": 1}',
                "made by another program",
            ),
            (RemoveReference("g/a/.zattrs"), "g/a/.zattrs", b'{"theirs": 1}', "changed by another program"),
            (RemoveReference("g/a/.zattrs"), "g/a/.zattrs", None, "the file was removed"),
            (SetMetadata("g/a/.zattrs", {"a": 1}), "g/a/.zattrs", None, "the file was removed"),
        )
    ):
        path = Path(shutil.copytree(stores[kind], tmp_path / f"{number}.zarr"))
        with refbrowser.open(path) as dataset:
            saved = dataset.document

        # Between the reading of the objects and their writing.
        def meddling(plan: Any, objects: Any, target: Path = path / key, data: bytes | None = data) -> str:
            target.parent.mkdir(exist_ok=True)
            target.unlink(missing_ok=True)
            if data is not None:
                target.write_bytes(data)
            return keep(plan, objects)

        monkeypatch.setattr(saving._Plan, "_keep", meddling)
        with pytest.raises(RefbrowserError, match=words):
            save_into_store(saved.apply(edit), saved)
        monkeypatch.undo()
        expected = {**content(stores[kind]), key: data}
        assert content(path) == {name: each for name, each in expected.items() if each is not None}
