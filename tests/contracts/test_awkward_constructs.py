"""Every constructor and spelling of Awkward 0 is read as what it stands for, from every container."""

from __future__ import annotations

from pathlib import Path

import awkward0_encoder as enc
import pytest
from awkward0_construct import Construct
from awkward0_constructs import CONSTRUCTS
from awkward0_values import plain_value, read_values, same
from refbrowser.model.nested_text import type_text

import refbrowser

#: Names without anything that a path or another name could be taken for.
NAMED = [(f"c{number:03}", construct) for number, construct in enumerate(CONSTRUCTS)]


def every_member(**options: str) -> dict[str, bytes]:
    """Return the members of all constructs in one container."""
    members: dict[str, bytes] = {}
    for name, construct in NAMED:
        encoder = construct.encoder(name, **options)
        members |= encoder.members(construct.make(encoder))
    return members


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("constructs") / "all.awkd"
    path.write_bytes(enc.zipped(every_member()))
    with refbrowser.open(path) as dataset:
        yield dataset


@pytest.mark.parametrize(("name", "construct"), NAMED, ids=[each.name for each in CONSTRUCTS])
def test_values_and_type(together: refbrowser.Dataset, name: str, construct: Construct) -> None:
    array = together[f"/{name}"]
    found = read_values(array)
    assert same(found, plain_value(construct.values)), found
    if array.node.nested is not None:
        assert type_text(array.node.nested.type) == construct.type


CONTAINERS = {
    "stored": lambda path, members: path.write_bytes(enc.zipped(members)),
    "deflated": lambda path, members: path.write_bytes(enc.zipped(members, methods=enc.DEFLATED)),
    "bzip2": lambda path, members: path.write_bytes(enc.zipped(members, methods=enc.BZIP2)),
    "lzma": lambda path, members: path.write_bytes(enc.zipped(members, methods=enc.LZMA)),
    "streamed": lambda path, members: path.write_bytes(enc.zipped(members, streamed=True)),
    "subfolder": lambda path, members: path.write_bytes(enc.zipped(members, folder="sub/")),
    "commented": lambda path, members: path.write_bytes(enc.zipped(members, comment=b"PK\x05\x06" * 9)),
    "local extra fields": lambda path, members: path.write_bytes(
        enc.raw_zip(list(members.items()), local_extra=b"\x99\x99\x04\x00abcd")
    ),
    "no directory": lambda path, members: path.write_bytes(
        enc.raw_zip(list(members.items()), directory=False)
    ),
    "folder": enc.write_folder,
}


def check_all(path: Path) -> None:
    """Check the values of all constructs in a container, wherever in it they are."""
    with refbrowser.open(path) as dataset:
        by_name = {each.attrs.get("awkward0_name", each.name): each for each in dataset.arrays.values()}
        wrong = [
            construct.name
            for name, construct in NAMED
            if name not in by_name or not same(read_values(by_name[name]), plain_value(construct.values))
        ]
    assert not wrong


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(tmp_path: Path, container: str) -> None:
    path = tmp_path / "all.awkd"
    CONTAINERS[container](path, every_member())
    check_all(path)


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": "/"},
        {"delimiter": "", "suffix": ".bin"},
        {"delimiter": "_", "suffix": "", "schema_suffix": ".schema"},
        {"signature": "awkward", "version": "0.13.0"},
    ],
    ids=lambda options: " ".join(map(repr, options.values())),
)
def test_names_of_members(tmp_path: Path, options: dict[str, str]) -> None:
    path = tmp_path / "all.awkd"
    path.write_bytes(enc.zipped(every_member(**options)))
    check_all(path)


@pytest.mark.parametrize(
    "storage", [{}, {"chunks": (5,), "compression": "gzip"}], ids=["contiguous", "chunked"]
)
def test_hdf5(tmp_path: Path, storage: dict[str, object]) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / "all.h5"
    for name, construct in NAMED[::3]:
        encoder = construct.encoder(name, delimiter="/", suffix="", schema_suffix="/schema.json")
        members = encoder.members(construct.make(encoder))
        large = {key: data for key, data in members.items() if len(data) >= 5}
        enc.write_hdf5(path, large, **storage)
        enc.write_hdf5(path, {key: data for key, data in members.items() if key not in large})
    with refbrowser.open(path) as dataset:
        for name, construct in NAMED[::3]:
            assert same(read_values(dataset[f"/{name}"]), plain_value(construct.values)), construct.name
