"""Files of TIFF whose tables and numbers are unusual: what is there is read, the rest is told of it alone."""

from __future__ import annotations

import struct
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.errors import RefbrowserError

tifffile = pytest.importorskip("tifffile")

OFFSETS, COUNTS = 273, 279
SIZES = {1: 1, 3: 2, 4: 4}
FORMATS = {1: "B", 3: "H", 4: "I"}


def file_of(data: bytes, tags: dict[int, tuple[int, list[int]]], order: str = "<") -> bytes:
    """Return a file of one page: its data begin at byte 8, its tags are types and values by their numbers."""
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", 8 + len(data))
    at = 8 + len(data) + 2 + 12 * len(tags) + 4
    entries, behind = b"", b""
    for number, (kind, values) in sorted(tags.items()):
        packed = struct.pack(f"{order}{len(values)}{FORMATS[kind]}", *values)
        if len(packed) > 4:
            place = struct.pack(f"{order}I", at + len(behind))
            behind += packed
        else:
            place = packed.ljust(4, b"\0")
        entries += struct.pack(f"{order}HHI", number, kind, len(values)) + place
    return head + data + struct.pack(f"{order}H", len(tags)) + entries + bytes(4) + behind


def page(width: int, length: int, bits: int, rows: int, **others: Any) -> dict[int, tuple[int, list[int]]]:
    """Return the tags of a page of one sample without compression."""
    tags = {256: (3, [width]), 257: (3, [length]), 258: (3, [bits]), 259: (3, [1]), 262: (3, [1])}
    tags |= {277: (3, [1]), 278: (3, [rows])}
    return tags | {int(name[1:]): value for name, value in others.items()}


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("sample_format", "kind"), [(1, "u4"), (2, "i4")])
def test_numbers_of_three_bytes_are_read(order: str, sample_format: int, kind: str, tmp_path: Path) -> None:
    low = -(1 << 23) if sample_format == 2 else 0
    values = np.linspace(low, low + (1 << 24) - 1, 35).astype(f"{order}i4").reshape(7, 5)
    octets = values.copy().view("u1").reshape(-1, 4)
    data = octets[:, :3].tobytes() if order == "<" else octets[:, 1:].tobytes()
    offsets, counts = (4, [8, 8 + 45, 8 + 90]), (4, [45, 45, 15])
    tags = page(5, 7, 24, 3, _273=offsets, _279=counts, _339=(3, [sample_format]))
    path = tmp_path / "a.tif"
    path.write_bytes(file_of(data, tags, order))
    with refbrowser.open(str(path)) as dataset:
        array = dataset["/image"]
        assert array.dtype == np.dtype(f"{order}{kind}")
        assert np.array_equal(array[...], values)
        assert np.array_equal(array[2:5, 1:3], values[2:5, 1:3])
        assert "24 bits" in array.node.not_referencable


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("cut", [(True, False), (True, True)], ids=["below", "below and aside"])
def test_tiles_that_end_with_the_image_are_read(
    is_packed: bool, cut: tuple[bool, bool], tmp_path: Path
) -> None:
    values = np.arange(20 * 24, dtype="<u2").reshape(20, 24)
    tiles = []
    for y, x in product((0, 16), (0, 16)):
        there = values[y : y + 16, x : x + 16]
        behind = [(0, 0 if is_cut else 16 - side) for is_cut, side in zip(cut, there.shape, strict=True)]
        data = np.pad(there, behind).tobytes()
        tiles.append(zlib.compress(data) if is_packed else data)
    counts = [len(tile) for tile in tiles]
    offsets = [8 + sum(counts[:number]) for number in range(4)]
    tags = page(24, 20, 16, 0, _322=(3, [16]), _323=(3, [16]), _324=(4, offsets), _325=(4, counts))
    tags[259] = (3, [8 if is_packed else 1])
    del tags[278]
    path = tmp_path / "a.tif"
    path.write_bytes(file_of(b"".join(tiles), tags))
    assert np.array_equal(tifffile.imread(path), values)
    with refbrowser.open(str(path)) as dataset:
        array = dataset.array("/image")
        assert np.array_equal(array[...], values)
        assert np.array_equal(array[17:19, 3:20], values[17:19, 3:20])
        assert array.node.not_referencable


def test_a_table_of_single_bytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    tags = page(2, 3, 8, 1, _273=(1, [8, 10, 12]), _279=(1, [2, 2, 2]))
    path.write_bytes(file_of(bytes(range(6)), tags))
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/image"][...].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_of_short_tables_what_they_tell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    data = bytes(range(6))
    # How long a strip without compression is need not be told.
    path.write_bytes(file_of(data, page(2, 3, 8, 1, _273=(4, [8, 10, 12]), _279=(4, [2, 2]))))
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/image"][...].tolist() == [[0, 1], [2, 3], [4, 5]]
        assert "its table has 2 of 3" in dataset["/image"].node.not_referencable
    path.write_bytes(file_of(data, page(2, 3, 8, 1, _273=(4, [8, 10]), _279=(4, [2, 2]))))
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/image"][:2].tolist() == [[0, 1], [2, 3]]
        with pytest.raises(RefbrowserError, match="does not give the offset of tile or strip 2"):
            dataset["/image"][...]
    # What is told beyond the last one is of nobody.
    longer = page(2, 3, 8, 1, _273=(4, [8, 10, 12, 99, 99]), _279=(4, [2, 2, 2, 5, 5]))
    path.write_bytes(file_of(data, longer))
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/image"][...].tolist() == [[0, 1], [2, 3], [4, 5]]
        assert not dataset["/image"].node.not_referencable


def test_what_nothing_reads_is_said_of_one_image(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    for tags, words in (
        (page(1, 1, 33, 1, _273=(4, [8]), _279=(4, [5])), "its numbers have 33 bits"),
        (
            page(2, 3, 8, 3, _273=(4, [8]), _279=(4, [6]), _259=(3, [32766])),
            "no installed package decodes",
        ),
    ):
        path.write_bytes(file_of(bytes(6), tags))
        with refbrowser.open(str(path)) as dataset:
            with pytest.raises(RefbrowserError) as caught:
                dataset["/image"][...]
            assert words in caught.value.message
            assert "reshape" not in caught.value.message


@pytest.mark.parametrize(
    "compression", ["jpeg", "webp", "lerc", "jpegxl", "jpeg2000", "lzw", "packbits", "png"]
)
def test_compressions_of_imagecodecs_are_read(compression: str, tmp_path: Path) -> None:
    pytest.importorskip("imagecodecs")
    colours = (np.arange(48 * 40 * 3).reshape(48, 40, 3) // 7 % 256).astype("u1")
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, colours, tile=(16, 16), photometric="rgb", compression=compression)
    with refbrowser.open(str(path)) as dataset:
        assert np.array_equal(dataset["/image"][...], tifffile.imread(path))


@pytest.mark.slow
def test_a_page_that_is_named_very_often_is_read_once(tmp_path: Path) -> None:
    """Hundreds of thousands would take the library minutes: its limit of time would end it."""
    data = bytes(range(4))
    below = file_of(data, page(2, 2, 8, 2, _273=(4, [8]), _279=(4, [4]), _254=(4, [1])))
    at = len(below) + len(below) % 2
    tags = page(2, 2, 8, 2, _273=(4, [8]), _279=(4, [4]), _330=(4, [12] * 1000))
    # Its first page lies behind that of the other file.
    whole = file_of(bytes(at - 8), tags)
    path = tmp_path / "a.tif"
    path.write_bytes(whole[:8] + below[8:].ljust(at - 8, b"\0") + whole[at:])
    with refbrowser.open(str(path)) as dataset:
        assert [each.message for each in dataset.document.notes] == [
            "a page names a page below it more than once: it is shown once"
        ]
        assert dataset["/image"].shape == (2, 2, 2)
        assert (dataset["/image"][...].reshape(2, 4) == [0, 1, 2, 3]).all()
