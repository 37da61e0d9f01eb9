"""Sets of references with one damage each, in known numbers, and the sound ones that they are made of."""

from __future__ import annotations

import copy
import json
import os
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import refbrowser

GROUP = '{"zarr_format": 2}'
#: Files, chunks of each, and bytes of a chunk of the array that is not compressed.
FILES, CHUNKS, SIZE, HEAD = 10, 4, 400, 64
Refs = dict[str, Any]


@dataclass
class DamagedSet:
    """A document before it is written.

    Attributes
    ----------
    refs, members
        Entries of `refs`, and the other members.
    lengths
        Of the compressed chunks, by key.
    """

    refs: Refs
    members: dict[str, Any]
    folder: Path

    def write(self, name: str = "set.json") -> Path:
        """Write it beside its files, a line for each entry."""
        path = self.folder / name
        path.write_text(json.dumps({"version": 1, **self.members, "refs": self.refs}, indent=0))
        return path

    def copy(self) -> DamagedSet:
        """Return one that may be damaged."""
        return DamagedSet(copy.deepcopy(self.refs), copy.deepcopy(self.members), self.folder)


def zarray(shape: list[int], chunks: list[int], **more: Any) -> str:
    """Return metadata of an array of 4-byte floats."""
    return json.dumps(
        {
            "zarr_format": 2,
            "shape": shape,
            "chunks": chunks,
            "dtype": "<f4",
            "compressor": None,
            "filters": None,
            "fill_value": "NaN",
            "order": "C",
        }
        | more
    )


def sound(folder: Path, base: str = "") -> DamagedSet:
    """Return a sound set of two arrays over ten files, `/raw` and the compressed `/packed`.

    Parameters
    ----------
    base
        What stands before the names of files: a URL that ends with ``/``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(7)
    refs: Refs = {".zgroup": GROUP}
    refs["raw/.zarray"] = zarray([FILES, CHUNKS * 100], [1, 100])
    refs["raw/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["t", "x"], "valid_range": [-10.0, 10.0]})
    packed = zarray([FILES, CHUNKS * 100], [1, 100], compressor={"id": "zlib", "level": 1})
    refs["packed/.zarray"] = packed
    refs["packed/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["t", "x"], "_FillValue": -9999.0})
    for file in range(FILES):
        data = bytearray(b"H" * HEAD)
        for kind in ("raw", "packed"):
            for chunk in range(CHUNKS):
                values = chance.normal(size=100).clip(-9, 9).astype("<f4")
                stored = values.tobytes() if kind == "raw" else zlib.compress(values.tobytes(), 1)
                refs[f"{kind}/{file}.{chunk}"] = [f"{base}f{file}.bin", len(data), len(stored)]
                data += stored
        (folder / f"f{file}.bin").write_bytes(data)
    return DamagedSet(refs, {}, folder)


@dataclass(frozen=True)
class Damage:
    """One way to damage a set.

    Attributes
    ----------
    code, count
        What is found, and of how many places.
    level
        From which level on.
    make
        Changes a set.
    is_fault
        Whether it is a fault.
    marked
        Chunks that are marked: array and coordinates; None where this is not looked at.
    also
        Codes that are found besides, as a consequence.
    """

    code: str
    count: int
    level: str
    make: Callable[[DamagedSet], None]
    is_fault: bool = False
    marked: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    also: frozenset[str] = frozenset()


def _refs(change: Callable[[Refs], None]) -> Callable[[DamagedSet], None]:
    return lambda made: change(made.refs)


def _outside(refs: Refs) -> None:
    refs |= {f"raw/{file}.0": ["f0.bin", 0, 64] for file in range(FILES, FILES + 70)}


def _missing(refs: Refs) -> None:
    for file in range(3):
        del refs[f"packed/{file}.1"]


def _past_end(refs: Refs) -> None:
    for chunk in range(2):
        refs[f"packed/5.{chunk}"][1] += 1_000_000


def _cut_end(refs: Refs) -> None:
    refs["raw/3.1"][2] -= 1


def _cut_start(refs: Refs) -> None:
    refs["raw/3.1"][1] += 1
    refs["raw/3.1"][2] -= 1


def _shifted_rule(made: DamagedSet) -> None:
    _rule(made, "{{t}}.{{x + 1}}")


def _rule(made: DamagedSet, key: str = "{{t}}.{{x}}", **more: str) -> None:
    """Let a rule give the chunks of `/raw`."""
    for file in range(FILES):
        for chunk in range(CHUNKS):
            del made.refs[f"raw/{file}.{chunk}"]
    rule = {"key": f"raw/{key}", "url": "f{{t}}.bin", "offset": "{{64 + 400 * x}}", "length": "400"} | more
    dimensions = {"t": {"stop": FILES}, "x": {"stop": CHUNKS}}
    made.members["gen"] = [{**rule, "dimensions": dimensions}]


def _of_no_array(made: DamagedSet) -> None:
    made.members["gen"] = [
        {
            "key": "none/{{t}}.0",
            "url": "f0.bin",
            "offset": "0",
            "length": "4",
            "dimensions": {"t": {"stop": 5}},
        }
    ]


def _never_chunks(made: DamagedSet) -> None:
    made.members["gen"] = [
        {"key": "raw/x{{t}}", "url": "f0.bin", "offset": "0", "length": "4", "dimensions": {"t": {"stop": 5}}}
    ]


def _overwrite(name: str, offset: int, data: bytes) -> Callable[[DamagedSet], None]:
    def change(made: DamagedSet) -> None:
        path = made.folder / name
        whole = bytearray(path.read_bytes())
        whole[offset : offset + len(data)] = data
        path.write_bytes(whole)

    return change


def _spoil_packed(made: DamagedSet) -> None:
    _, offset, _ = made.refs["packed/8.0"]
    _overwrite("f8.bin", offset, b"\0\0\0\0")(made)


def _all_fill(made: DamagedSet) -> None:
    _overwrite("f6.bin", HEAD, np.full(100, np.nan, "<f4").tobytes())(made)


def _beyond_valid(made: DamagedSet) -> None:
    _overwrite("f6.bin", HEAD, np.full(3, 1e6, "<f4").tobytes())(made)


def _declared(**arrays: Any) -> Callable[[DamagedSet], None]:
    """Let the file beside the document declare something of arrays."""

    def make(made: DamagedSet) -> None:
        said = {"version": 1, "declares": {"arrays": arrays}}
        (made.folder / "set.json.expect.json").write_text(json.dumps(said))

    return make


def _image(change: Callable[[dict[str, Any]], object]) -> Callable[[DamagedSet], None]:
    """Let the root describe an image of two levels; `change` damages the description."""

    def make(made: DamagedSet) -> None:
        for name, size in (("full", 8), ("half", 4)):
            made.refs[f"{name}/.zarray"] = zarray([size, size], [size, size])
            made.refs[f"{name}/0.0"] = "\x00" * (size * size * 4)
        scales = ((name, [step, step]) for name, step in (("full", 1.0), ("half", 2.0)))
        levels = [
            {"path": name, "coordinateTransformations": [{"type": "scale", "scale": scale}]}
            for name, scale in scales
        ]
        image = {"version": "0.4", "axes": [{"name": "y"}, {"name": "x"}], "datasets": levels}
        change(image)
        made.refs[".zattrs"] = json.dumps({"multiscales": [image]})

    return make


DAMAGES: dict[str, Damage] = {
    "keys outside of the grid": Damage("chunk-outside-grid", 70, "set", _refs(_outside)),
    "a key that is no chunk": Damage(
        "key-no-chunk", 1, "set", _refs(lambda refs: refs.update({"raw/0.0.0": ["f0.bin", 0, 4]}))
    ),
    "a rule for no array": Damage("rule-no-array", 5, "set", _of_no_array),
    "a rule of no chunks": Damage("rule-no-chunk", 5, "set", _never_chunks),
    "a rule shifted by a chunk": Damage(
        "missing-chunks",
        FILES,
        "set",
        _shifted_rule,
        marked=tuple(("/raw", (file, 0)) for file in range(FILES)),
        also=frozenset({"chunk-outside-grid"}),
    ),
    "a template that nothing uses": Damage(
        "template-unused", 1, "set", lambda made: made.members.update({"templates": {"u": "x"}})
    ),
    "chunks that are missing": Damage(
        "missing-chunks", 3, "set", _refs(_missing), marked=tuple(("/packed", (file, 1)) for file in range(3))
    ),
    "ranges past the end": Damage("range-past-end", 2, "set", _refs(_past_end), True),
    "a range cut at its end": Damage(
        "range-off-by-one", 1, "set", _refs(_cut_end), True, (("/raw", (3, 1)),)
    ),
    "a range cut at its beginning": Damage(
        "range-off-by-one", 1, "set", _refs(_cut_start), True, (("/raw", (3, 1)),)
    ),
    "a compressed range cut at its end": Damage(
        "range-off-by-one",
        1,
        "set",
        _refs(lambda refs: refs["packed/3.1"].__setitem__(2, refs["packed/3.1"][2] - 1)),
        marked=(("/packed", (3, 1)),),
    ),
    "a compressed range that takes a byte of the next": Damage(
        "range-off-by-one",
        1,
        "set",
        _refs(lambda refs: refs["packed/3.1"].__setitem__(2, refs["packed/3.1"][2] + 1)),
        marked=(("/packed", (3, 1)),),
    ),
    "ranges that overlap": Damage(
        "range-overlap",
        1,
        "set",
        _refs(lambda refs: refs["packed/3.1"].__setitem__(2, refs["packed/3.1"][2] + 9)),
        marked=(("/packed", (3, 2)),),
    ),
    "the same range twice": Damage(
        "range-repeated", 2, "set",
        _refs(lambda refs: refs.update({"packed/3.1": refs["packed/3.0"], "packed/3.2": refs["packed/3.0"]})),
    ),
    "an impossible chunk length": Damage(
        "length-undecodable", 1, "set", _refs(lambda refs: refs["raw/3.1"].__setitem__(2, 300)), True,
        (("/raw", (3, 1)),),
    ),
    "a compressed length that is too short": Damage(
        "length-undecodable", 1, "set", _refs(lambda refs: refs["packed/3.1"].__setitem__(2, 4)), True
    ),
    "negative numbers": Damage(
        "number-impossible", 2, "set",
        _refs(lambda refs: refs.update({"raw/3.1": ["f3.bin", -1, 400], "raw/3.2": ["f3.bin", 0, 2**63]})),
        True,
    ),
    "an empty URL": Damage(
        "url-empty", 1, "set", _refs(lambda refs: refs["raw/3.1"].__setitem__(0, "")), True
    ),
    "a name beside the folder": Damage(
        "url-outside-folder", 1, "set",
        _refs(lambda refs: refs["raw/3.1"].__setitem__(0, "../elsewhere/f3.bin")),
    ),
    "one file under two names": Damage(
        "url-spelled-twice", 1, "set", _refs(lambda refs: refs["raw/3.1"].__setitem__(0, "./f3.bin"))
    ),
    "base64 with white space": Damage(
        "base64-lenient", 1, "set",
        _refs(lambda refs: refs.update({"s/.zarray": zarray([], []), "s/0": "base64:AAAA\nAA=="})),
    ),
    "an image without levels": Damage(
        "multiscales-wrong", 1, "set", _image(lambda image: image.update({"datasets": []})), True
    ),
    "a level that does not exist": Damage(
        "level-missing", 1, "set", _image(lambda image: image["datasets"][1].update({"path": "third"})), True
    ),
    "levels from the coarsest to the finest": Damage(
        "level-shapes", 1, "set", _image(lambda image: image["datasets"].reverse())
    ),
    "a scale of too many axes": Damage(
        "level-transform", 1, "set",
        _image(lambda image: image["datasets"][1]["coordinateTransformations"][0]["scale"].append(1.0)), True,
    ),
    "a file that is gone": Damage(
        "url-dead", 2 * CHUNKS, "stat", lambda made: (made.folder / "f4.bin").unlink(), True,
        tuple((path, (4, chunk)) for path in ("/raw", "/packed") for chunk in range(CHUNKS)),
    ),
    "bytes that do not decode": Damage(
        "undecodable", 1, "full", _spoil_packed, True, (("/packed", (8, 0)),)
    ),
    "an array of another type than declared": Damage(
        "not-as-declared", 1, "stat", _declared(raw={"dtype": "i2"}, packed={"chunks": [None, None]}), True
    ),
    "declarations of no array": Damage("declarations-invalid", 1, "stat", _declared(raw=3), True),
    "values beyond the declared range": Damage(
        "value-not-as-declared", FILES * CHUNKS, "full", _declared(raw={"range": [1e6, None]}), True
    ),
    "nothing but fill": Damage("all-fill", 1, "full", _all_fill, marked=(("/raw", (6, 0)),)),
    "values beyond the valid range": Damage(
        "value-outside-range", 1, "full", _beyond_valid, marked=(("/raw", (6, 0)),)
    ),
}  # fmt: skip


def described(folder: Path) -> Path:
    """Write a file of HDF5 with two arrays, `/raw` and the compressed `/packed`, and return its DMR++."""
    with h5py.File(folder / "f.h5", "w") as file:
        chance = np.random.default_rng(7)
        for name, options in (("raw", {}), ("packed", {"compression": "gzip"})):
            file.create_dataset(name, data=chance.normal(size=(8, 100)), chunks=(2, 50), **options)
    path = folder / "f.h5.dmrpp"
    refbrowser.export(folder / "f.h5", path, format="dmrpp")
    return path


def _edit(old: str, new: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        text = path.read_text()
        assert re.search(old, text)
        path.write_text(re.sub(old, new, text, count=1))

    return change


def _cut(path: Path) -> None:
    file = path.with_suffix("")
    os.truncate(file, file.stat().st_size - 10)


def _written_anew(path: Path) -> None:
    with h5py.File(path.with_suffix(""), "w") as file:
        file["other"] = np.zeros(30_000)


#: What can be wrong between a DMR++ and its file, as `Damage` has it of reference sets.
DESCRIPTION_DAMAGES: dict[str, tuple[str, int, Callable[[Path], None]]] = {
    "a file of another size": ("description-stale", 1, _cut),
    "a file of another time": ("description-stale", 1, lambda path: os.utime(path.with_suffix(""), (5, 5))),
    "a chunk that is elsewhere": (
        "description-differs", 1,
        _edit(r'offset="\d+"( nBytes="\d+" chunkPositionInArray="\[0,50\]")', r'offset="77"\1'),
    ),
    "a chunk of another length": (
        "description-differs", 1, _edit(r'nBytes="\d+"( chunkPositionInArray="\[2,0\]")', r'nBytes="9"\1')
    ),
    "a chunk that is not said": ("description-differs", 1, _edit(r'<dmrpp:chunk [^>]*"\[0,50\]"/>', "")),
    "another shape": ("description-differs", 2, _edit('(<Dimension name="[^"]*" size=)"8"', r'\1"7"')),
    "other filters": ("description-differs", 1, _edit("deflate", "shuffle deflate")),
    "another byte order": ("description-differs", 1, _edit('byteOrder="LE"', 'byteOrder="BE"')),
    "arrays that are gone": ("description-differs", 2, _written_anew),
    "something else": (
        "description-not-hdf5", 1, lambda path: path.with_suffix("").write_bytes(b"no HDF5" * 9000) and None
    ),
    "no file": ("description-unread", 1, lambda path: path.with_suffix("").unlink()),
    "ranges past the end": ("range-past-end", 1, _edit(r'nBytes="\d+"', 'nBytes="999999999"')),
}  # fmt: skip
