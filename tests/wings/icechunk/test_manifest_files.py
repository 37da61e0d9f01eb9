"""Manifests of Icechunk: what is found in them, and how many of them are read for what is asked."""

from __future__ import annotations

import shutil
import struct
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icechunk_files import NODE, Writer, put, second_version

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.limits import Limits
from refbrowser.model.reference import ReferenceKind
from refbrowser.wings.icechunk.icechunk_limits import IcechunkLimits
from refbrowser.wings.icechunk.reading import manifest_file, repository, snapshot_references
from refbrowser.wings.icechunk.reading.chunk_references import RefDecoder
from refbrowser.wings.icechunk.reading.manifest_file import ManifestFile
from refbrowser.wings.icechunk.reading.repository import IcechunkRepository, id_text

OWN = b"m" * 12


def manifest_of(coords: list[tuple[int, ...]], own: bytes = OWN) -> ManifestFile:
    """Return a manifest whose references lie at offsets that follow their order."""
    w = Writer()
    refs = [
        {
            0: lambda at=at: w.vector(struct.pack(f"<{len(at)}I", *at), 4),
            2: struct.pack("<Q", 8 * number),
            3: struct.pack("<Q", 8),
            4: bytes(12),
        }
        for number, at in enumerate(coords)
    ]
    data = w.file(2, {0: own, 1: lambda: w.tables([{0: NODE, 1: lambda: w.tables(refs)}])}, packed=False)
    return ManifestFile.of(repository._content(data, 2).root, id_text(OWN), len(coords))


@st.composite
def _grids(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int], list[int], list[tuple[int, int]]]:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=0, max_size=3)))
    every = st.integers(0, prod(shape) - 1)
    stored = sorted(draw(st.sets(every)))
    box = [tuple(sorted((draw(st.integers(0, side)), draw(st.integers(0, side))))) for side in shape]
    return shape, stored, draw(st.lists(every, max_size=8)), box  # type: ignore[return-value]


@given(_grids(), st.sampled_from([(1, 1), (1, 2), (64, 1 << 18)]))
def test_what_is_found_is_what_is_there(
    case: tuple[tuple[int, ...], list[int], list[int], list[tuple[int, int]]], sizes: tuple[int, int]
) -> None:
    shape, stored, wanted, box = case
    ranges = np.array(box, np.int64).reshape(-1, 2)
    coords = np.array(list(np.ndindex(shape)), np.int64).reshape(prod(shape), len(shape))[
        np.array(wanted, int)
    ]
    inside = [
        all(start <= at < stop for at, (start, stop) in zip(each, box, strict=True))
        for each in coords.tolist()
    ]
    coords = coords[np.array(inside, bool)]
    if not len(coords):
        return
    places = [tuple(np.unravel_index(number, shape)) if shape else () for number in stored]
    model = {tuple(map(int, at)): 8 * number for number, at in enumerate(places)}
    refs = manifest_of([*model]).refs(NODE, len(shape))
    decoder = RefDecoder("/r", {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_file, "_DENSE", sizes[0])
        patch.setattr(manifest_file, "_BLOCK", sizes[1])
        found = {}
        for rows, some in refs.found(coords, ranges):
            offsets = decoder.decoded(some, refs.manifest).native.offsets.tolist()
            found |= dict(zip(rows.tolist(), offsets, strict=True))
    theirs = {row: model[tuple(at)] for row, at in enumerate(coords.tolist()) if tuple(at) in model}
    assert found == theirs


def test_references_out_of_order_and_arrays_twice_are_damage() -> None:
    refs = manifest_of([(2,), (1,), (0,)]).refs(NODE, 1)
    with pytest.raises(RefbrowserError, match="not in order"):
        list(refs.found(np.array([[0], [2]]), np.array([[0, 3]])))
    with pytest.raises(RefbrowserError, match="another number of dimensions"):
        list(manifest_of([(2,)]).refs(NODE, 2).found(np.array([[0, 0]]), np.array([[0, 3], [0, 3]])))
    with pytest.raises(RefbrowserError, match="does not describe"):
        manifest_of([(0,)]).refs(b"other...", 1)


# Repositories


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of one array with ten manifests, of two steps each, and an array beside it."""
    icechunk = pytest.importorskip("icechunk")
    zarr = pytest.importorskip("zarr")
    path = tmp_path_factory.mktemp("split") / "r"
    axis = {icechunk.ManifestSplitDimCondition.Axis(0): 2}
    config = icechunk.RepositoryConfig.default()
    config.manifest = icechunk.ManifestConfig(
        splitting=icechunk.ManifestSplittingConfig.from_dict(
            {icechunk.ManifestSplitCondition.AnyArray(): axis}
        )
    )
    made = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)), config)
    session = made.writable_session("main")
    group = zarr.group(store=session.store)
    for name, first in (("a", 0), ("b", 1000)):
        array = group.create_array(
            name, shape=(20, 4), chunks=(1, 2), dtype="<i4", fill_value=-1, compressors=None, filters=None
        )
        array[:] = first + np.arange(80).reshape(20, 4)
    session.commit("made")
    return path


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the manifests that are read from now on."""
    read: list[str] = []
    plain = IcechunkRepository.manifests

    def manifests(self: IcechunkRepository, names: Any, told: Any) -> Any:
        read.extend(names)
        return plain(self, names, told)

    monkeypatch.setattr(IcechunkRepository, "manifests", manifests)
    return read


def extents_of(dataset: Any, path: str) -> list[str]:
    nodes = dataset.document.origin.snapshot.nodes
    return [extent.manifest for node in nodes if node.path == path for extent in node.extents]


def test_only_manifests_that_tell_of_a_selection_are_read(
    split: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counted(monkeypatch)
    with refbrowser.open(split) as dataset:
        # The snapshot tells how many chunks are stored.
        assert dataset["/a"].node.manifest.stored() == 40
        assert read == []
        np.testing.assert_array_equal(dataset["/a"][5], [20, 21, 22, 23])
        assert len(read) == 1
        np.testing.assert_array_equal(dataset["/a"][4, 2:], [18, 19])
        assert len(read) == 1
        np.testing.assert_array_equal(dataset["/a"][3:9, 1], [13, 17, 21, 25, 29, 33])
        assert len(read) == len(set(read)) == 4
        assert set(read) < set(extents_of(dataset, "a"))
        assert len(extents_of(dataset, "a")) == 10
        np.testing.assert_array_equal(dataset["/b"][...], 1000 + np.arange(80).reshape(20, 4))
        assert len(read) == len(set(read)) == 14
        # The document as a whole takes those that are not held.
        assert dataset.document.expansion.rows == 83
        assert len(read) == len(set(read)) == 20


def test_few_manifests_are_held(split: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_references, "ICECHUNK_LIMITS", IcechunkLimits(icechunk_kept=1))
    read = counted(monkeypatch)
    with refbrowser.open(split) as dataset:
        for _ in range(2):
            np.testing.assert_array_equal(dataset["/a"][...], np.arange(80).reshape(20, 4))
            assert len(dataset.document.origin.references._kept) == 1  # type: ignore[union-attr]
        assert 20 - 1 <= len(read) <= 20


def test_a_lost_manifest_costs_its_chunks_alone(split: Path, tmp_path: Path) -> None:
    copy = tmp_path / "r"
    shutil.copytree(split, copy)
    with refbrowser.open(copy) as dataset:
        (copy / "manifests" / extents_of(dataset, "a")[3]).unlink()
    with refbrowser.open(copy) as dataset:
        array = dataset["/a"]
        np.testing.assert_array_equal(array[:6], np.arange(24).reshape(6, 4))
        np.testing.assert_array_equal(array[8:], np.arange(32, 80).reshape(12, 4))
        with pytest.raises(RefbrowserError, match="cannot be read"):
            array[7]
        assert array.node.manifest.stored() is None
        kinds = array.node.manifest.kinds()
        assert np.argwhere(kinds == ReferenceKind.FAULTY)[:, 0].tolist() == [6, 6, 7, 7]
        masked = array.masked().values
        assert masked.mask.any(axis=1).tolist() == [row in (6, 7) for row in range(20)]


def test_large_manifests_are_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.formats.stores import reader

    files = second_version(tmp_path, packed=False)
    put(tmp_path, files)
    largest = max(len(data) for name, data in files.items() if name.startswith("manifests/"))
    with refbrowser.open(tmp_path) as dataset:
        monkeypatch.setattr(repository, "LIMITS", Limits(inline_value=largest - 1))
        monkeypatch.setattr(reader, "LIMITS", Limits(inline_value=largest - 1))
        np.testing.assert_array_equal(dataset["/v"][...], np.arange(12))


def test_manifests_are_read_together_as_long_as_they_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "LIMITS", Limits(inline_value=10))
    told = {
        name: repository.ManifestFacts(size, 1) for name, size in (("a", 4), ("b", 6), ("c", 11), ("d", 1))
    }
    together = list(repository._together(["a", "b", "c", "d", "e"], told))
    assert together == [["a", "b"], ["c"], ["d", "e"]]
    many = [str(number) for number in range(130)]
    assert [len(some) for some in repository._together(many, {})] == [64, 64, 2]


def test_few_manifests_are_read_to_tell_what_is_lost(
    split: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.cli import main

    copy = tmp_path / "r"
    shutil.copytree(split, copy)
    with refbrowser.open(copy) as dataset:
        lost = extents_of(dataset, "a")[3]
    (copy / "manifests" / lost).unlink()
    with refbrowser.open(copy) as dataset:
        assert lost in dataset["/a"].damage[0].message
    monkeypatch.setattr(snapshot_references, "_NOTED", 9)
    read = counted(monkeypatch)
    for rows, code in (("4:6", 0), ("7", 4)):
        read.clear()
        assert main(["read", str(copy), "/a", "--select", f"{rows},:", "--json"]) == code
        assert (lost in capsys.readouterr().err) == (code != 0)
        assert len(read) == 1
    # A check reads all of them.
    assert main(["check", str(copy)]) == 2
    assert lost in capsys.readouterr().out
