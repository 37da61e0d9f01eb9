"""Every constructor and spelling of Awkward 0 is read as what it stands for, from every container."""

from __future__ import annotations

import itertools
from itertools import combinations_with_replacement
from pathlib import Path

import awkward0_encoder as enc
import numpy as np
import pytest
from awkward0_construct import Construct
from awkward0_constructs import CONSTRUCTS
from awkward0_values import plain_value, read_values, same
from deep import is_long
from looped import looped

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.model.nested import type_text

#: Names without anything that a path or another name could be taken for.
NAMED = [(f"c{number:03}", construct) for number, construct in enumerate(CONSTRUCTS)]


def every_member(step: int = 1, **options: str) -> dict[str, bytes]:
    """Return the members of all constructs, or of one of so many, in one container."""
    members: dict[str, bytes] = {}
    for name, construct in NAMED[::step]:
        encoder = construct.encoder(name, **options)
        members |= encoder.members(construct.make(encoder))
    return members


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("constructs") / "all.awkd"
    path.write_bytes(enc.zipped(every_member()))
    with refbrowser.open(path) as dataset:
        yield dataset


@pytest.mark.slow
@looped("name, construct", NAMED)
def test_values_and_type(together: refbrowser.Dataset, name: str, construct: Construct) -> None:
    array = together[f"/{name}"]
    found = read_values(array)
    assert same(found, plain_value(construct.values)), found
    if array.node.nested is not None:
        assert type_text(array.node.nested.type) == construct.type


@pytest.mark.slow
@looped("name, construct", NAMED)
def test_parts_are_those_of_the_whole(together: refbrowser.Dataset, name: str, construct: Construct) -> None:
    array = together[f"/{name}"]
    if not array.shape:
        return
    whole = read_values(array)
    for start, stop in combinations_with_replacement(range(len(whole) + 1), 2):
        assert same(read_values(array, start, stop), whole[start:stop]), (start, stop)


@pytest.mark.parametrize("codecs", [(), ("zlib.decompress",)], ids=["stored", "compressed"])
@pytest.mark.parametrize("how", ["counts", "offsets", "parents", "starts", "texts", "tags", "bits"])
def test_parts_of_long_arrays(tmp_path: Path, how: str, codecs: tuple[str, ...]) -> None:
    random = np.random.default_rng(5)
    counts = random.integers(0, 4, 5000)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    numbers = np.arange(offsets[-1]) * 1.5
    encoder = enc.Encoder()
    content = encoder.basic(numbers)
    lists = [numbers[start:stop].tolist() for start, stop in itertools.pairwise(offsets)]
    tags = random.integers(0, 2, 5000)
    root, expected = {
        "counts": lambda: (
            encoder.make("JaggedArray.fromcounts", encoder.basic(counts, codecs=codecs), content),
            lists,
        ),
        "offsets": lambda: (
            encoder.make("JaggedArray.fromoffsets", encoder.basic(offsets, codecs=codecs), content),
            lists,
        ),
        "parents": lambda: (
            encoder.make(
                "JaggedArray.fromparents",
                encoder.basic(np.repeat(np.arange(5000), counts), codecs=codecs),
                content,
            ),
            lists[: int(np.flatnonzero(counts)[-1]) + 1],
        ),
        "starts": lambda: (
            encoder.make(
                "JaggedArray",
                encoder.basic(offsets[:-1][::-1], codecs=codecs),
                encoder.basic(offsets[1:][::-1], codecs=codecs),
                content,
            ),
            lists[::-1],
        ),
        "texts": lambda: (
            encoder.make(
                "StringArray.fromcounts",
                encoder.basic(counts, codecs=codecs),
                encoder.basic(np.full(len(numbers), 97, "u1")),
            ),
            ["a" * int(each) for each in counts],
        ),
        "tags": lambda: (
            encoder.make(
                "UnionArray.fromtags",
                encoder.basic(tags, "u1", codecs=codecs),
                {"list": [encoder.basic(np.arange(5000.0)), encoder.basic(np.ones(5000, "?"))]},
            ),
            [
                True if tag else float(zeros)
                for tag, zeros in zip(tags, np.cumsum(tags == 0) - 1, strict=True)
            ],
        ),
        "bits": lambda: (
            encoder.make(
                "BitMaskedArray",
                encoder.basic(np.packbits(tags), codecs=codecs),
                encoder.basic(np.arange(5000.0)),
            ),
            [None if tag else float(index) for index, tag in enumerate(tags)],
        ),
    }[how]()
    path = tmp_path / "long.awkd"
    path.write_bytes(enc.zipped(encoder.members(root)))
    with refbrowser.open(path) as dataset:
        array = dataset["/array"]
        assert array.shape[0] == len(expected)
        # The end before the beginning: what was summed up on the way must not matter.
        for start, stop in (
            (4090, 4100),
            (1020, 1030),
            (0, 3),
            (2047, 2050),
            (4995, len(expected)),
            (1024, 1024),
        ):
            assert same(read_values(array, start, stop), expected[start:stop]), (start, stop)


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


def check_all(path: Path, step: int = 1) -> None:
    """Check the values of constructs in a container, wherever in it they are."""
    with refbrowser.open(path) as dataset:
        arrays = {each.name: each for each in dataset.arrays.values()}
        wrong = {
            construct.name: found
            for name, construct in NAMED[::step]
            if (found := wrong_in(arrays[name], construct))
        }
    assert not wrong


def wrong_in(array: refbrowser.Array, construct: Construct) -> str:
    """Return what is read instead of the values of a construct, nothing where these are read."""
    try:
        found = read_values(array)
    except RefbrowserError as error:
        return str(error)
    return "" if same(found, plain_value(construct.values)) else str(found)


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(tmp_path: Path, container: str) -> None:
    path = tmp_path / "all.awkd"
    # Of what is in an archive that is packed in another way, some is enough.
    step = 1 if is_long() or container in ("stored", "folder") else 4
    CONTAINERS[container](path, every_member(step))
    check_all(path, step)


@pytest.mark.slow
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
    step = 1 if is_long() else 4
    path.write_bytes(enc.zipped(every_member(step, **options)))
    check_all(path, step)


@pytest.mark.slow
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
    check_all(path, 3)
