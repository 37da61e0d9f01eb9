"""Edits of a repository leave the manifests unread that they do not need; what they give is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("icechunk")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.journal import state_hash
from refbrowser.engine.sources import sources_of
from refbrowser.limits import Limits
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.content import content
from refbrowser.references.content.content import Edit
from refbrowser.references.document.document import Document
from refbrowser.references.document.history import History
from refbrowser.references.edits.edits import RemoveReference, SetMetadata, SetReference
from refbrowser.references.edits.many_edits import SetReferences
from refbrowser.views.changed_rows import Difference, changed_rows
from refbrowser.wings.icechunk.changing.committing import CommitOrder
from refbrowser.wings.icechunk.changing.document_changes import document_changes
from refbrowser.wings.icechunk.changing.edited_snapshot import EditedSnapshot
from refbrowser.wings.icechunk.reading.repository import IcechunkRepository
from tests.repositories_made import VIRTUAL, metadata_of, repository_in


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose arrays have a manifest each."""
    return repository_in(tmp_path_factory.mktemp("unread"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The manifests that are read, as they are; the repository counts as one of very many references."""
    found: list[str] = []
    plain = IcechunkRepository.manifests
    monkeypatch.setattr(
        IcechunkRepository,
        "manifests",
        lambda self, names, told: (found.extend(names), plain(self, names, told))[1],
    )
    monkeypatch.setattr(content, "LIMITS", Limits(references_described=0))
    return found


def attribute(document: Document, key: str, name: str, value: Any) -> SetMetadata:
    """Return the edit of one attribute."""
    said = json.loads(document.expansion.value(key) or b"{}")
    return SetMetadata(key, {**said, "attributes": {**said.get("attributes", {}), name: value}})


def test_an_edited_attribute_reads_no_manifest(tmp_path: Path, read: list[str]) -> None:
    path = repository_in(tmp_path)
    with refbrowser.open(path, allow=[str(tmp_path)]) as dataset:
        history = History(dataset.document)
        history.apply(attribute(history.document, "v/zarr.json", "units", "K ⋅ 1"))
        edited = dataset.with_document(history.document)
        assert edited["/v"].attrs["units"] == "K ⋅ 1"
        assert edited.document.is_edited
        assert edited.document.is_unread
        found = changed_rows(Difference(edited.document, dataset.document))
        assert (found.below, found.removed) == ({"": 1, "v": 1}, ())
        assert sources_of(edited.document) == sources_of(dataset.document)
        assert state_hash(edited.document) != state_hash(dataset.document)
        assert not read
        assert edited["/v"][1].tolist() == VIRTUAL[1].tolist()
        assert len(read) == 1
        undone = dataset.with_document(history.undo())
        assert undone["/v"].attrs["units"] == "K"
        history.redo()
        before = EditedSnapshot(dataset, history.states, history.entries)
        order = CommitOrder(branch="main", message="mended")
        assert [*before.looked_at(order, JobControl()).changes.lines()]
        assert before.committed(order, JobControl()).snapshot
        assert len(read) == 1
    assert metadata_of(path, "v")["attributes"]["units"] == "K ⋅ 1"
    with refbrowser.open(path, allow=[str(tmp_path)]) as dataset:
        assert dataset["/v"][...].tolist() == VIRTUAL.tolist()


def test_an_edited_reference_reads_its_own_array_alone(path: Path, read: list[str]) -> None:
    data = f"file://{path.parent}/data.bin"
    with refbrowser.open(path, allow=[str(path.parent)]) as dataset:
        document = dataset.document.apply(SetReference("v/c/0/0", [data, 72, 24]))
        assert not read
        document = document.apply(RemoveReference("v/c/1/0"))
        assert len(read) == 1
        edited = dataset.with_document(document)
        assert edited["/v"].node.manifest.stored() == 3
        rows = edited["/v"][...]
        assert rows[[0, 1, 2, 3]].tolist() == [*VIRTUAL[[3]].tolist(), [0] * 6, *VIRTUAL[2:].tolist()]
        assert edited["/v"].node.manifest.kinds().ravel().tolist().count(0) == 1
        assert document.expansion.reference("v/c/1/0") is None
        assert document.expansion.reference("v/c/0/0") == document.left_reference("v/c/0/0")
        with pytest.raises(refbrowser.RefbrowserError, match="no reference"):
            document.apply(RemoveReference("v/c/1/0"))
        changes = document_changes(dataset.document, document)
        assert len(set(read)) == 1
        assert document.is_unread
        # Who asks for all rows has the edits in them.
        keys = document.refs.keys(0, len(document.refs))
        assert "v/c/1/0" not in keys
        assert not document.left
        assert [*document_changes(dataset.document, document).lines()] == [*changes.lines()]
        assert edited["/v"][...].tolist() == rows.tolist()


def test_an_edited_shape_reads_what_is_left_of_it(path: Path, read: list[str]) -> None:
    with refbrowser.open(path, allow=[str(path.parent)]) as dataset:
        said = json.loads(dataset.document.expansion.value("v/zarr.json") or b"")
        for rows in (2, 4, 7):
            edit = SetMetadata("v/zarr.json", {**said, "shape": [rows, 6]})
            edited = dataset.with_document(dataset.document.apply(edit))
            expected = np.zeros((rows, 6), np.int32)
            expected[:4] = VIRTUAL[:rows]
            assert edited["/v"][...].tolist() == expected.tolist()
            assert edited["/v"].node.manifest.kinds().shape == (rows, 1)
        assert len(set(read)) == 1


def edits_of(document: Document) -> st.SearchStrategy[Edit]:
    """Return edits of metadata and of chunks, of which some are there and some are not."""
    keys = st.sampled_from([*(f"v/c/{row}/0" for row in range(6)), "x/c/0", "g/own/c/1", "v/c/9/9/9", "odd"])
    values = st.sampled_from(
        [["file:///a", 0, 24], ["file:///b", 5, 7], ["file:///c"], "text", "base64:AAA="]
    )
    metadata = st.sampled_from(["zarr.json", "v/zarr.json", "g/own/zarr.json", "g/zarr.json"])
    return st.one_of(
        st.builds(SetReference, keys, values),
        st.builds(RemoveReference, keys | metadata),
        st.builds(lambda *pairs: SetReferences(pairs), st.tuples(keys, values), st.tuples(keys, values)),
        st.builds(lambda key, value: attribute(document, key, "n", value), metadata, st.integers(0, 3)),
        st.just(SetReference("new/zarr.json", '{"zarr_format": 3, "node_type": "group"}')),
    )


def made(document: Document, edits: list[Edit]) -> Document:
    """Return the document after those of the edits that can be made."""
    for edit in edits:
        try:
            document = document.apply(edit)
        except refbrowser.RefbrowserError:
            continue
    return document


def told(dataset: refbrowser.Dataset) -> Iterator[Any]:
    """Yield what a dataset says of its nodes and of the references of its arrays."""
    for node in dataset.hierarchy.walk():
        yield node.path, dict(node.attributes), str(node.error)
        if isinstance(node, ArrayNode):
            coords = np.argwhere(np.ones(node.grid.grid_shape, bool)).reshape(-1, len(node.shape))
            columns = node.manifest.columns(coords)
            yield [columns.reference(row) for row in range(len(coords))]
            yield node.manifest.kinds().tolist()
            yield node.manifest.stored()


def entries(document: Document) -> dict[str, Any]:
    """Return what stands under each key, however it is spaced."""
    refs = document.refs
    return {refs.key_of(slot): json.loads(refs.value_text(slot)) for slot in map(refs.slot, range(len(refs)))}


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data())
def test_edits_give_the_same_as_where_all_was_read(path: Path, read: list[str], drawn: st.DataObject) -> None:
    with refbrowser.open(path) as dataset, refbrowser.open(path) as whole:
        edits = drawn.draw(st.lists(edits_of(dataset.document), max_size=6))
        whole.document.read_all()
        later, once = made(dataset.document, edits), made(whole.document, edits)
        assert later.refs.is_left
        for key in ("v/c/0/0", "v/c/5/0", "odd", "v/zarr.json", "new/zarr.json", "g/own/c/1"):
            assert later.expansion.reference(key) == once.expansion.reference(key)
        edited = dataset.with_document(later)
        assert [*told(edited)] == [*told(whole.with_document(once))]
        assert later.refs.is_left
        assert state_hash(dataset.document) == state_hash(whole.document)
        assert entries(later) == entries(once)
        assert [*told(edited)] == [*told(whole.with_document(once))]
