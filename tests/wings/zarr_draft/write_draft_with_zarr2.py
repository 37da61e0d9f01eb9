"""Writes a store of the draft of 2020 with the experimental part of zarr-python 2, and what it reads back."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ["ZARR_V3_EXPERIMENTAL_API"] = "1"

import numcodecs
import numpy as np
import zarr
from zarr._storage.v3 import DirectoryStoreV3, ZipStoreV3

#: Numbers that are not the same forwards and backwards, in any byte order.
SHAPE, CHUNKS = (5, 7), (2, 3)


def write_types(root: Any) -> None:
    counts = np.arange(35).reshape(SHAPE)
    for name in ("i1", "u1", "<i2", ">i4", "<u2", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16"):
        array = root.create_dataset(f"types/{label(name)}", shape=SHAPE, chunks=CHUNKS, dtype=name)
        array[...] = counts * (1 - 2j if "c" in name else 1)
    flags = root.create_dataset("types/bool", shape=SHAPE, chunks=CHUNKS, dtype=bool)
    flags[...] = counts % 3 == 0
    for name in ("<M8[s]", ">m8[ms]"):
        root.create_dataset(f"types/{label(name)}", shape=SHAPE, chunks=CHUNKS, dtype=name)[...] = (
            counts.view(name.replace(">", "<"))
        )
    root.create_dataset("types/S5", shape=3, chunks=2, dtype="S5")[...] = [b"a", b"", b"abcde"]
    root.create_dataset("types/U3", shape=3, chunks=2, dtype="<U3")[...] = ["ä", "", "xyz"]
    pairs = np.array([(1, 2.5), (-3, 4)], [("a", "<i4"), ("b", "<f8")])
    root.create_dataset("types/pairs", shape=2, chunks=2, dtype=pairs.dtype)[...] = pairs


def label(name: str) -> str:
    return name.replace("<", "l").replace(">", "b").replace("[", "_").replace("]", "")


def write_codecs(root: Any) -> None:
    codecs = [
        None,
        numcodecs.GZip(1),
        numcodecs.Zlib(1),
        numcodecs.BZ2(1),
        numcodecs.LZMA(preset=1),
        numcodecs.Zstd(3),
        numcodecs.LZ4(),
        numcodecs.Blosc("zstd", 5, numcodecs.Blosc.BITSHUFFLE),
    ]
    values = np.arange(35, dtype="<i4").reshape(SHAPE)
    for codec in codecs:
        name = "none" if codec is None else codec.codec_id
        array = root.create_dataset(
            f"codecs/{name}", shape=SHAPE, chunks=CHUNKS, dtype="<i4", compressor=codec
        )
        array[...] = values
    array = root.create_dataset(
        "codecs/filtered", shape=SHAPE, chunks=CHUNKS, dtype="<i4", filters=[numcodecs.Delta("<i4")]
    )
    array[...] = values


def write_layouts(root: Any) -> None:
    values = np.arange(35, dtype="<i4").reshape(SHAPE)
    for separator, name in ((".", "dots"), ("/", "slashes")):
        for order in "CF":
            array = root.create_dataset(
                f"layouts/{name}{order}",
                shape=SHAPE,
                chunks=CHUNKS,
                dtype="<i4",
                order=order,
                dimension_separator=separator,
            )
            array[...] = values
    root.create_dataset("layouts/scalar", shape=(), dtype="<i4", fill_value=7)[...] = 3
    root.create_dataset("layouts/empty", shape=(0, 3), chunks=(1, 2), dtype="<i4")
    part = root.create_dataset("layouts/part", shape=SHAPE, chunks=CHUNKS, dtype="<f8", fill_value=np.nan)
    part[0, 0] = 1
    for value, name in ((np.inf, "infinite"), (-1.5, "plain")):
        root.create_dataset(f"fills/{name}", shape=3, chunks=2, dtype="<f4", fill_value=value)
    named = root.create_dataset("layouts/named", shape=SHAPE, chunks=CHUNKS, dtype="<i4")
    named.attrs.update({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"})


def write(store: Any) -> dict[str, Any]:
    root = zarr.open_group(store, mode="w", zarr_version=3, path="/")
    root.attrs["title"] = "a draft"
    root.create_group("bare/inner").attrs["deep"] = True
    for part in (write_types, write_codecs, write_layouts):
        part(root)
    arrays: dict[str, Any] = {}
    root.visititems(lambda path, node: arrays.update({path: node}) if isinstance(node, zarr.Array) else None)
    return arrays


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    arrays = write(DirectoryStoreV3(str(folder / "store")))
    (folder / "expected").mkdir()
    listed = {}
    for number, (path, array) in enumerate(sorted(arrays.items())):
        name = f"expected/{number}.npy"
        np.save(folder / name, array[...], allow_pickle=False)
        listed[path] = {"file": name, "attributes": array.attrs.asdict()}
    (folder / "expected.json").write_text(json.dumps(listed))
    archive = ZipStoreV3(str(folder / "store.zip"), mode="w")
    write(archive)
    archive.close()


if __name__ == "__main__":
    main()
