"""Elements that are no box are numpy's, and only chunks that they touch are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zarr

import refbrowser
from refbrowser.engine import scattered_reads as scattered
from refbrowser.engine.dataset import Array
from refbrowser.engine.scattered_reads import read_outer, read_points

SHAPE = (20, 13, 7)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scattered") / "a.zarr"
    array = zarr.create_array(path, shape=SHAPE, chunks=(4, 5, 3), dtype="i4", zarr_format=2)
    array[...] = values()
    return path


def values() -> npt.NDArray[Any]:
    return np.random.default_rng(0).integers(0, 1000, SHAPE).astype("i4")


def arguments(array: Any) -> tuple[Any, ...]:
    assert isinstance(array, Array)
    return array.dataset.session, array.node, array.dataset.access


def test_any_index_gives_what_numpy_gives(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random, expected = np.random.default_rng(1), values()

    def one(size: int) -> Any:
        kind = random.integers(3)
        if kind == 0:
            return int(random.integers(-size, size))
        if kind == 1:
            ends = [None if random.random() < 0.3 else int(end) for end in random.integers(-size, size, 2)]
            return slice(*ends, int(random.choice([-3, -1, 1, 2, 5])))
        return random.integers(-size, size, random.integers(0, 9))

    with refbrowser.open(stored) as dataset:
        for number in range(60):
            # Few together: several reads, and one for each chunk.
            monkeypatch.setattr(scattered, "_TOGETHER", (1, 50, 1_000_000)[number % 3])
            index = tuple(map(one, SHAPE))
            wanted = expected
            for axis in (2, 1, 0):
                wanted = wanted[(*[slice(None)] * axis, index[axis])]
            np.testing.assert_array_equal(read_outer(*arguments(dataset["/"]), index), wanted, str(index))

            shape = random.integers(0, 4, random.integers(1, 3))
            points: list[Any] = [
                each if isinstance(each, slice) else random.integers(-size, size, shape)
                for each, size in zip(index, SHAPE, strict=True)
            ]
            picked = [axis for axis in range(3) if not isinstance(points[axis], slice)]
            wanted = expected[tuple(points)]
            if picked in ([1], [2], [1, 2]):
                # numpy leaves the axes of points where they were; here they come first.
                at = picked[0]
                wanted = np.moveaxis(wanted, range(at, at + len(shape)), range(len(shape)))
            np.testing.assert_array_equal(read_points(*arguments(dataset["/"]), tuple(points)), wanted)


def test_only_chunks_with_wanted_elements_are_read(stored: Path) -> None:
    asked = []
    with refbrowser.open(stored) as dataset:
        session, node, access = arguments(dataset["/"])
        real = session.read_parts

        def counted(node: Any, access: Any, batches: Any, *rest: Any, **how: Any) -> Any:
            asked.extend(part.coords for parts in batches for part in parts)
            return real(node, access, batches, *rest, **how)

        session.read_parts = counted
        read_outer(session, node, access, (np.array([0, 19]), 12, np.array([6, 6])))
        assert asked == [(0, 2, 2), (4, 2, 2)]
        asked.clear()
        read_points(session, node, access, (np.array([0, 19, 1]), np.array([0, 12, 1]), np.array([0, 6, 1])))
        assert asked == [(0, 0, 0), (4, 2, 2)]


def test_places_outside_are_index_errors(stored: Path) -> None:
    with refbrowser.open(stored) as dataset:
        for place in (20, -21):
            index = (np.array([0, place]), np.array([0, 0]), np.array([0, 0]))
            for read in (read_outer, read_points):
                with pytest.raises(IndexError, match=str(place)):
                    read(*arguments(dataset["/"]), index)
