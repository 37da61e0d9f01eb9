"""Edits of a snapshot and their commit agree, whatever they are; a commit that is killed never happened."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.document.history import History, Revert
from refbrowser.references.edits.edits import (
    Compound,
    RemoveReference,
    ReplaceUrlPrefix,
    SetMetadata,
    SetReference,
)
from refbrowser.references.edits.node_edits import DeleteNode, RenameNode

icechunk = pytest.importorskip("icechunk")
pytest.importorskip("xarray")

from repositories_made import (  # noqa: E402 - the library may be missing
    OWN,
    VIRTUAL,
    library_group,
    library_repository,
    messages,
    repository_in,
)

from refbrowser.wings.icechunk.changing.committing import CommitOrder  # noqa: E402
from refbrowser.wings.icechunk.changing.edited_snapshot import EditedSnapshot  # noqa: E402

pytestmark = pytest.mark.slow

_NAMES = st.sampled_from(["units", "title", "n"])
_VALUES = st.one_of(st.integers(-9, 9), st.text('aé"', max_size=3), st.lists(st.integers(0, 3), max_size=2))
_EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("attribute"), st.sampled_from(["", "v", "x", "g"]), _NAMES, _VALUES),
        st.tuples(st.just("dimension"), st.sampled_from(["y", "lat", "row"])),
        st.tuples(st.just("chunk"), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.just("inline"), st.integers(0, 3), st.integers(-5, 5)),
        st.tuples(st.just("no chunk"), st.integers(0, 3)),
        st.tuples(st.just("delete"), st.sampled_from(["x", "g/own"])),
        st.tuples(st.just("new"), st.sampled_from(["a", "g/b"]), st.integers(1, 4)),
        st.tuples(st.just("prefix")),
        st.tuples(st.just("rename"), st.sampled_from(["v w", "w v", "x q", "g h", "g/own g/x", "a v"])),
        st.tuples(st.just("delete node"), st.sampled_from(["x", "g", "w"])),
    ),
    min_size=1,
    max_size=6,
)


def _metadata(document: Any, key: str) -> Any:
    found = document.expansion.value(key)
    return None if found is None else json.loads(found)


def _edits_of(document: Any, said: tuple[Any, ...], folder: Path) -> list[Any]:
    """Return the edits that one line of `_EDITS` stands for; none where it says nothing here."""
    kind, *rest = said
    if kind in ("rename", "delete node"):
        edit = RenameNode(*rest[0].split()) if kind == "rename" else DeleteNode(rest[0])
        try:
            document.apply(edit)
        except RefbrowserError:
            return []
        return [edit]
    if kind in ("dimension", "chunk", "inline", "new") and _metadata(document, "v/zarr.json") is None:
        return []
    if kind == "new" and "/" in rest[0] and _metadata(document, "g/zarr.json") is None:
        return []
    if kind == "attribute":
        key = f"{rest[0]}/zarr.json".removeprefix("/")
        before = _metadata(document, key)
        if before is None:
            return []
        attributes = {**before.get("attributes", {}), rest[1]: rest[2]}
        return [SetMetadata(key, {**before, "attributes": attributes})]
    if kind == "dimension":
        return [
            SetMetadata(
                "v/zarr.json", {**_metadata(document, "v/zarr.json"), "dimension_names": [rest[0], "x"]}
            )
        ]
    if kind == "chunk":
        return [SetReference(f"v/c/{rest[0]}/0", [str(folder / "data.bin"), 24 * rest[1], 24])]
    if kind == "inline":
        data = np.full(6, rest[1], "<i4").tobytes()
        import base64

        return [SetReference(f"v/c/{rest[0]}/0", "base64:" + base64.b64encode(data).decode())]
    if kind == "no chunk":
        key = f"v/c/{rest[0]}/0"
        return [RemoveReference(key)] if document.refs.find_slot(key) is not None else []
    if kind == "delete":
        key = f"{rest[0]}/zarr.json"
        return [RemoveReference(key)] if document.refs.find_slot(key) is not None else []
    if kind == "new":
        key = f"{rest[0]}/zarr.json"
        made = {**_metadata(document, "v/zarr.json"), "shape": [rest[1], 6], "attributes": {}}
        chunk = SetReference(f"{rest[0]}/c/0/0", [str(folder / "data.bin"), 0, 24])
        return [SetMetadata(key, made), chunk] if document.refs.find_slot(key) is None else []
    return [ReplaceUrlPrefix(str(folder / "data"), str(folder / "other"))]


def _read(dataset: Dataset) -> dict[str, Any]:
    """Return all that can be read: metadata, and values of arrays."""
    found: dict[str, Any] = {}
    for node in dataset.hierarchy.walk():
        found[node.path] = dict(node.attributes)
        if isinstance(node, ArrayNode):
            array = dataset[node.path]
            found[node.path] = (found[node.path], node.dimensions, np.asarray(array[...]).tolist())
    return found


@settings(max_examples=12)
@given(said=_EDITS, by_step=st.booleans())
def test_a_commit_reads_as_the_edits_did(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[Any, ...]], by_step: bool
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    path = repository_in(folder)
    (folder / "other.bin").write_bytes(VIRTUAL[::-1].tobytes())
    request = OpenRequest(str(path), allow=(str(folder),))
    with open_dataset(request) as dataset:
        history = History(dataset.document)
        for each in said:
            for edit in _edits_of(history.document, each, folder):
                history.apply(edit)
        wanted = _read(dataset.with_document(history.document, JobControl()))
        edited = EditedSnapshot(dataset, history.states, [step.edit for step in history.steps])
        order = CommitOrder(message="edits")
        if by_step:
            edited.committed_steps(order, JobControl())
        else:
            edited.committed(order, JobControl())
    with open_dataset(request) as committed:
        assert _read(committed) == wanted
    group = library_group(path)
    for name, value in wanted.items():
        node = group if name == "/" else group[name.strip("/")]
        attributes, *values = value if isinstance(value, tuple) else (value,)
        assert dict(node.attrs) == attributes
        if values:
            assert node[...].tolist() == values[1]


def test_what_is_renamed_in_a_document_is_moved_not_written_again(tmp_path: Path) -> None:
    path = repository_in(tmp_path)
    with open_dataset(OpenRequest(str(path), allow=(str(tmp_path),))) as dataset:
        history = History(dataset.document)
        history.apply(RenameNode("v", "lost"))
        history.apply(Revert(dataset.document))
        bare = {**_metadata(history.document, "v/zarr.json"), "attributes": {}}
        history.apply(SetMetadata("v/zarr.json", bare))
        history.apply(Compound("Rename", (RenameNode("v", "w"), RenameNode("g", "h"))))
        edited = EditedSnapshot(dataset, history.states, [step.edit for step in history.steps])
        found = edited.committed(CommitOrder(), JobControl())
    assert found.changes.moves == [("v", "w"), ("g", "h")]
    assert [each.path for each in found.changes.nodes] == ["w"]
    assert not found.changes.nodes[0].chunks
    assert library_group(path)["w"][...].tolist() == VIRTUAL.tolist()
    assert library_group(path)["h/own"][...].tolist() == OWN.tolist()


_COMMIT = """
import sys, refbrowser
import refbrowser.wings.icechunk.changing.committing
print("ready", flush=True)
sys.stdin.readline()
refbrowser.commit(sys.argv[1], set_attr=f"v:n={sys.argv[2]}", rename="g/own=g/other", message="killed")
"""


def test_a_commit_that_is_killed_leaves_the_old_snapshot_or_the_new_one(tmp_path: Path) -> None:
    path = repository_in(tmp_path)
    lots = random.Random(1)
    for number in range(5):
        before = library_repository(path).lookup_branch("main")
        command = [sys.executable, "-c", _COMMIT, str(path), str(number)]
        writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        writer.stdin.write("go\n")
        writer.stdin.flush()
        time.sleep(lots.uniform(0, 0.3))
        writer.kill()
        writer.communicate()
        after = library_repository(path).lookup_branch("main")
        is_old = after == before
        group = library_group(path)
        assert ("own" in group["g"]) == is_old
        assert np.array_equal(group["g/own" if is_old else "g/other"][...], OWN)
        assert np.array_equal(group["v"][...], VIRTUAL)
        assert messages(path)[0] == ("made" if is_old else "killed")
        with refbrowser.open(path, allow=[str(tmp_path)]) as dataset:
            assert np.array_equal(dataset["/v"][...], VIRTUAL)
        if not is_old:
            break
