"""Icechunk repositories: those that the library writes, version 2 and hostile ones that are made here."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from icechunk_files import CHUNK, SNAPSHOTS, put, second_version
from servers.http_server import HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.frozen_dataset import FrozenDataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.identity import ObjectIdentity, Recorded
from refbrowser.model.reference import ReferenceKind
from refbrowser.references.content.content import Edit
from refbrowser.references.edits.edits import RemoveReference, ReplaceUrlPrefix, SetReference
from refbrowser.wings.icechunk.reading import chunk_references, snapshot_references
from refbrowser.wings.icechunk.reading.flatbuffers import Buffer
from refbrowser.wings.icechunk.reading.opening import IcechunkOrigin
from refbrowser.wings.icechunk.reading.repository import MAGIC, IcechunkRepository, id_text, id_texts

VALUES = np.arange(24, dtype="<f8").reshape(6, 4)


def of(dataset: Any) -> IcechunkOrigin:
    origin = dataset.document.origin
    assert isinstance(origin, IcechunkOrigin)
    return origin


# By the library


@dataclass
class Made:
    """A repository; from the second specification on its branches, tags and history are in one file."""

    path: Path
    source: Path
    specification: int
    first: str
    second: str


@pytest.fixture(scope="module", params=[1, 2])
def library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Made:
    icechunk = pytest.importorskip("icechunk")
    import zarr

    specified = {"spec_version": request.param} if hasattr(icechunk, "SpecVersion") else {}
    if request.param > 1 and not specified:
        pytest.skip("this Icechunk writes the first specification only")

    folder = tmp_path_factory.mktemp("icechunk")
    source = folder / "source" / "a.bin"
    source.parent.mkdir()
    source.write_bytes(np.arange(12, dtype="<i4").tobytes())
    os.utime(source, (1_600_000_000, 1_600_000_000))
    prefix = f"file://{source.parent}/"
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = 40
    store = icechunk.local_filesystem_store(str(source.parent))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    storage = icechunk.local_filesystem_storage(str(folder / "r"))
    repository = icechunk.Repository.create(storage, config, **specified)
    writing = repository.writable_session("main")
    group = zarr.group(store=writing.store, attributes={"title": "made"})
    array = group.create_array(
        "g/x",
        shape=(6, 4),
        chunks=(2, 4),
        dtype="<f8",
        fill_value=-1,
        compressors=None,
        dimension_names=("y", "x"),
    )
    array[:4] = VALUES[:4]
    group.create_array("scalar", shape=(), dtype="<i2")[...] = 7
    virtual = group.create_array("v", shape=(12,), chunks=(4,), dtype="<i4", compressors=None, filters=None)
    then = datetime.fromtimestamp(1_600_000_000, UTC)
    for number in range(3):
        url = f"{prefix}a.bin"
        writing.store.set_virtual_ref(f"v/c/{number}", url, offset=16 * number, length=16, checksum=then)
    assert virtual.shape == (12,)
    first = writing.commit("first")
    repository.create_tag("one", first)
    repository.create_branch("side", first)
    writing = repository.writable_session("main")
    zarr.open_group(writing.store)["g/x"][4:] = VALUES[4:]
    zarr.open_group(writing.store).create_group("later")
    return Made(folder / "r", source, request.param, first, writing.commit("second"))


@pytest.mark.slow
def test_snapshots_read_as_the_library_has_them(library: Made) -> None:
    import icechunk
    import zarr

    allow = [str(library.source.parent)]
    repository = icechunk.Repository.open(icechunk.local_filesystem_storage(str(library.path)))
    ways: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {"branch": "main"}),
        ({"branch": "side"}, {"branch": "side"}),
        ({"tag": "one"}, {"tag": "one"}),
        ({"snapshot": library.second}, {"snapshot_id": library.second}),
    ]
    for ours, theirs in ways:
        other = zarr.open_group(repository.readonly_session(**theirs).store, mode="r")
        with refbrowser.open(library.path, allow=allow, **ours) as dataset:
            assert dataset.format == "icechunk"
            for path in ("g/x", "scalar"):
                np.testing.assert_array_equal(dataset[f"/{path}"][...], other[path][...])
            np.testing.assert_array_equal(dataset["/v"][...], np.arange(12))
            has_later = any(node.path == "/later" for node in dataset.hierarchy.walk())
            assert has_later == ("later" in other)
            assert dataset.document.opened_with == ours
    with refbrowser.open(library.path, tag="one") as dataset:
        assert (dataset["/g/x"][4:] == -1).all()
        with pytest.raises(RefbrowserError) as raised:
            dataset["/v"][...]
        assert raised.value.kind is ErrorKind.BLOCKED


def test_history_and_changes_are_told(library: Made) -> None:
    with refbrowser.open(library.path) as dataset:
        origin = of(dataset)
        assert [fact.message for fact in origin.repository.history(library.second)][:2] == ["second", "first"]
        assert {fact.name: fact.value for fact in origin.told()}["snapshot"] == library.second
        paths = {node.id: node.path for node in origin.snapshot.nodes}
        changes = origin.repository.changes(library.second)
        assert [paths[each] for each in changes.new] == ["later"]
        assert {paths[each]: count for each, count in changes.chunks.items()} == {"g/x": 1}
        assert (origin.repository.branches.keys(), origin.repository.tags.keys()) == (
            {"main", "side"},
            {"one"},
        )
    for wrong in ({"branch": "x"}, {"tag": "x"}, {"snapshot": "x"}, {"branch": "main", "tag": "one"}):
        with pytest.raises(RefbrowserError) as raised:
            refbrowser.open(library.path, **wrong)
        assert raised.value.kind is ErrorKind.USAGE


def test_xarray_has_the_same_by_both_engines(library: Made) -> None:
    import icechunk
    import xarray

    repository = icechunk.Repository.open(icechunk.local_filesystem_storage(str(library.path)))
    for way in ({"tag": "one"}, {"branch": "main"}):
        store = repository.readonly_session(**way).store
        theirs = xarray.open_zarr(store, group="g", consolidated=False, chunks=None)
        with xarray.open_dataset(library.path, engine="refbrowser", group="g", options=way) as ours:
            xarray.testing.assert_identical(ours.load(), theirs.load())
            # Another process opens the same snapshot.
            xarray.testing.assert_identical(pickle.loads(pickle.dumps(ours)), theirs)


def test_others_open_the_same_snapshot_though_the_branch_went_on(library: Made, tmp_path: Path) -> None:
    import icechunk

    shutil.copytree(library.path, tmp_path / "r")
    allow = [str(library.source.parent)]
    with refbrowser.open(tmp_path / "r", allow=allow) as dataset:
        sent = pickle.dumps(FrozenDataset.of(dataset))
    repository = icechunk.Repository.open(icechunk.local_filesystem_storage(str(tmp_path / "r")))
    repository.reset_branch("main", library.first)
    with pickle.loads(sent).dataset() as there:
        np.testing.assert_array_equal(there["/g/x"][...], VALUES)
        np.testing.assert_array_equal(there["/v"][...], np.arange(12))
        assert list(there.access.memory.identities.recorded) == [str(library.source)]


@pytest.mark.long
def test_object_stores_list_branches_and_tags(
    library: Made, s3_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = s3_server.new_bucket()
    s3_server.put_folder(f"{bucket}/r", library.path)
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    with refbrowser.open(f"{bucket}/r", storage_options=s3_server.settings(bucket), tag="one") as dataset:
        assert (dataset["/g/x"][4:] == -1).all()
        np.testing.assert_array_equal(dataset["/g/x"][:4], VALUES[:4])
        assert sorted(of(dataset).repository.branches) == ["main", "side"]


def test_references_made_of_it_read_through_fsspec(library: Made, tmp_path: Path) -> None:
    import fsspec
    import zarr

    with refbrowser.open(library.path, allow=[str(library.source.parent)]) as dataset:
        refbrowser.export(dataset, tmp_path / "out.json", format="refs-v1")
    references = json.loads((tmp_path / "out.json").read_text())
    files = fsspec.filesystem("reference", fo=references, asynchronous=True, remote_protocol="file")
    group = zarr.open_group(zarr.storage.FsspecStore(files, read_only=True, path=""), mode="r")
    np.testing.assert_array_equal(group["g/x"][...], VALUES)
    np.testing.assert_array_equal(group["v"][...], np.arange(12))
    assert group["scalar"][...] == 7


def test_sources_that_changed_are_no_data(library: Made) -> None:
    try:
        for seconds in (1_600_000_000, 1_500_000_000, 1_600_000_001):
            os.utime(library.source, (seconds, seconds))
            with refbrowser.open(library.path, allow=[str(library.source.parent)]) as dataset:
                if seconds <= 1_600_000_000:
                    np.testing.assert_array_equal(dataset["/v"][...], np.arange(12))
                    continue
                with pytest.raises(RefbrowserError) as raised:
                    dataset["/v"][...]
                assert raised.value.kind is ErrorKind.SOURCE
    finally:
        os.utime(library.source, (1_600_000_000, 1_600_000_000))


#: Ways in which a file is damaged, by name.
DAMAGE: Mapping[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:60]),
    "other": lambda path: path.write_bytes(path.read_bytes()[:37] + b"\7" + path.read_bytes()[38:]),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_lost_manifests_and_chunks_are_told_and_never_filled(
    library: Made, tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with refbrowser.open(library.path) as dataset:
        extents = {node.path: node.extents for node in of(dataset).snapshot.nodes}
    copy = tmp_path / "manifest"
    shutil.copytree(library.path, copy)
    lost = extents["g/x"][0].manifest
    DAMAGE[damage](copy / "manifests" / lost)
    with refbrowser.open(copy) as dataset:
        array = dataset["/g/x"]
        with pytest.raises(RefbrowserError, match=lost) as raised:
            array[0, 0]
        assert raised.value.kind in (ErrorKind.FORMAT, ErrorKind.IO)
        assert array.masked().values.mask.all() or len(extents["g/x"]) > 1
        assert array.node.manifest.stored() is None
        assert (array.node.manifest.kinds() == ReferenceKind.FAULTY).any()
        assert dataset["/scalar"][...] == 7
        assert dataset["/scalar"].damage == ()
        assert lost in array.damage[0].message
        assert [each.place.path for each in dataset.damage] == ["/g/x"]
        # Other software finds references that cannot be read, not chunks that were never written.
        refbrowser.export(dataset, tmp_path / "out.json", format="refs-v1", skip_bad=True)
    made = json.loads((tmp_path / "out.json").read_text())["refs"]
    assert {f"g/x/c/{row}/0" for row in range(3)} <= set(made)
    for command, code in (
        (["read", "--json", str(copy), "/g/x"], raised.value.kind.exit_code),
        (["read", "--json", str(copy), "/scalar"], 0),
        (["check", str(copy)], 2),
    ):
        assert main(command) == code
        said = capsys.readouterr()
        assert (lost in said.out + said.err) == (code != 0), command
    # What a manifest says is there, and is not, is an error too; an inline one lies in the manifest.
    copy = tmp_path / "chunk"
    shutil.copytree(library.path, copy)
    if damage in ("gone", "cut"):
        for path in (copy / "chunks").iterdir():
            DAMAGE[damage](path) if damage == "gone" else path.write_bytes(path.read_bytes()[:9])
        with refbrowser.open(copy) as dataset:
            with pytest.raises(RefbrowserError):
                dataset["/g/x"][0]
            assert dataset["/scalar"][...] == 7
        assert main(["read", str(copy), "/g/x", "--select", "0,:"]) == 4


@pytest.mark.parametrize("damage", DAMAGE)
def test_lost_snapshots_and_branches_are_told(
    library: Made, tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "r"
    shutil.copytree(library.path, copy)
    DAMAGE[damage](copy / "snapshots" / library.first)
    with pytest.raises(RefbrowserError):
        refbrowser.open(copy, tag="one")
    assert main(["info", str(copy), "--tag", "one"]) in (2, 4)
    assert capsys.readouterr().out == ""
    if library.specification > 1:
        DAMAGE[damage](copy / "repo")
        with pytest.raises(RefbrowserError):
            refbrowser.open(copy)
        return
    with refbrowser.open(copy) as dataset, pytest.raises(RefbrowserError):
        list(of(dataset).repository.history(library.second))
    (copy / "refs" / "branch.side" / "ref.json").write_bytes(b'{"snapshot":')
    with pytest.raises(RefbrowserError, match="side"):
        refbrowser.open(copy, branch="side")
    with refbrowser.open(copy) as dataset:
        np.testing.assert_array_equal(dataset["/g/x"][...], VALUES)
    (copy / "refs" / "branch.main" / "ref.json").unlink()
    with pytest.raises(RefbrowserError):
        refbrowser.open(copy)


def asked(server: HttpServer, folder: str) -> list[str]:
    """Return the objects of a folder of the repository that were asked for."""
    return [each.path.rpartition("/")[2] for each in server.requests if f"/{folder}/" in each.path]


def test_few_requests_open_one_below_a_url(library: Made) -> None:
    with HttpServer({}) as server:
        for path in library.path.rglob("*"):
            if path.is_file():
                server.files[f"/r.icechunk/{path.relative_to(library.path).as_posix()}"] = path.read_bytes()
        with refbrowser.open(server.url("/r.icechunk"), allow=[server.origin]) as dataset:
            # repo, refs/branch.main, config.yaml, the snapshot: of no array its manifests.
            assert len(server.requests) == 4
            nodes = {node.path: node for node in of(dataset).snapshot.nodes}
            own = {extent.manifest for extent in nodes["g/x"].extents}
            for _ in range(2):
                np.testing.assert_array_equal(dataset["/g/x"][...], VALUES)
                assert set(asked(server, "manifests")) == own
            assert dataset["/scalar"].damage == ()
            own |= {extent.manifest for extent in nodes["scalar"].extents}
            assert sorted(asked(server, "manifests")) == sorted(own)
            # Nor does xarray read what it does not show.
            import xarray

            with xarray.open_dataset(dataset, engine="refbrowser") as shown:
                assert "v" in shown
            assert sorted(asked(server, "manifests")) == sorted(own)
            # All references: what is left, each once.
            assert dataset.document.expansion.rows > 6
            assert dataset.damage == ()
            every = [extent.manifest for node in nodes.values() for extent in node.extents]
            assert sorted(asked(server, "manifests")) == sorted(set(every))
            with pytest.raises(RefbrowserError, match="local files"):
                dataset["/v"][...]


# Made here


@pytest.mark.parametrize("has_zstandard", [True, False])
def test_version_2_reads_all_kinds_of_chunks(
    has_zstandard: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = f"{chunk_references.__name__}.find_spec"
    monkeypatch.setattr(find, lambda name: has_zstandard or None)
    put(tmp_path, second_version(tmp_path))
    for said in ({}, {"tag": "t"}, {"snapshot": id_text(SNAPSHOTS[1])}):
        with refbrowser.open(tmp_path, **said) as dataset:
            np.testing.assert_array_equal(dataset["/v"][...], np.arange(12))
            history = of(dataset).repository.history(id_text(SNAPSHOTS[1]))
            assert [fact.message for fact in history] == ["message 1", "message 0"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"told": 3}, "4 references, and the snapshot records 3"),
        ({"own": CHUNK}, "a different manifest"),
        ({"node": b"o" * 8}, "it does not describe the array"),
    ],
)
def test_manifests_that_are_not_what_the_snapshot_says_are_lost(
    tmp_path: Path, wrong: dict[str, Any], why: str
) -> None:
    put(tmp_path, second_version(tmp_path, **wrong))
    with refbrowser.open(tmp_path) as dataset:
        for _ in range(2):
            with pytest.raises(RefbrowserError, match=why):
                dataset["/v"][...]


@pytest.mark.slow
def test_damaged_files_are_told_and_never_more(tmp_path: Path) -> None:
    files = second_version(tmp_path, packed=False)
    put(tmp_path, files)
    randomly = random.Random(3)
    names = [name for name, data in files.items() if data.startswith(MAGIC)]
    for _ in range(150):
        name = randomly.choice(names)
        data = bytearray(files[name])
        for _ in range(randomly.choice((1, 2, 8))):
            at = randomly.randrange(36, len(data))
            data[at] = randomly.choice((0, 1, 127, 128, 255, randomly.randrange(256)))
        if randomly.random() < 0.2:
            del data[randomly.randrange(len(data)) :]
        (tmp_path / name).write_bytes(data)
        try:
            with refbrowser.open(tmp_path) as dataset:
                list(of(dataset).repository.history(of(dataset).snapshot.facts.id))
        except RefbrowserError:
            pass
        (tmp_path / name).write_bytes(files[name])


def test_texts_that_lie_over_each_other_are_refused() -> None:
    buffer = Buffer(bytes(1000))
    starts = np.arange(400, dtype=np.int64)
    with pytest.raises(RefbrowserError):
        buffer.texts(starts, np.full(400, 500, np.int64))
    data = b"abcabcxyzab"
    texts, number = Buffer(data).texts(np.array([0, 3, 6, 0, 9]), np.array([3, 3, 3, 3, 2]))
    assert [texts[at] for at in number.tolist()] == [b"abc", b"abc", b"xyz", b"abc", b"ab"]
    assert sorted(texts) == [b"ab", b"abc", b"xyz"]


@pytest.mark.slow
def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.wings.icechunk.icechunk_limits import IcechunkLimits
    from refbrowser.wings.icechunk.reading import repository

    files = second_version(tmp_path)
    put(tmp_path, files)
    data = MAGIC + bytes(24) + bytes([2, 6, 1]) + zstandard.compress(bytes(64 << 20))
    (tmp_path / "repo").write_bytes(data)
    monkeypatch.setattr(repository, "ICECHUNK_LIMITS", IcechunkLimits(icechunk_file=1 << 20))
    with pytest.raises(RefbrowserError) as raised:
        refbrowser.open(tmp_path)
    assert raised.value.kind is ErrorKind.BUDGET


def test_files_that_grow_without_measure_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.wings.icechunk.icechunk_limits import IcechunkLimits
    from refbrowser.wings.icechunk.reading import repository

    put(tmp_path, second_version(tmp_path))
    data = MAGIC + bytes(24) + bytes([2, 6, 1]) + zstandard.compress(bytes(8 << 20))
    (tmp_path / "repo").write_bytes(data)
    monkeypatch.setattr(repository, "ICECHUNK_LIMITS", IcechunkLimits(icechunk_growth_from=1 << 20))
    with pytest.raises(RefbrowserError, match="icechunk_growth") as raised:
        refbrowser.open(tmp_path)
    assert raised.value.kind is ErrorKind.BUDGET


def test_lost_chunks_are_counted_before_they_are_listed(
    library: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.wings.icechunk.icechunk_limits import IcechunkLimits

    with refbrowser.open(library.path) as dataset:
        lost = next(node.extents[0] for node in of(dataset).snapshot.nodes if node.path == "g/x")
    shutil.copytree(library.path, tmp_path / "copy")
    (tmp_path / "copy/manifests" / lost.manifest).unlink()
    monkeypatch.setattr(snapshot_references, "ICECHUNK_LIMITS", IcechunkLimits(icechunk_lost=2))
    with refbrowser.open(tmp_path / "copy") as dataset:
        # Of arrays they are boxes of the grid, however many chunks these have.
        assert (dataset["/g/x"].node.manifest.kinds() == ReferenceKind.FAULTY).sum() > 2
        assert dataset["/scalar"][...] == 7
        assert lost.manifest in dataset.damage[0].message
        with pytest.raises(RefbrowserError, match="icechunk_lost") as raised:
            len(dataset.document.refs)
    assert raised.value.kind is ErrorKind.BUDGET


def test_manifests_are_read_as_arrays_are_touched(
    library: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.engine.sources import sources_of
    from refbrowser.limits import Limits
    from refbrowser.references.content import content

    read: list[str] = []
    plain = IcechunkRepository.manifests
    monkeypatch.setattr(
        IcechunkRepository,
        "manifests",
        lambda self, names, told: (read.extend(names), plain(self, names, told))[1],
    )
    for module in (content, snapshot_references):
        monkeypatch.setattr(module, "LIMITS", Limits(references_described=0))
    assert main(["info", str(library.path)]) == 0
    said = capsys.readouterr().out
    assert "references are read as arrays are read" in said
    assert "stored" in said
    assert not read
    with refbrowser.open(library.path) as dataset:
        containers = of(dataset).repository.containers
        assert [source.url for source in sources_of(dataset.document)] == list(containers.values())
        assert not read
        extents = next(node.extents for node in of(dataset).snapshot.nodes if node.path == "g/x")
        dataset["/g/x"][0, 0]
        assert set(read) == {extent.manifest for extent in extents}
        before = dataset.document.left
        assert before > 0
        keys = ["g/x/c/0/0", "g/x/c/9/9/9", "g/x/zarr.json", "scalar/c", "no/c/0"]
        found = [dataset.document.expansion.reference(key) for key in keys]
        assert dataset.document.left
        len(dataset.document.refs)
        assert dataset.document.left == 0
        assert [dataset.document.expansion.reference(key) for key in keys] == found
        assert found[0] is not None


def test_identifiers_are_spelled_as_files_are_called() -> None:
    first = bytes.fromhex("0b1cc8d6787580f0e33a6534")
    assert id_text(first) == "1CECHNKREP0F1RSTCMT0"
    rows = np.frombuffer(first + bytes(range(12)), np.uint8).reshape(2, 12)
    assert id_texts(rows) == ["1CECHNKREP0F1RSTCMT0", id_text(bytes(range(12)))]


def _cases() -> Iterator[tuple[Recorded, ObjectIdentity, bool]]:
    tagged, timed = Recorded(frozenset({'"a"'})), Recorded(modified=1_600_000_000)
    yield tagged, ObjectIdentity(1, "a"), True
    yield tagged, ObjectIdentity(1, '"a"'), True
    yield tagged, ObjectIdentity(1, "b"), False
    yield tagged, ObjectIdentity(1), False
    yield Recorded(frozenset({"a", "b"})), ObjectIdentity(1, "a"), False
    yield timed, ObjectIdentity(1, None, "Sun, 13 Sep 2020 12:26:40 GMT"), True
    yield timed, ObjectIdentity(1, None, "Sun, 13 Sep 2020 12:26:41 GMT"), False
    yield timed, ObjectIdentity(1, "a", changed=datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)), True
    yield timed, ObjectIdentity(1, "a", changed=datetime(2021, 1, 1, tzinfo=UTC)), False
    yield timed, ObjectIdentity(1, "a"), False
    yield timed, ObjectIdentity(1, None, "1:2:1600000000999999999:7"), True
    yield timed, ObjectIdentity(1, None, "1:2:1600000001000000000:7"), False
    # As folders that are taken for object stores tag their files: inode, microseconds, size.
    yield (
        Recorded(frozenset({"ff-5af3b1fb80000-10"})),
        ObjectIdentity(16, None, "1:255:1600011141120000000:7"),
        False,
    )
    yield (
        Recorded(frozenset({f"ff-{1_600_000_000_000_000:x}-10"})),
        ObjectIdentity(16, None, "1:255:1600000000000000000:7"),
        True,
    )


def test_what_was_recorded_is_held_against_what_is_there() -> None:
    for recorded, seen, is_same in _cases():
        if is_same:
            recorded.check("u", seen)
        else:
            with pytest.raises(RefbrowserError) as raised:
                recorded.check("u", seen)
            assert raised.value.kind is ErrorKind.SOURCE


def test_edits_lie_over_references_that_were_not_read_before(library: Made, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(library.source.parent, moved)
    os.utime(moved / "a.bin", (1_600_000_000, 1_600_000_000))
    allow = [str(library.source.parent), str(moved)]
    with refbrowser.open(library.path, allow=allow) as dataset:
        document = dataset.document
        assert not document.is_edited
        edits: tuple[tuple[Edit, str, list[int]], ...] = (
            (ReplaceUrlPrefix(f"file://{library.source.parent}", str(moved)), "/v", list(range(12))),
            (RemoveReference("v/c/1"), "/v", [*range(4), 0, 0, 0, 0, *range(8, 12)]),
            (SetReference("v/c/2", "base64:AAAAAAEAAAACAAAAAwAAAA=="), "/v", [*range(8), *range(4)]),
        )
        for edit, path, values in edits:
            edited = dataset.with_document(document.apply(edit))
            assert edited.document.is_edited
            np.testing.assert_array_equal(edited.arrays[path][...], values)
            np.testing.assert_array_equal(edited.arrays["/g/x"][...], VALUES)
        np.testing.assert_array_equal(dataset.with_document(document).arrays["/v"][...], np.arange(12))


def test_readers_know_the_versions_of_repositories(tmp_path: Path) -> None:
    put(tmp_path, second_version(tmp_path))
    matrix = refbrowser.readers(tmp_path, readers=["icechunk=1.1", "icechunk=2.3"])
    assert [str(matrix.verdict(column)) for column in range(2)] == ["refuses", "decodes"]
