"""The history of Icechunk repositories: the graph, the operations log, and what nothing uses."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icechunk_files import SNAPSHOTS, Writer, put, second_version
from servers.http_server import HttpServer
from servers.object_servers import ObjectServer

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.wings.icechunk.history.history import History
from refbrowser.wings.icechunk.reading import operations, snapshot_graph
from refbrowser.wings.icechunk.reading.repository import IcechunkRepository, SnapshotFacts, id_text
from refbrowser.wings.icechunk.views.history_words import graph_lines, lane_text


def told(path: Path, **said: Any) -> History:
    found = refbrowser.history(path, **said)
    assert isinstance(found, History)
    return found


class Made:
    """A repository with two branches, a tag, a branch that was deleted, and one that was reset."""

    def __init__(self, path: Path, version: int) -> None:
        icechunk = pytest.importorskip("icechunk")
        self.zarr = pytest.importorskip("zarr")
        icechunk.set_logs_filter("error")
        specified = {"spec_version": version} if hasattr(icechunk, "SpecVersion") else {}
        if version > 1 and not specified:
            pytest.skip("this Icechunk writes the first specification only")
        self.path, self.version = path, version
        storage = icechunk.local_filesystem_storage(str(path))
        config = icechunk.RepositoryConfig.default()
        config.inline_chunk_threshold_bytes = 0
        self.repository = icechunk.Repository.create(storage, config, **specified)
        self.first, self.second = self.commit("main", "first", 1), self.commit("main", "second", 2)
        self.repository.create_branch("dev", self.second)
        self.repository.create_tag("v1", self.first)
        self.dev, self.third = self.commit("dev", "dev one", 3), self.commit("main", "third", 4)
        self.reset = self.commit("dev", "dev two", 5)
        self.repository.create_branch("old", self.second)
        self.old = self.commit("old", "old one", 6)
        self.repository.delete_branch("old")
        self.repository.reset_branch("dev", self.dev)

    def commit(self, branch: str, message: str, value: int) -> str:
        session = self.repository.writable_session(branch)
        group = self.zarr.open_group(session.store, mode="a")
        array = group.require_array("a", shape=(400,), chunks=(100,), dtype="<i4", compressors=None)
        array[: 100 * value] = value
        return str(session.commit(message))


@pytest.fixture(scope="module", params=[1, 2])
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Made:
    return Made(tmp_path_factory.mktemp("history") / "r", request.param)


# The graph


@pytest.mark.slow
def test_the_graph_has_what_the_library_has(made: Made) -> None:
    graph = told(made.path).graph
    rows = {each.facts.id: each for each in graph.snapshots}
    reachable = {name for name, each in rows.items() if each.is_reachable}
    theirs = {
        info.id: info.parent_id for name in ("main", "dev") for info in made.repository.ancestry(branch=name)
    }
    assert {name: rows[name].facts.parent for name in reachable} == theirs
    assert rows[made.third].branches == ("main",)
    assert rows[made.dev].branches == ("dev",)
    assert rows[made.first].tags == ("v1",)
    assert rows[made.third].lane == rows[made.second].lane == 0
    assert rows[made.dev].lane in rows[made.second].joining
    # Version 2 tells of those that nothing leads to; of version 1 they are listed.
    assert {made.old, made.reset} <= rows.keys() or made.version == 1
    graph = told(made.path, unused=True).graph
    assert {each.facts.id for each in graph.snapshots if not each.is_reachable} == {made.old, made.reset}


def test_a_graph_in_lines() -> None:
    facts = [
        SnapshotFacts(name, parent, number, name)
        for number, (name, parent) in enumerate([("a", None), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "a")])
    ]
    known = {each.id: each for each in facts}
    repository = SimpleNamespace(branches={"main": "c", "dev": "d"}, tags={"t": "a"}, known=known)
    repository.facts = known.__getitem__
    graph = snapshot_graph.snapshot_graph(cast(IcechunkRepository, repository))
    lines = [line.replace("1970-01-01 00:00:00 UTC  ", "") for line in graph_lines(graph, "c")]
    assert lines == [
        "  ○    e  [no branch or tag leads here] e",
        "  │ ●  d  (dev) d",
        "● │ │  c  (main) [open] c",
        "●─┼─╯  b  b",
        "●─╯    a  (tag t) a",
    ]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(0, 29))
def test_columns_lead_from_each_snapshot_to_the_one_before_it(parents: list[int], main: int) -> None:
    facts = {
        str(number): SnapshotFacts(str(number), str(parent) if parent < number else None, number, "")
        for number, parent in enumerate(parents)
    }
    tip = str(main % len(parents))
    repository = SimpleNamespace(branches={"main": tip}, tags={}, known=facts, facts=facts.__getitem__)
    graph = snapshot_graph.snapshot_graph(cast(IcechunkRepository, repository))
    assert sorted(each.facts.id for each in graph.snapshots) == sorted(facts)
    places = {each.facts.id: at for at, each in enumerate(graph.snapshots)}
    assert graph.snapshots[places[tip]].lane == 0 or any(each.facts.parent == tip for each in graph.snapshots)
    for at, each in enumerate(graph.snapshots):
        assert each.lane not in (*each.joining, *each.passing)
        assert not set(each.joining) & set(each.passing)
        assert len(lane_text(each, graph.lanes)) <= 2 * graph.lanes
        parent = each.facts.parent
        assert each.goes_on == (parent is not None)
        if parent is None:
            continue
        assert places[parent] > at
        for between in graph.snapshots[at + 1 : places[parent]]:
            assert each.lane in between.passing
        ends = graph.snapshots[places[parent]]
        assert each.lane in (ends.lane, *ends.joining)


def test_very_many_snapshots_are_cut_and_circles_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.wings.icechunk.icechunk_limits import IcechunkLimits

    facts = {str(n): SnapshotFacts(str(n), str((n + 1) % 10), n, "") for n in range(10)}
    repository = SimpleNamespace(branches={"main": "3"}, tags={}, known=facts, facts=facts.__getitem__)
    graph = snapshot_graph.snapshot_graph(cast(IcechunkRepository, repository))
    assert len(graph.snapshots) == 10
    assert not graph.is_cut
    monkeypatch.setattr(snapshot_graph, "ICECHUNK_LIMITS", IcechunkLimits(icechunk_snapshots=4))
    graph = snapshot_graph.snapshot_graph(cast(IcechunkRepository, repository))
    assert len(graph.snapshots) == 4
    assert graph.is_cut


@pytest.mark.slow
def test_a_history_that_expired_ends_where_it_is_told(made: Made, tmp_path: Path) -> None:
    import shutil

    if made.version > 1:
        pytest.skip("the one file of version 2 has all")
    copy = tmp_path / "r"
    shutil.copytree(made.path, copy)
    (copy / "snapshots" / made.first).unlink()
    found = told(copy, unused=True)
    assert "expired" in found.graph.ended[made.second]
    assert any("cannot be told" in line for line in found.lines())
    # What a snapshot that cannot be read uses is not known.
    assert found.unused is not None
    assert {each.unused for each in found.unused} == {None}


# Operations


def _with_log(root: Path, repo: bytes, older: bytes | None) -> None:
    put(root, {**second_version(root), "repo": repo})
    if older is not None:
        put(root, {"overwritten/before": older})


def _log(updates: list[dict[int, Any]], before: str | None = None) -> bytes:
    r = Writer()
    infos = [
        {0: each, 1: struct.pack("<i", n - 1), 2: struct.pack("<Q", n), 3: lambda: r.vector(b"m")}
        for n, each in enumerate(SNAPSHOTS)
    ]
    fields: dict[int, Any] = {
        2: lambda: r.tables([{0: lambda: r.vector(b"main"), 1: struct.pack("<I", 1)}]),
        4: lambda: r.tables(infos),
        7: lambda: r.tables(
            [
                {
                    0: each[0],
                    1: lambda each=each: r.table(
                        {
                            number: (lambda value=value: r.vector(value)) if number == 0 else value
                            for number, value in each[1].items()
                        }
                    ),
                    2: struct.pack("<Q", each[2]),
                }
                for each in updates
            ]
        ),
    }
    if before is not None:
        fields[8] = lambda: r.vector(before.encode())
    return r.file(6, fields)


def test_operations_are_told_with_those_of_older_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.wings.icechunk.icechunk_limits import IcechunkLimits

    new = [{0: b"\x05", 1: {0: b"tag one"}, 2: 9}, {0: b"\x08", 1: {0: b"side", 1: SNAPSHOTS[0]}, 2: 8}]
    old = [{0: b"\x0a", 1: {0: b"main", 1: SNAPSHOTS[1]}, 2: 7}, {0: b"\x63", 1: {}, 2: 6}]
    _with_log(tmp_path, _log(new, "before"), _log(old))
    log = told(tmp_path, operations=True).operations
    assert log is not None
    assert [(each.kind, each.microseconds, each.text) for each in log.operations] == [
        ("tag-created", 9, "tag tag one made"),
        ("branch-deleted", 8, f"branch side deleted, which led to {id_text(SNAPSHOTS[0])}"),
        ("new-commit", 7, f"{id_text(SNAPSHOTS[1])} committed to main"),
        ("unknown", 6, "an operation of an unknown kind"),
    ]
    assert log.ended == ""
    monkeypatch.setattr(operations, "ICECHUNK_LIMITS", IcechunkLimits(icechunk_operations=3))
    cut = told(tmp_path, operations=True).operations
    assert cut is not None
    assert (len(cut.operations), cut.ended) == (3, "only the newest 3 are listed")
    (tmp_path / "overwritten" / "before").unlink()
    lost = told(tmp_path, operations=True)
    assert lost.operations is not None
    assert len(lost.operations.operations) == 2
    assert "cannot be read" in [*lost.lines()][-1]


def test_a_log_that_leads_to_itself_ends(tmp_path: Path) -> None:
    log = _log([{0: b"\x01", 1: {}, 2: 1}], "before")
    _with_log(tmp_path, log, log)
    found = told(tmp_path, operations=True).operations
    assert found is not None
    assert len(found.operations) == 2


@pytest.mark.slow
def test_operations_are_those_of_the_library(made: Made) -> None:
    found = told(made.path, operations=True)
    if made.version == 1:
        assert found.operations is None
        assert "keeps no log" in [*found.lines()][-1]
        return
    assert found.operations is not None
    theirs = [type(each.kind).__name__.rpartition("_")[2] for each in made.repository.ops_log()]
    ours = ["".join(part.title() for part in each.kind.split("-")) for each in found.operations.operations]
    assert ours == theirs


# What nothing uses


@pytest.mark.slow
def test_what_nothing_uses_is_what_the_library_deletes(made: Made, tmp_path: Path) -> None:
    import shutil

    import icechunk

    copy = tmp_path / "r"
    shutil.copytree(made.path, copy)
    folders = {each.folder: each for each in told(copy, unused=True).unused or ()}
    theirs = icechunk.Repository.open(icechunk.local_filesystem_storage(str(copy))).garbage_collect(
        datetime.now(UTC) + timedelta(days=1)
    )
    deleted = {
        "chunks": theirs.chunks_deleted,
        "manifests": theirs.manifests_deleted,
        "snapshots": theirs.snapshots_deleted,
        "transactions": theirs.transaction_logs_deleted,
    }
    assert {name: each.unused for name, each in folders.items()} == deleted
    assert deleted["chunks"] > 0
    assert sum(each.unused_size or 0 for each in folders.values()) == theirs.bytes_deleted
    assert [each.unused for each in told(copy, unused=True).unused or ()] == [0] * 4


@pytest.mark.slow
def test_chunks_of_a_lost_manifest_are_not_called_unused(made: Made, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "r"
    shutil.copytree(made.path, copy)
    with refbrowser.open(copy) as dataset:
        origin: Any = dataset.document.origin
        lost = origin.snapshot.nodes[-1].extents[0].manifest
    (copy / "manifests" / lost).unlink()
    found = told(copy, unused=True)
    folders = {each.folder: each for each in found.unused or ()}
    assert folders["chunks"].unused is None
    assert lost in folders["chunks"].unknown
    assert folders["snapshots"].unused == 2
    assert any("at least" in line for line in found.lines())


def test_the_verb_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, second_version(tmp_path))
    for folder in ("transactions", "chunks"):
        (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / "chunks" / ("0" * 20)).write_bytes(bytes(7))
    (tmp_path / "snapshots" / id_text(SNAPSHOTS[0])).write_bytes(b"")
    assert main(["history", str(tmp_path), "--unused", "--operations", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in said["snapshots"]] == [id_text(each) for each in reversed(SNAPSHOTS)]
    assert said["snapshots"][0]["branches"] == ["main"]
    assert said["snapshots"][0]["tags"] == ["t"]
    assert main(["history", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "(main, tag t) [open] message 1" in lines[0]


def test_others_have_no_history(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{".zgroup": "{\\"zarr_format\\":2}"}')
    for tool in (refbrowser.history, refbrowser.manifests):
        with pytest.raises(RefbrowserError, match="no Icechunk repository") as raised:
            tool(tmp_path / "a.json")
        assert raised.value.kind is ErrorKind.USAGE


@pytest.mark.slow
def test_diff_since_a_branch_a_tag_or_a_snapshot(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("v1", "dev", made.second.lower()):
        assert main(["diff", str(made.path), "--since", name, "--json"]) == 2
        said = json.loads(capsys.readouterr().out)
        assert (said["here"], said["there"]) == (f"{made.path} at {name}", str(made.path))
        assert [each["path"] for each in said["arrays"]] == ["/a"]
    assert main(["diff", str(made.path), "--since", "main"]) == 0
    assert main(["diff", str(made.path), "--since", "dev", "--snapshot", made.dev]) == 0
    capsys.readouterr()
    assert main(["diff", str(made.path), "--since", "none"]) == 2
    assert "known: " in capsys.readouterr().err
    made.zarr.open_group(str(tmp_path / "s.zarr"), mode="w", zarr_format=3)
    assert main(["diff", str(tmp_path / "s.zarr"), "--since", "main"]) == 2
    assert "keeps no states" in capsys.readouterr().err


@pytest.mark.slow
def test_a_web_server_does_not_list(made: Made) -> None:
    with HttpServer({}) as server:
        for path in made.path.rglob("*"):
            if path.is_file():
                server.files[f"/r.icechunk/{path.relative_to(made.path).as_posix()}"] = path.read_bytes()
        with pytest.raises(RefbrowserError, match="does not list"):
            refbrowser.history(server.url("/r.icechunk"), allow=[server.origin], unused=True)


@pytest.mark.long
def test_an_object_store_is_listed(
    made: Made, s3_server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = s3_server.new_bucket()
    s3_server.put_folder(f"{bucket}/r", made.path)
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    with refbrowser.open(f"{bucket}/r", storage_options=s3_server.settings(bucket)) as dataset:
        found, there = refbrowser.history(dataset, unused=True), told(made.path, unused=True)
    assert isinstance(found, History)
    assert found.unused == there.unused
    assert found.graph == there.graph
