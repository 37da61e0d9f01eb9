"""Reference documents: all spellings of versions 0 and 1, and of references in Parquet."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reader_corpus.corpus import NUMBERS, SIDES, Store
from reader_corpus.small_store import GZIP, LITTLE, sharding, v2_keys, v3_keys, with_groups

Keys = dict[str, bytes]


def _group_v2(**options: Any) -> Keys:
    keys = v2_keys(NUMBERS, SIDES, **options)
    return {".zgroup": b'{"zarr_format": 2}', **{f"v/{key}": data for key, data in keys.items()}}


def _is_metadata(key: str) -> bool:
    name = key.rsplit("/", 1)[-1]
    return name.startswith(".z") or name == "zarr.json"


def _referenced(keys: Keys, folder: Path, url: str = "") -> dict[str, Any]:
    """Return references to one file of data, which is written; metadata is in them."""
    data, refs = b"not a chunk;", {}
    for key, value in keys.items():
        if _is_metadata(key):
            refs[key] = value.decode()
        else:
            refs[key] = [url or str(folder / "data.bin"), len(data), len(value)]
            data += value
    (folder / "data.bin").write_bytes(data)
    return refs


def _saved(folder: Path, document: Any, name: str = "refs.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _blank(folder: Path) -> Path:
    (folder / "a b").mkdir()
    return _version(1)(folder / "a b")


def _version(number: int, **options: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        refs = _referenced(_group_v2(**options), folder)
        return _saved(folder, refs if number == 0 else {"version": 1, "refs": refs})

    return write


def _file_urls(folder: Path) -> Path:
    refs = _referenced(_group_v2(), folder, f"file://{folder / 'data.bin'}")
    return _saved(folder, {"version": 1, "refs": refs})


def _relative(folder: Path) -> Path:
    return _saved(folder, {"version": 1, "refs": _referenced(_group_v2(), folder, "data.bin")})


def _templates(folder: Path) -> Path:
    refs = _referenced(_group_v2(), folder, "{{u}}/data.bin")
    return _saved(folder, {"version": 1, "templates": {"u": str(folder)}, "refs": refs})


def _called_templates(folder: Path) -> Path:
    refs = _referenced(_group_v2(), folder, "{{f(name='data')}}")
    templates = {"f": f"{folder}/{{{{name}}}}.bin"}
    return _saved(folder, {"version": 1, "templates": templates, "refs": refs})


def _rules(folder: Path) -> Path:
    keys = _group_v2(dimensions=["d0", "d1"])
    chunks = {key: data for key, data in keys.items() if not _is_metadata(key)}
    (folder / "data.bin").write_bytes(b"".join(chunks.values()))
    rule = {
        "key": "v/{{y}}.{{x}}",
        "url": "{{u}}",
        "offset": "{{(y * 3 + x) * 48}}",
        "length": "48",
        "dimensions": {"y": {"stop": 3}, "x": [0, 1, 2]},
    }
    refs = {key: data.decode() for key, data in keys.items() if _is_metadata(key)}
    templates = {"u": str(folder / "data.bin")}
    return _saved(folder, {"version": 1, "templates": templates, "gen": [rule], "refs": refs})


def _inline(spelled: Callable[[bytes], Any]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        keys = _group_v2()
        refs = {key: data.decode() if _is_metadata(key) else spelled(data) for key, data in keys.items()}
        return _saved(folder, {"version": 1, "refs": refs})

    return write


def _base64(data: bytes) -> str:
    return "base64:" + base64.b64encode(data).decode()


def _objects(folder: Path) -> Path:
    keys = _referenced(_group_v2(), folder)
    refs = {key: json.loads(value) if _is_metadata(key) else value for key, value in keys.items()}
    return _saved(folder, {"version": 1, "refs": refs})


def _whole_files(folder: Path) -> Path:
    refs: dict[str, Any] = {}
    for key, data in _group_v2().items():
        if _is_metadata(key):
            refs[key] = data.decode()
        else:
            (folder / key.replace("/", "-")).write_bytes(data)
            refs[key] = [str(folder / key.replace("/", "-"))]
    return _saved(folder, {"version": 1, "refs": refs})


def _compressed(folder: Path) -> Path:
    document = {"version": 1, "refs": _referenced(_group_v2(), folder)}
    path = folder / "refs.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    return path


def _zstandard(folder: Path) -> Path:
    import numcodecs

    document = {"version": 1, "refs": _referenced(_group_v2(), folder)}
    path = folder / "refs.json.zst"
    path.write_bytes(numcodecs.get_codec({"id": "zstd", "level": 1}).encode(json.dumps(document).encode()))
    return path


def _v3(*codecs: Any, sides: Any = SIDES, values: Any = NUMBERS) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        keys = with_groups(v3_keys(values, sides, *codecs), "v")
        return _saved(folder, {"version": 1, "refs": _referenced(keys, folder)})

    return write


def _parquet(folder: Path) -> Path:
    """Write references in Parquet, as kerchunk does: one file of records to a column of keys."""
    import pandas

    keys = _group_v2()
    refs = _referenced(keys, folder)
    place = folder / "refs.parq"
    (place / "v").mkdir(parents=True)
    metadata = {key: json.loads(value) for key, value in refs.items() if _is_metadata(key)}
    (place / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 4}))
    rows = [refs[f"v/{y}.{x}"] for y in range(3) for x in range(3)]
    for number, start in enumerate(range(0, len(rows), 4)):
        part = rows[start : start + 4] + [[None, 0, 0]] * (4 - len(rows[start : start + 4]))
        table = pandas.DataFrame(
            {
                "path": pandas.Series([each[0] for each in part], dtype="object"),
                "offset": [each[1] for each in part],
                "size": [each[2] for each in part],
                "raw": pandas.Series([None] * len(part), dtype="object"),
            }
        )
        table.to_parquet(place / "v" / f"refs.{number}.parq", engine="fastparquet", index=False)
    return place


def document_stores() -> Iterator[Store]:
    """Yield them."""
    parquet = ("pandas", "fastparquet")
    square = NUMBERS[:6, :8]
    filters = [{"id": "shuffle", "elementsize": 4}]
    for name, write, needs, values in (
        ("version 0", _version(0), (), NUMBERS),
        ("version 1", _version(1), (), NUMBERS),
        ("file URLs", _file_urls, (), NUMBERS),
        ("a blank in a URL", _blank, (), NUMBERS),
        ("relative URLs", _relative, (), NUMBERS),
        ("templates", _templates, (), NUMBERS),
        ("templates that are called", _called_templates, (), NUMBERS),
        ("gen rules", _rules, (), NUMBERS),
        ("inline base64", _inline(_base64), (), NUMBERS),
        ("metadata as objects", _objects, (), NUMBERS),
        ("whole files", _whole_files, (), NUMBERS),
        ("gzip", _compressed, (), NUMBERS),
        ("zstd", _zstandard, (), NUMBERS),
        (
            "shuffle and zlib",
            _version(1, filters=filters, compressor={"id": "zlib", "level": 1}),
            (),
            NUMBERS,
        ),
        ("zarr v3", _v3(LITTLE), (), NUMBERS),
        ("zarr v3, gzip", _v3(LITTLE, GZIP), (), NUMBERS),
        ("zarr v3, shards", _v3(sharding((2, 2)), sides=(4, 4), values=square), (), square),
        ("separator slash", _version(1, separator="/"), (), NUMBERS),
        ("parquet", _parquet, parquet, NUMBERS),
    ):
        yield Store(f"refs/{name}", write, values, needs=needs)
