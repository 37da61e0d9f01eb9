"""Small files that ask for very much: cases by family, each made by a few lines and always the same.

Run as a script, it makes all of them in a folder: ``python tests/safety/bombs.py FOLDER``.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

GROUP = '{"zarr_format": 2}'
HUGE = (1 << 31) - 1
#: Numbers that are written over others.
NUMBERS = (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0")


@dataclass(frozen=True)
class Bomb:
    """A case.

    Attributes
    ----------
    make
        Makes it in an empty folder; returns the arguments of refbrowser.
    """

    family: str
    name: str
    make: Callable[[Path], list[str]]


def bombs() -> Iterator[Bomb]:
    """Yield all cases."""
    for family, cases in FAMILIES.items():
        for number, make in enumerate(cases()):
            yield Bomb(family, f"{family}{number}", make)


_Cases = Iterator[Callable[[Path], list[str]]]


def _file(name: str, data: bytes | Callable[[], bytes], folder: Path) -> list[str]:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data())
    return ["info", str(path)]


def _damaged(name: str, base: Callable[[], bytes], count: int) -> _Cases:
    """Yield so many ways in which a sound file is damaged: numbers written over, and cuts."""
    ways = len(NUMBERS) + 1

    def make(number: int) -> bytes:
        data = bytearray(base())
        at = len(data) * (number // ways) * ways // count
        if number % ways == len(NUMBERS):
            return bytes(data[: max(at, 16)])
        data[at : at + 4] = NUMBERS[number % ways]
        return bytes(data)

    for number in range(count):
        yield partial(_file, name, partial(make, number))


def array_json(**changes: Any) -> dict[str, Any]:
    """Return the metadata of an array of Zarr v2."""
    plain = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "order": "C"}
    return {**plain, "compressor": None, "filters": None, "fill_value": 0, **changes}


# Families


@cache
def _hdf5(**options: Any) -> bytes:
    import h5py
    import numpy as np

    stream = io.BytesIO()
    with h5py.File(stream, "w", **options) as file:
        file.create_dataset("a/b", data=np.arange(24).reshape(4, 6), chunks=(2, 3), compression="gzip")
        file["a"].attrs["text"] = "value"
    return stream.getvalue()


@cache
def _zeros(megabytes: int) -> bytes:
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        side = megabytes << 20
        found = file.create_dataset("z", (side,), "u1", chunks=(side,), compression="gzip")
        found.id.write_direct_chunk((0,), gzip.zlib.compress(bytes(side)))
    return stream.getvalue()


def _of_hdf5() -> _Cases:
    yield from (partial(_file, "a.h5", partial(_zeros, size)) for size in (1, 16, 64))
    yield from _damaged("a.h5", _hdf5, 48)
    yield from _damaged("a.h5", partial(_hdf5, libver="latest"), 40)


def _of_netcdf3() -> _Cases:
    for version in (1, 2, 5):
        word = ">Q" if version == 5 else ">I"
        for count in (200_000, 190_000, HUGE):
            for tag in (10, 11, 12):
                lists = b"".join(
                    struct.pack(">I", found) + struct.pack(word, count)
                    if found == tag
                    else struct.pack(">I", 0) + struct.pack(word, 0)
                    for found in (10, 12, 11)
                )
                head = b"CDF" + bytes([version]) + struct.pack(word, 0)
                yield partial(_file, "a.nc", head + lists + bytes(1 << 20))


@cache
def _tiff() -> bytes:
    import numpy as np
    import tifffile

    stream = io.BytesIO()
    tifffile.imwrite(stream, np.arange(4096, dtype="u2").reshape(64, 64), tile=(16, 16))
    return stream.getvalue()


def _looped_tiff(ways: int) -> bytes:
    """Return a TIFF whose directories lead to each other, as sub-directories of each."""
    at = [8 + 30 * number for number in range(ways)]
    parts = [b"II*\0" + struct.pack("<I", 8)]
    for number in range(ways):
        following = at[(number + 1) % ways]
        entries = struct.pack("<HHII", 256, 4, 1, 1) + struct.pack("<HHII", 330, 4, 1, following)
        parts.append(struct.pack("<H", 2) + entries + struct.pack("<I", following))
    return b"".join(parts)


def _of_tiff() -> _Cases:
    yield from (partial(_file, "a.tif", _looped_tiff(ways)) for ways in (1, 2, 3, 100, 1000))
    yield from _damaged("a.tif", _tiff, 40)


def _cards(**cards: Any) -> bytes:
    lines = [f"{name:<8}= {value!s:>20}".ljust(80) for name, value in cards.items()]
    text = "".join([*lines, "END".ljust(80)]).encode()
    return text + b" " * (-len(text) % 2880)


def _of_fits() -> _Cases:
    for bits in (8, 16, -64):
        for axes in (1, 2, 3, 999):
            for side in (10, 10**6, 10**12):
                sides = {f"NAXIS{number}": side for number in range(1, min(axes, 5) + 1)}
                cards = _cards(SIMPLE="T", BITPIX=bits, NAXIS=axes, **sides)
                yield partial(_file, "a.fits", cards + bytes(2880))


def _of_grib() -> _Cases:
    for size in (0, 16, 1 << 20, (1 << 24) - 1):
        for edition in (1, 2):
            head = b"GRIB" + (
                struct.pack(">I", size)[1:] + b"\1" if edition == 1 else b"\0\0\0\2" + struct.pack(">Q", size)
            )
            for body in (bytes(100), b"\xff" * 100, bytes(20) + b"7777"):
                for sides in (b"", b"\0\0\x15\3" + b"\xff" * 17):
                    yield partial(_file, "a.grib2", head + sides + body)


def _lock(text: bytes, folder: Path) -> list[str]:
    (folder / "a.json").write_text(json.dumps({".zgroup": GROUP}))
    (folder / "a.json.lock.json").write_bytes(text)
    return ["info", str(folder / "a.json")]


def _of_locks() -> _Cases:
    for item in (b"[],", b"{},", b"0,", b'"",', b"[[]],", b'{"":0},', b"1e9,", b"null,"):
        for count in (1_000_000, 4_000_000, 10_000_000):
            yield lambda folder, item=item, count=count: _lock(
                b'{"lock":1,"files":{},"x":[' + item * count + b"0]}", folder
            )


def _parquet(folder: Path, shape: list[Any], record_size: int, columns: Any = None) -> list[str]:
    (folder / "r.parq/a").mkdir(parents=True)
    metadata = {".zgroup": {"zarr_format": 2}, "a/.zarray": array_json(shape=shape, chunks=[1] * len(shape))}
    text = json.dumps({"metadata": metadata, "record_size": record_size})
    (folder / "r.parq/.zmetadata").write_text(text)
    if columns is not None:
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table(columns(pyarrow), names=["path", "offset", "size", "raw"])
        pyarrow.parquet.write_table(table, folder / "r.parq/a/refs.0.parq", compression="zstd")
    return ["info", str(folder / "r.parq")]


def _rows(count: int, text: int, arrow: Any) -> list[Any]:
    import numpy as np

    zeros = arrow.array(np.zeros(count, np.int64))
    paths = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(count, np.int32)), ["x" * text])
    return [paths, zeros, zeros, arrow.nulls(count, arrow.binary())]


def _of_parquet() -> _Cases:
    for shape in ([1 << 62], [1 << 40, 1 << 40], [10**9], [1e99], [-1], [1 << 31] * 30, [0], [10**6] * 3):
        for record_size in (1, 1000):
            yield partial(_parquet, shape=shape, record_size=record_size)
    for count, text in ((6_000_000, 1), (4_000_000, 100), (10, 100_000_000), (1, 1)):
        for record_size in (1, 10_000_000):
            shape = [10_000_000]
            yield partial(_parquet, shape=shape, record_size=record_size, columns=partial(_rows, count, text))


def _icechunk(folder: Path, rank: int, damage: str) -> list[str]:
    """Make a repository of 16 million chunks, of which one is written; its manifest is lost."""
    import icechunk
    import zarr

    path = folder / "repository"
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(path)))
    session = repository.writable_session("main")
    side = round(16_000_000 ** (1 / rank))
    root = zarr.group(store=session.store)
    array = root.create_array("a", shape=(side,) * rank, chunks=(1,) * rank, dtype="u1")
    array[(0,) * rank] = 1
    array[(side - 1,) * rank] = 1
    session.commit("one")
    for kind in ("manifests", "snapshots"):
        for file in (path / kind).iterdir():
            data = file.read_bytes()
            if kind == "manifests" and damage == "lost":
                file.unlink()
            elif damage == "grown":
                import zstandard

                file.write_bytes(data[:39] + zstandard.compress(bytes(1 << 28)))
            elif damage == "cut":
                file.write_bytes(data[: len(data) // 2])
    return ["info", str(path)]


def _of_icechunk() -> _Cases:
    for rank in (1, 2, 3, 4, 8, 12, 16, 24):
        for damage in ("lost", "grown", "cut"):
            yield partial(_icechunk, rank=rank, damage=damage)


def _combined(folder: Path, array: dict[str, Any], gen: list[Any], verb: str) -> list[str]:
    for name in "ab":
        refs = {".zgroup": GROUP, "t/.zarray": json.dumps(array), "t/.zattrs": '{"_ARRAY_DIMENSIONS": ["t"]}'}
        text = json.dumps({"version": 1, "refs": refs, "gen": gen})
        (folder / f"{name}.json").write_text(text)
    paths = [str(folder / f"{name}.json") for name in "ab"]
    if verb == "fold":
        return ["fold", paths[0], "-o", str(folder / "out.json")]
    return ["make", *paths, "--concat", "t", "-o", str(folder / "out.json")]


def _of_combining() -> _Cases:
    for count in (10**8, 10**12, 1 << 62):
        gen = {"key": "t/{{i}}", "url": "x", "offset": "{{i}}", "length": "1"}
        for rules in ([], [{**gen, "dimensions": {"i": {"stop": count}}}]):
            for chunk in (1, 1000):
                for verb in ("fold", "make"):
                    array = array_json(shape=[count], chunks=[chunk])
                    yield partial(_combined, array=array, gen=rules, verb=verb)


def _packed(item: bytes, count: int, kind: str) -> bytes:
    text = b'{"version":1,"refs":{"a":"' + item * count + b'"}}'
    if kind == "gz":
        return gzip.compress(text, 9, mtime=0)
    import zstandard

    return zstandard.compress(text)


def _of_packed() -> _Cases:
    for kind in ("gz", "zst"):
        for item in (b" ", b"ab", b'","b":"', b'\\"'):
            for count in (1 << 20, 1 << 24):
                yield partial(_file, f"a.json.{kind}", partial(_packed, item, count, kind))


def _zip(size: int, members: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(".zgroup", GROUP)
        for number in range(members):
            archive.writestr(f"a{number}/.zarray", json.dumps(array_json()) + " " * size)
    return stream.getvalue()


def _of_zip() -> _Cases:
    for size, members in ((1 << 28, 1), (1 << 24, 8), (0, 20_000)):
        yield partial(_file, "a.zip", partial(_zip, size, members))


FAMILIES: dict[str, Callable[[], _Cases]] = {
    "hdf5": _of_hdf5,
    "grib": _of_grib,
    "tiff": _of_tiff,
    "fits": _of_fits,
    "netcdf3": _of_netcdf3,
    "lock": _of_locks,
    "parquet": _of_parquet,
    "icechunk": _of_icechunk,
    "combining": _of_combining,
    "packed": _of_packed,
    "zip": _of_zip,
}


if __name__ == "__main__":
    for bomb in bombs():
        folder = Path(sys.argv[1], bomb.name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        bomb.make(folder)
