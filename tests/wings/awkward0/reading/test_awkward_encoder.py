"""The files that tests make by hand mean to awkward0 what the tests say they do."""

from __future__ import annotations

from pathlib import Path

import pytest
from awkward0_construct import Construct
from awkward0_constructs import CONSTRUCTS
from awkward0_encoder import Encoder, for_hdf5, write_hdf5, zipped
from awkward0_environment import Awkward0Process
from awkward0_values import plain_value, same
from looped import looped


def test_names_are_given_once() -> None:
    names = [each.name for each in CONSTRUCTS]
    assert sorted(names) == sorted(set(names))


@pytest.mark.slow  # the first test that asks for the old environment makes it
@looped("construct", [each for each in CONSTRUCTS if each.is_old])
def test_awkward0_reads_what_is_made_by_hand(
    construct: Construct, awkward0: Awkward0Process, tmp_path: Path
) -> None:
    encoder = construct.encoder("one")
    path = tmp_path / "made.awkd"
    path.write_bytes(zipped(encoder.members(construct.make(encoder))))
    found = awkward0.read(path)["one"]
    assert same(found, plain_value(construct.values)), found


@pytest.mark.slow
def test_awkward0_reads_several_arrays_of_hdf5(awkward0: Awkward0Process, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / "made.h5"
    for name in ("one", "two"):
        encoder = for_hdf5(name)
        write_hdf5(path, encoder.members(encoder.jagged([1, 0, 2], [1.5, 2.5, 3.5])))
    values = [[1.5], [], [2.5, 3.5]]
    assert awkward0.read(path) == {"one": values, "two": values}


def test_awkward0_reads_other_delimiters(awkward0: Awkward0Process, tmp_path: Path) -> None:
    encoder = Encoder("one", delimiter="/", suffix="", schema_suffix=".json")
    path = tmp_path / "made.awkd"
    path.write_bytes(zipped(encoder.members(encoder.basic([1, 2]))))
    assert awkward0.read(path) == {"one": [1, 2]}
