"""Commits to repositories, as the library itself, zarr-python and xarray read them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest
from refbrowser.wings.icechunk.changing.snapshot_tree import origin_of

icechunk = pytest.importorskip("icechunk")
pytest.importorskip("xarray")

from repositories_made import (  # noqa: E402 - the library may be missing
    OWN,
    VIRTUAL,
    colleague_commits,
    library_dataset,
    library_group,
    library_repository,
    messages,
    metadata_of,
    repository_in,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return repository_in(tmp_path)


def test_attributes_names_and_deletions(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(os.listdir(path / "manifests")), set(os.listdir(path / "chunks"))
    options = ["--set-attr", "v:units=degC", "--set-attr", ":n=[1, 2]", "--set-attr", "v:long_name="]
    assert main(["commit", str(path), *options, "-m", "mended"]) == 0
    assert "attribute units" in capsys.readouterr().out
    group = library_group(path)
    assert dict(group["v"].attrs) == {"units": "degC"}
    assert dict(group.attrs) == {"title": "a test", "kept": 1, "n": [1, 2]}
    # Metadata alone writes no manifest and no chunk.
    assert (set(os.listdir(path / "manifests")), set(os.listdir(path / "chunks"))) == before
    assert main(["commit", str(path), "--rename", "/:x=lon", "--rename", "v=temp", "--delete", "g"]) == 0
    dataset = library_dataset(path)
    assert dataset["temp"].dims == ("y", "lon")
    assert np.array_equal(dataset["temp"].values, VIRTUAL)
    assert sorted(library_group(path)) == ["temp", "x"]
    assert messages(path)[0] == "/v: renamed to /temp and 3 more"
    assert messages(path)[1:3] == ["mended", "made"]
    # What was committed before is as it was.
    old = library_repository(path).lookup_snapshot
    first = [each.id for each in library_repository(path).ancestry(branch="main")][2]
    assert old(first).message == "made"
    with refbrowser.open(path, snapshot=first, allow=[str(path.parent)]) as dataset:
        assert np.array_equal(dataset["/v"][...], VIRTUAL)


def test_nothing_is_committed_by_a_dry_run_or_without_changes(path: Path) -> None:
    known = messages(path)
    found = refbrowser.commit(path, set_attr="v:units=C", rename="g=h", dry_run=True)
    assert found.snapshot == ""
    assert [*found.changes.lines()] == [
        ("/g", "renamed to /h"),
        ("/v", 'attribute units: "K" -> "C"'),
    ]
    assert refbrowser.commit(path, set_attr="v:units=K").snapshot == ""
    assert messages(path) == known


@pytest.mark.parametrize("name", ["transactions", "chunks", "refs/tag.t"])
def test_nothing_is_written_through_a_link_out_of_the_repository(path: Path, name: str) -> None:
    known, elsewhere = messages(path), path.parent / "elsewhere"
    (path / name).rename(elsewhere) if (path / name).exists() else elsewhere.mkdir()
    (path / name).symlink_to(elsewhere)
    there = os.listdir(elsewhere)
    with pytest.raises(RefbrowserError, match="leads out of the repository"):
        refbrowser.commit(path, set_attr="v:units=C")
    with pytest.raises(RefbrowserError, match="leads out of the repository"):
        refbrowser.export(path, path, format="icechunk", force=True)
    assert (messages(path), os.listdir(elsewhere)) == (known, there)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"set_attr": "nothing:units=K"}, "no group or array"),
        ({"set_attr": "v:nothing="}, "no attribute"),
        ({"set_attr": "units=K"}, "not of the form"),
        ({"rename": "v=x"}, "cannot be renamed"),
        ({"rename": "v=no/where"}, "no group"),
        ({"rename": "/:nothing=t"}, "dimension"),
        ({"delete": "/"}, "root"),
        ({"delete": "nothing"}, "no group or array"),
    ],
)
def test_what_cannot_be_is_refused(path: Path, asked: dict[str, Any], told: str) -> None:
    with pytest.raises(RefbrowserError, match=told):
        refbrowser.commit(path, **asked)
    assert messages(path)[0] == "made"


def test_own_and_inline_chunks_go_along_with_a_new_name(path: Path) -> None:
    found = refbrowser.commit(path, rename=["g/own=g/other", "x=g/x"])
    group = library_group(path)
    assert np.array_equal(group["g/other"][:], OWN)
    assert np.array_equal(group["g/x"][:], np.arange(6))
    assert "own" not in group["g"]
    # Those that lie in the repository itself; inline ones need no copy.
    assert found.copied == 3


def test_virtual_chunks_lie_elsewhere(path: Path) -> None:
    place = path.parent / "elsewhere"
    place.mkdir()
    (path.parent / "data.bin").rename(place / "data.bin")
    assert refbrowser.commit(path, move_prefix=f"{path.parent}/data={place}/data").chunks == 4
    assert np.array_equal(library_group(path)["v"][...], VIRTUAL)
    assert np.array_equal(library_group(path)["g/own"][...], OWN)


def test_what_others_committed_is_kept(path: Path) -> None:
    def change(group: Any) -> None:
        group["v"].attrs["units"] = "degC"
        group["x"].attrs["units"] = "m"
        group.create_array("new", shape=(3,), dtype="i4")[:] = 7
        group["g/own"][0] = -1

    with refbrowser.open(path) as dataset:
        theirs = colleague_commits(path, change)
        found = refbrowser.commit(dataset, set_attr=["v:comment=ours", "/:title=new"], rename="g/own=g/mine")
    assert (found.tip, found.is_merged) == (theirs, True)
    group = library_group(path)
    assert dict(group["v"].attrs) == {"units": "degC", "long_name": "v", "comment": "ours"}
    assert group["x"].attrs["units"] == "m"
    assert group["new"][:].tolist() == [7, 7, 7]
    assert group["g/mine"][:2].tolist() == [-1, 1]
    assert messages(path)[1:] == ["a colleague's", "made", "Repository initialized"]


def test_conflicts_are_told_and_settled(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def change(group: Any) -> None:
        group["v"].attrs["units"] = "theirs"
        group.attrs["title"] = "theirs"

    first = library_repository(path).lookup_branch("main")
    colleague_commits(path, change)
    known = messages(path)
    ours = ["commit", str(path), "--snapshot", first, "--to-branch", "main"]
    ours += ["--set-attr", "v:units=ours", "--set-attr", "/:title=ours", "--set-attr", "x:a=1"]
    assert main(ours) == 2
    told = capsys.readouterr().err
    assert all(each in told for each in ("/v:attributes/units", "base: K", "ours: ours", "theirs: theirs"))
    assert messages(path) == known
    assert main([*ours, "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert [each["place"] for each in said["conflicts"]] == ["/v:attributes/units", "/:attributes/title"]
    settled = ["--settle", "/v:attributes/units=ours", "--settle", "/:attributes/title=theirs"]
    assert main([*ours, *settled]) == 0
    group = library_group(path)
    assert (group["v"].attrs["units"], group.attrs["title"], group["x"].attrs["a"]) == ("ours", "theirs", 1)


def test_a_deletion_never_takes_what_others_added(path: Path) -> None:
    with refbrowser.open(path) as dataset:
        colleague_commits(path, lambda group: group["g"].create_array("new", shape=(3,), dtype="i4"))
        refbrowser.commit(dataset, delete="g")
    assert sorted(library_group(path)["g"]) == ["new"]
    with refbrowser.open(path) as dataset:
        colleague_commits(path, lambda group: group["v"].attrs.update({"units": "C"}))
        found = refbrowser.commit(dataset, delete="v")
        assert (found.snapshot, len(found.conflicts)) == ("", 1)
        refbrowser.commit(dataset, delete="v", favor="theirs")
        assert "v" in library_group(path)
        assert refbrowser.commit(dataset, delete="v", favor="ours").snapshot
    assert "v" not in library_group(path)


def test_ours_of_what_others_deleted_is_refused(path: Path) -> None:
    def delete(group: Any) -> None:
        del group["v"]

    with refbrowser.open(path) as dataset:
        colleague_commits(path, delete)
        assert refbrowser.commit(dataset, set_attr="v:units=C").conflicts
        with pytest.raises(RefbrowserError, match="others have deleted it"):
            refbrowser.commit(dataset, set_attr="v:units=C", favor="ours")
        assert not refbrowser.commit(dataset, set_attr="v:units=C", favor="theirs").snapshot


def test_a_new_branch_starts_at_what_is_open(path: Path) -> None:
    assert refbrowser.commit(path, set_attr="v:units=C", to_branch="trial").branch == "trial"
    assert library_group(path, "trial")["v"].attrs["units"] == "C"
    assert library_group(path)["v"].attrs["units"] == "K"
    library_repository(path).create_tag("t", library_repository(path).lookup_branch("main"))
    with pytest.raises(RefbrowserError, match="commits go to a branch"):
        refbrowser.commit(path, set_attr="v:units=C", tag="t")


def test_a_branch_is_merged_into_another(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = library_repository(path).lookup_branch("main")
    library_repository(path).create_branch("side", first)

    def theirs(group: Any) -> None:
        group["v"].attrs["units"] = "side"
        group["g/own"][:200] = -1
        group.create_array("new", shape=(3,), dtype="i4")[:] = 7
        del group["x"]

    colleague_commits(path, theirs, "side")
    colleague_commits(path, lambda group: group["v"].attrs.update({"units": "main", "more": 1}))
    assert main(["commit", str(path), "--from", "side"]) == 2
    told = capsys.readouterr().err
    assert "ours: main" in told
    assert "theirs: side" in told
    assert main(["commit", str(path), "--from", "side", "--favor", "theirs"]) == 0
    group = library_group(path)
    assert dict(group["v"].attrs) == {"units": "side", "long_name": "v", "more": 1}
    assert group["g/own"][[0, 199, 200]].tolist() == [-1, -1, 200]
    assert group["new"][:].tolist() == [7, 7, 7]
    assert "x" not in group
    assert messages(path)[:2] == ["Merge side into main", "a colleague's"]
    assert library_group(path, "side")["v"].attrs["units"] == "side"
    with pytest.raises(RefbrowserError, match="no branch, tag or snapshot"):
        refbrowser.commit(path, source="nothing")
    with pytest.raises(RefbrowserError, match="a commit of its own"):
        refbrowser.commit(path, source="side", delete="v")


def test_a_named_container_lies_elsewhere_for_all_snapshots(path: Path) -> None:
    try:
        named = icechunk.VirtualChunkContainer(
            f"file://{path.parent}/", icechunk.local_filesystem_store(str(path.parent)), name="data"
        )
    except TypeError:
        pytest.skip("icechunk has no named containers before version 2")
    config = icechunk.RepositoryConfig.default()
    config.set_virtual_chunk_container(named)
    storage = icechunk.local_filesystem_storage(str(path.parent / "named"))
    session = icechunk.Repository.create(storage, config=config).writable_session("main")
    v = zarr.create_group(session.store).create_array(
        "v", shape=(4, 6), chunks=(4, 6), dtype="<i4", compressors=None
    )
    session.store.set_virtual_ref("v/c/0/0", "vcc://data/data.bin", offset=0, length=96)
    assert v.shape == (4, 6)
    session.commit("named")
    (path.parent / "elsewhere").mkdir()
    (path.parent / "data.bin").rename(path.parent / "elsewhere" / "data.bin")
    named_path = path.parent / "named"
    found = refbrowser.commit(named_path, move_prefix=f"vcc://data={path.parent}/elsewhere")
    assert (found.snapshot, found.containers) == ("", 1)
    # Under its new name the array still names the container.
    refbrowser.commit(named_path, rename="v=w")
    (path.parent / "elsewhere").rename(path.parent / "again")
    refbrowser.commit(named_path, move_prefix=f"vcc://data={path.parent}/again")
    with refbrowser.open(named_path, allow=[str(path.parent)]) as dataset:
        assert np.array_equal(dataset["/w"][...], VIRTUAL)
    granted = icechunk.containers_credentials({f"file://{path.parent}/again/": None})
    repository = icechunk.Repository.open(storage, authorize_virtual_chunk_access=granted)
    found_values = zarr.open_group(repository.readonly_session("main").store, mode="r")["w"][...]
    assert np.array_equal(found_values, VIRTUAL)
    with pytest.raises(RefbrowserError, match="no virtual chunk container"):
        refbrowser.commit(named_path, move_prefix="vcc://nothing=/tmp")


def test_what_another_program_makes_at_the_same_moment_is_told_and_can_be_merged(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.wings.icechunk.changing import committing

    apply, made = committing.apply_changes, []

    def meanwhile(*arguments: Any, **more: Any) -> Any:
        # As a commit that the disk let ours replace: a snapshot to which no branch leads.
        session = library_repository(path).writable_session("main")
        zarr.open_group(session.store, mode="r+")["v"].attrs["lost"] = 1
        made.append(session.flush("lost"))
        return apply(*arguments, **more)

    monkeypatch.setattr(committing, "apply_changes", meanwhile)
    assert main(["commit", str(path), "--set-attr", "v:mine=1"]) == 0
    assert f"--from {made[0]}" in capsys.readouterr().err
    monkeypatch.undo()
    if not library_repository(path).lookup_snapshot(made[0]).parent_id:
        pytest.skip("this version does not record it")
    assert refbrowser.commit(path, source=made[0]).snapshot
    assert {"lost", "mine"} <= dict(library_group(path)["v"].attrs).keys()


_WRITER = """
import sys, refbrowser
path, name = sys.argv[1:]
for number in range(6):
    refbrowser.commit(path, set_attr=[f"v:{name}{number}={number}"], message=f"{name}{number}")
"""


def test_writers_at_the_same_time_lose_nothing(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), name], stderr=subprocess.PIPE, text=True)
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        assert writer.wait(120) == 0, writer.stderr and writer.stderr.read()
    attributes = dict(library_group(path)["v"].attrs)
    assert {f"{name}{number}" for name in "abc" for number in range(6)} <= attributes.keys()
    assert len(messages(path)) == 20
    assert metadata_of(path, "v")["shape"] == [4, 6]


@pytest.mark.parametrize("scheme", ["s3", pytest.param("abfs", marks=pytest.mark.long)])
def test_writers_of_a_bucket_lose_nothing(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    server: ObjectServer = request.getfixturevalue(f"{scheme}_server")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    bucket = server.new_bucket()
    settings = tuple(server.settings(bucket))
    source = tmp_path / "source.zarr"
    zarr.open_group(source, mode="w").create_array("v", shape=(4,), dtype="i4")[:] = 1
    target = f"{bucket}/made"
    with open_dataset(OpenRequest(str(source), storage_options=settings)) as dataset:
        run_export(dataset, ExportRequest(target, "icechunk"))

    def write(name: str) -> list[str]:
        asked = [f"v:{name}{number}={number}" for number in range(3)]
        return [refbrowser.commit(target, set_attr=each, storage_options=settings).snapshot for each in asked]

    with ThreadPoolExecutor(3) as pool:
        made = [snapshot for each in pool.map(write, "abc") for snapshot in each]
    with refbrowser.open(target, storage_options=settings) as dataset:
        attributes = dataset["/v"].attrs
        tip = origin_of(dataset.document).snapshot.facts.id
        history = [each.id for each in origin_of(dataset.document).repository.history(tip)]
    assert {f"{name}{number}" for name in "abc" for number in range(3)} <= attributes.keys()
    assert set(made) <= set(history)
    assert len(set(made)) == 9
