"""Filters of HDF5 as codecs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.loading import to_install
from refbrowser.model.values import CodecSpec

#: Filters that are what they are by the specification of HDF5: deflate, shuffle, Fletcher's checksum.
STANDARD = (1, 2, 3)
_DEFLATE, _SHUFFLE, _FLETCHER32 = STANDARD
_BZIP2, _BLOSC, _ZSTD = 307, 32001, 32015
_LZ4, _BITSHUFFLE = 32004, 32008
#: How bitshuffle packs its blocks, by its fifth setting.
_PACKED = {0: "none", 2: "lz4", 3: "zstd"}
#: Names of filters for which Zarr has no codec that reads these bytes.
_OTHERS = {
    4: "szip",
    5: "nbit",
    6: "scaleoffset",
    32000: "lzf",
    32015: "Zstandard",
    32008: "bitshuffle",
    32013: "zfp",
    32017: "SZ",
    32018: "JPEG-LS (FCIDECOMP)",
    32024: "SZ3",
    32026: "blosc2",
    32028: "SPERR",
    32033: "HTJ2K",
}
#: Filters that the package hdf5plugin brings.
_IN_PACKAGE = frozenset({307, 32001, 32004, 32008, 32013, 32015, 32017, 32018, 32024, 32026, 32028, 32033})
_BLOSC_NAMES = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter of an array, in encoding order."""

    number: int
    values: tuple[int, ...]
    name: str

    @classmethod
    def all_of(cls, told: Sequence[Sequence[Any]]) -> tuple[Filter, ...]:
        """Return the filters that the library tells."""
        return tuple(cls(number, tuple(values), name) for number, _, values, name in told)

    @property
    def title(self) -> str:
        """What it is called."""
        return _OTHERS.get(self.number, "") or self.name or f"number {self.number}"

    @property
    def advice(self) -> str:
        """What is to be done where nothing decodes it."""
        if self.number in _IN_PACKAGE:
            return to_install("hdf5plugin")
        return (
            f"Filter {self.number} is not in hdf5plugin; the HDF Group's list of filters names its package."
        )

    def codec(self, size: int) -> CodecSpec | None:
        """Return the codec that reads what it writes; None where there is none. `size` is of an element."""
        values = self.values
        if self.number == _DEFLATE:
            return CodecSpec("zlib", {"level": min(values[0], 9) if values else 1})
        if self.number == _SHUFFLE:
            return CodecSpec("shuffle", {"elementsize": values[0] if values else size})
        if self.number == _FLETCHER32:
            return CodecSpec("fletcher32")
        if self.number == _BZIP2:
            return CodecSpec("bz2", {"level": min(max(values[0], 1), 9) if values else 9})
        if self.number == _ZSTD:
            # Levels below 0 come as unsigned numbers.
            level = int(np.uint32(values[0]).astype(np.int32)) if values else 3
            return CodecSpec("zstd", {"level": level})
        if self.number == _LZ4:
            return CodecSpec("imagecodecs_lz4h5")
        if self.number == _BITSHUFFLE and len(values) > 2 and (values[4:5] or (0,))[0] in _PACKED:
            block, packing = (*values[3:5], 0, 0)[:2]
            return CodecSpec(
                "hdf5_bitshuffle",
                {"elementsize": values[2], "blocksize": block, "compressor": _PACKED[packing]},
            )
        if self.number == _BLOSC and len(values) > 6 and values[6] < len(_BLOSC_NAMES):
            return CodecSpec(
                "blosc",
                {"cname": _BLOSC_NAMES[values[6]], "clevel": values[4], "shuffle": values[5], "blocksize": 0},
            )
        return None


def codecs_of(filters: Sequence[Filter], size: int) -> tuple[CodecSpec, ...] | str:
    """Return the codecs that read what filters write, or why there are none."""
    found = [each.codec(size) for each in filters]
    for each, codec in zip(filters, found, strict=True):
        if codec is None:
            return f"Zarr has no codec for its filter {quoted(each.title)}"
    return tuple(codec for codec in found if codec is not None)


def pipeline_key(filters: Sequence[Filter], dtype: np.dtype[Any]) -> str:
    """Return what arrays share whose codecs are proved by one chunk of any of them."""
    return json.dumps([[each.number, each.values] for each in filters] + [dtype.itemsize])
