"""Hostile HDF5 files of Awkward 0: links and storage that lead to other files, cycles, wrong kinds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward0_encoder as enc
import numpy as np
import pytest
from awkward0_values import read_values

import refbrowser
from refbrowser.errors import RefbrowserError

h5py = pytest.importorskip("h5py")

SOUND = [[1.5], [], [2.5, 3.5]]
SECRET = b"secret secret secret secret"


def external_storage(group: Any, secret: Path) -> None:
    group.create_dataset("1", shape=(len(SECRET),), dtype="u1", external=[(str(secret), 0, len(SECRET))])


def external_link(group: Any, secret: Path) -> None:
    with h5py.File(secret.with_suffix(".h5"), "w") as other:
        other["x"] = np.frombuffer(SECRET, "u1")
    group["1"] = h5py.ExternalLink(str(secret.with_suffix(".h5")), "/x")


def virtual_dataset(group: Any, secret: Path) -> None:
    with h5py.File(secret.with_suffix(".h5"), "w") as other:
        other["x"] = np.frombuffer(SECRET, "u1")
    layout = h5py.VirtualLayout((len(SECRET),), "u1")
    layout[:] = h5py.VirtualSource(str(secret.with_suffix(".h5")), "x", (len(SECRET),))
    group.create_virtual_dataset("1", layout)


def missing_link(group: Any, _: Path) -> None:
    group["1"] = h5py.SoftLink("/nowhere")


def link_to_itself(group: Any, _: Path) -> None:
    group["1"] = h5py.SoftLink(f"{group.name}/1")


def group_for_bytes(group: Any, _: Path) -> None:
    group.create_group("1")


def texts_for_bytes(group: Any, _: Path) -> None:
    group["1"] = ["secret"]


def huge_and_empty(group: Any, _: Path) -> None:
    group.create_dataset("1", shape=(2**50,), dtype="u1", chunks=(2**20,))


WAYS: list[Callable[[Any, Path], None]] = [
    external_storage,
    external_link,
    virtual_dataset,
    missing_link,
    link_to_itself,
    group_for_bytes,
    texts_for_bytes,
]


def make(path: Path, way: Callable[[Any, Path], None], count: int = len(SECRET)) -> Path:
    """Write a file with a sound array and one whose only blob is made by `way`."""
    sound, evil = enc.for_hdf5("sound"), enc.for_hdf5("evil")
    enc.write_hdf5(path, sound.members(sound.jagged([1, 0, 2], [1.5, 2.5, 3.5])))
    root = evil.call(evil.frombuffer, {"read": "1"}, enc.dtype_node("uint8"), count)
    enc.write_hdf5(path, evil.members(root))
    secret = path.with_name("secret")
    secret.write_bytes(SECRET)
    with h5py.File(path, "a") as file:
        way(file["evil"], secret)
    return path


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_other_file_is_read(tmp_path: Path, way: Callable[[Any, Path], None]) -> None:
    with refbrowser.open(make(tmp_path / "x.h5", way)) as dataset:
        assert read_values(dataset["/sound"]) == SOUND
        with pytest.raises(RefbrowserError):
            read_values(dataset["/evil"])


def test_what_was_never_written_takes_no_room(tmp_path: Path) -> None:
    with refbrowser.open(make(tmp_path / "x.h5", huge_and_empty, 2**50)) as dataset:
        assert read_values(dataset["/sound"]) == SOUND
        array = dataset["/evil"]
        with contextlib.suppress(RefbrowserError):
            array[:5]


def test_groups_that_contain_themselves(tmp_path: Path) -> None:
    path = make(tmp_path / "x.h5", missing_link)
    with h5py.File(path, "a") as file:
        file["evil/loop"] = file["evil"]
        file["loop"] = file["/"]
        file["soft"] = h5py.SoftLink("/")
    with refbrowser.open(path) as dataset:
        assert read_values(dataset["/sound"]) == SOUND


def test_a_file_that_is_cut(tmp_path: Path) -> None:
    path = make(tmp_path / "x.h5", group_for_bytes)
    data = path.read_bytes()
    for stop in range(0, len(data), 2003):
        path.write_bytes(data[:stop])
        with contextlib.suppress(RefbrowserError), refbrowser.open(path) as dataset:
            # What has lost its schemas is HDF5 like any other.
            if dataset.format == "awkward0":
                read_values(dataset["/sound"])
