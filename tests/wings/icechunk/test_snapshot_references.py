"""Snapshots that the library made of any steps, as it has them itself: every array of every snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.model.reference import ReferenceKind

icechunk = pytest.importorskip("icechunk")
icechunk.set_logs_filter("error")
zarr = pytest.importorskip("zarr")

NAMES = ("a", "b", "g/a", "g/h/c")
#: A step: what is done, to which array, and numbers that say how.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("make", "make", "write", "write", "refer", "refer", "resize", "delete", "commit")),
        st.sampled_from(NAMES),
        st.lists(st.integers(0, 9), min_size=6, max_size=6),
    ),
    min_size=4,
    max_size=24,
)


class Steps:
    """Takes steps in a repository, and remembers what the library reads of each snapshot.

    Attributes
    ----------
    snapshots
        Values of all arrays, by identifier.
    """

    def __init__(self, folder: Path) -> None:
        self.path, self.source = folder / "r", folder / "source"
        self.source.mkdir()
        self._prefix = f"file://{self.source}/"
        self.stored = np.arange(4096, dtype="<i4")
        (self.source / "data.bin").write_bytes(self.stored.tobytes())
        config = icechunk.RepositoryConfig.default()
        config.inline_chunk_threshold_bytes = 20
        container = icechunk.VirtualChunkContainer(
            self._prefix, icechunk.local_filesystem_store(str(self.source))
        )
        config.set_virtual_chunk_container(container)
        # Two chunks of the first dimension a manifest: most arrays have several.
        axis = {icechunk.ManifestSplitDimCondition.Axis(0): 2}
        splitting = icechunk.ManifestSplittingConfig.from_dict(
            {icechunk.ManifestSplitCondition.AnyArray(): axis}
        )
        config.manifest = icechunk.ManifestConfig(splitting=splitting)
        self._repository = icechunk.Repository.create(
            icechunk.local_filesystem_storage(str(self.path)),
            config,
            authorize_virtual_chunk_access=icechunk.containers_credentials({self._prefix: None}),
        )
        self.snapshots: dict[str, dict[str, Any]] = {}
        self._session = self._repository.writable_session("main")
        self._root = zarr.group(store=self._session.store)

    def take(self, step: str, name: str, numbers: list[int]) -> None:
        """Take one step; what cannot be done is left out."""
        there = name in self._root
        if step == "commit":
            self.commit()
        elif step == "make" and not there:
            ndim = numbers[0] % 4
            shape = tuple(number % 7 + (number > 2) for number in numbers[1 : 1 + ndim])
            chunks = tuple(max(1, number % 3 + 1) for number in numbers[3 : 3 + ndim])
            self._root.create_array(
                name, shape=shape, chunks=chunks, dtype="<i4", fill_value=-5, compressors=None, filters=None
            )
        elif step == "delete" and there:
            del self._root[name]
        elif there:
            self._change(step, name, self._root[name], numbers)

    def _change(self, step: str, name: str, array: Any, numbers: list[int]) -> None:
        if step == "write":
            region = tuple(slice(number % 4, None) for number, _ in zip(numbers, array.shape, strict=False))
            array[region] = 1000 + sum(numbers)
        elif step == "resize" and array.shape:
            array.resize(tuple(number % 8 for number, _ in zip(numbers, array.shape, strict=False)))
        elif step == "refer" and prod(array.shape):
            grid = [-(-side // chunk) for side, chunk in zip(array.shape, array.chunks, strict=True)]
            coords = [number % side for number, side in zip(numbers, grid, strict=False)]
            place = "/".join(["c", *map(str, coords)])
            size = 4 * prod(array.chunks)
            url = f"{self._prefix}data.bin"
            self._session.store.set_virtual_ref(f"{name}/{place}", url, offset=4 * sum(numbers), length=size)

    def commit(self) -> None:
        """Make a snapshot where something was changed, and read it."""
        if not self._session.has_uncommitted_changes:
            return
        made = self._session.commit("made")
        read = zarr.open_group(self._repository.readonly_session(snapshot_id=made).store, mode="r")
        self.snapshots[made] = {
            name: node[...] for name, node in read.members(max_depth=None) if hasattr(node, "shape")
        }
        self._session = self._repository.writable_session("main")
        self._root = zarr.open_group(self._session.store)

    def references(self, snapshot: str, name: str) -> Iterator[str]:
        """Yield what the library says of each chunk of an array, in C order."""
        session = self._repository.readonly_session(snapshot_id=snapshot)
        array = zarr.open_group(session.store, mode="r")[name]
        for coords in np.ndindex(*array.cdata_shape):
            yield str(session.chunk_type(f"/{name}", coords)).rpartition(".")[2].upper()


#: What the library calls chunks that our reader has as these.
KINDS = {"INLINE": ReferenceKind.INLINE, "NATIVE": ReferenceKind.RANGE, "VIRTUAL": ReferenceKind.RANGE}


@pytest.mark.slow
@settings(max_examples=8)
@given(STEPS)
def test_every_snapshot_reads_as_the_library_has_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, list[int]]]
) -> None:
    made = Steps(tmp_path_factory.mktemp("steps"))
    for step in steps:
        made.take(*step)
    made.commit()
    for snapshot, arrays in made.snapshots.items():
        with refbrowser.open(made.path, snapshot=snapshot, allow=[str(made.source)]) as dataset:
            assert {path.strip("/") for path in dataset.arrays} == set(arrays)
            assert dataset.damage == ()
            for name, values in arrays.items():
                ours = dataset.arrays[f"/{name}"]
                np.testing.assert_array_equal(ours[...], values)
                theirs = [KINDS.get(each, ReferenceKind.MISSING) for each in made.references(snapshot, name)]
                assert ours.node.manifest.kinds().reshape(-1).tolist() == theirs


def test_all_kinds_of_chunks_over_several_manifests(tmp_path: Path) -> None:
    made = Steps(tmp_path)
    for step in (
        ("make", "a", [2, 9, 4, 0, 1, 0]),
        ("make", "b", [0] * 6),
        ("write", "b", [3] * 6),
        ("make", "g/a", [1, 6, 0, 2, 0, 0]),
        ("write", "g/a", [3] * 6),
        ("refer", "a", [0, 1, 7, 0, 0, 0]),
        ("refer", "a", [4, 0, 3, 0, 0, 0]),
        ("write", "a", [2, 2, 0, 0, 0, 0]),
        ("refer", "a", [1, 1, 0, 0, 0, 0]),
        ("commit", "a", []),
        ("delete", "b", []),
        ("resize", "a", [3, 4, 0, 0, 0, 0]),
    ):
        made.take(*step)  # type: ignore[arg-type]
    made.commit()
    first, second = made.snapshots
    with refbrowser.open(made.path, snapshot=first, allow=[str(made.source)]) as dataset:
        origin: Any = dataset.document.origin
        several = {node.path: len(node.extents) for node in origin.snapshot.nodes}
        assert several["a"] > 1
        kinds = dataset.arrays["/a"].node.manifest.kinds()
        assert {ReferenceKind.MISSING, ReferenceKind.INLINE, ReferenceKind.RANGE} >= set(kinds.flat)
        assert len(set(kinds.flat)) == 3
        for name, values in made.snapshots[first].items():
            np.testing.assert_array_equal(dataset.arrays[f"/{name}"][...], values)
    with refbrowser.open(made.path, allow=[str(made.source)]) as dataset:
        assert list(dataset.arrays) == ["/a", "/g/a"]
        np.testing.assert_array_equal(dataset.arrays["/a"][...], made.snapshots[second]["a"])
