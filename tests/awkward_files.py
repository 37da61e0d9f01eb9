"""Awkward 0 files for tests of the window: records of lists, unions and texts; a cycle; a hostile one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from awkward0_encoder import Encoder, function, pickled, reference, zipped


def events_members() -> dict[str, bytes]:
    """Return the members of the array ``events``: records with lists, texts, options, a tree of links."""
    one = Encoder("events")
    rng = np.random.default_rng(1)
    counts = np.array([2, 0, 3, 1] * 20)
    pt = one.jagged(counts, rng.exponential(20, int(counts.sum())), codecs=("zlib.decompress",))
    run = one.basic(np.arange(80))
    masked = one.make("MaskedArray", np.arange(80) % 7 == 0, rng.normal(size=80))
    names = one.strings([f"event {row}" for row in range(80)])
    mixed = one.make("UnionArray.fromtags", np.arange(80, dtype="u1") % 2, [np.arange(40), np.arange(40) / 4])
    pair = one.make("IndexedArray", np.arange(80)[::-1].copy(), reference(run["id"]))
    root = one.table(run=run, pt=pt, mass=masked, label=names, mixed=mixed, before=pair)
    return one.members(root, doc="Made for tests")


def cycle_members() -> dict[str, bytes]:
    """Return the members of the array ``nodes``: lists whose content are these lists."""
    one = Encoder("nodes")
    counts, number = one.basic([2, 1, 1, 0]), one.number()
    root = one.make("JaggedArray.fromcounts", counts, reference(number), id=number)
    return one.members(root)


def plain_members() -> dict[str, bytes]:
    """Return the members of the array ``grid``: numbers alone."""
    one = Encoder("grid")
    return one.members(one.basic(np.arange(12.0).reshape(4, 3)))


def write_events(folder: Path) -> Path:
    """Write a sound file of three arrays."""
    path = folder / "events.awkd"
    path.write_bytes(zipped({**events_members(), **cycle_members(), **plain_members()}))
    return path


class _Run:
    """Would run a program when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (str(self._mark),)


def write_hostile(folder: Path, mark: Path) -> Path:
    """Write a file that tries to make the folder `mark` when it is read, with sound parts beside."""
    bad = Encoder("bad")
    evil = bad.call(["os", "system"], f"mkdir {mark}")
    unpacked = bad.basic(np.arange(5), codecs=("bz2.decompress",))
    sparse = bad.make("SparseArray", 5, np.array([1]), np.array([2.0]), pickled(_Run(mark)))
    virtual = bad.make("VirtualArray", function("subprocess", "check_call"), ("touch", str(mark)))
    lazy = bad.make(
        "VirtualArray", function("uproot.tree", "_LazyFiles"), ("/etc/passwd", "https://example.org/x")
    )
    good = bad.basic(np.arange(5))
    root = bad.table(good=good, evil=evil, packed=unpacked, sparse=sparse, virtual=virtual, lazy=lazy)
    path = folder / "hostile.awkd"
    path.write_bytes(zipped({**bad.members(root), **plain_members()}))
    return path
