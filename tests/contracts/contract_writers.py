"""The same small dataset in every format, by other software where there is any, else by hand.

``/temp`` has the values `TEMP`, without the chunk (1, 1), and attributes; ``/sub/wind`` has `WIND`; the
metadata of ``/broken`` is broken. What a writer returns is opened.
"""

from __future__ import annotations

import base64
import json
import shutil
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TEMP = np.arange(35, dtype="<i4").reshape(5, 7) * 3 - 9
CHUNKS = (2, 3)
MISSING = (1, 1)
FILL = -1
WIND = np.array([0.5, -2, np.nan, np.inf, 1 / 3, 7])
ROOT_ATTRIBUTES = {"title": "a contract"}
TEMP_ATTRIBUTES = {"units": "K", "levels": [1, 2, 3], "scale": 0.25}

_DRAFT_URI = "http://purl.org/zarr/spec/protocol/core/3.0"


def expected() -> np.ndarray:
    """Return the values of ``/temp`` with its missing chunk."""
    values = TEMP.copy()
    values[2:4, 3:6] = FILL
    return values


def chunks() -> dict[tuple[int, int], bytes]:
    """Return the chunks of ``/temp`` that are stored, packed by zlib."""
    padded = np.full((6, 9), FILL, "<i4")
    padded[:5, :7] = TEMP
    cut = {(i, j): padded[2 * i : 2 * i + 2, 3 * j : 3 * j + 3] for i in range(3) for j in range(3)}
    return {at: zlib.compress(block.tobytes()) for at, block in cut.items() if at != MISSING}


def _v2_metadata() -> dict[str, Any]:
    common = {"zarr_format": 2, "filters": None, "order": "C"}
    temp = {"shape": [5, 7], "chunks": [2, 3], "dtype": "<i4", "fill_value": FILL}
    wind = {"shape": [6], "chunks": [4], "dtype": "<f8", "fill_value": "NaN", "compressor": None}
    return {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": ROOT_ATTRIBUTES,
        "temp/.zarray": {**common, **temp, "compressor": {"id": "zlib", "level": 1}},
        "temp/.zattrs": TEMP_ATTRIBUTES,
        "sub/.zgroup": {"zarr_format": 2},
        "sub/wind/.zarray": {**common, **wind},
        "broken/.zarray": {"zarr_format": 2, "shape": "none"},
    }


def _data_file(folder: Path) -> dict[str, tuple[int, int]]:
    """Write the chunks of both arrays to one file; return offset and length of each, by key."""
    wind = np.append(WIND, [np.nan, np.nan]).reshape(2, 4)
    stored = {f"temp/{i}.{j}": data for (i, j), data in chunks().items()}
    stored |= {f"sub/wind/{i}": row.tobytes() for i, row in enumerate(wind)}
    places, at = {}, 4
    for key, data in stored.items():
        places[key] = (at, len(data))
        at += len(data)
    (folder / "data.bin").write_bytes(b"head" + b"".join(stored.values()))
    return places


def write_references_v0(folder: Path) -> Path:
    """Write a reference document of Version 0."""
    references: dict[str, Any] = {key: json.dumps(value) for key, value in _v2_metadata().items()}
    references |= {key: ["data.bin", *place] for key, place in _data_file(folder).items()}
    path = folder / "document.json"
    path.write_text(json.dumps(references))
    return path


def write_references_v1(folder: Path) -> Path:
    """Write a reference document of Version 1 with templates, a rule, and bytes in the document."""
    places = _data_file(folder)
    references: dict[str, Any] = {key: json.dumps(value) for key, value in _v2_metadata().items()}
    for key, (offset, length) in places.items():
        if key.startswith("temp/"):
            references[key] = ["{{data}}", offset, length]
    packed = chunks()[0, 0]
    references["temp/0.0"] = "base64:" + base64.b64encode(packed).decode()
    start = places["sub/wind/0"][0]
    rule = {
        "key": "sub/wind/{{i}}",
        "url": "{{data}}",
        "offset": f"{{{{{start} + i * 32}}}}",
        "length": "32",
        "dimensions": {"i": {"stop": 2}},
    }
    path = folder / "document.json"
    document = {"version": 1, "templates": {"data": "data.bin"}, "gen": [rule], "refs": references}
    path.write_text(json.dumps(document))
    return path


def write_references_parquet(folder: Path) -> Path:
    """Write the parquet form with fsspec."""
    import fsspec
    from fsspec.implementations.reference import LazyReferenceMapper

    metadata = _v2_metadata()
    broken = {"broken/.zarray": metadata.pop("broken/.zarray")}
    path = folder / "references.parquet"
    path.mkdir()
    mapper = LazyReferenceMapper.create(
        str(path), fs=fsspec.filesystem("file"), record_size=16, engine="pyarrow"
    )
    for key, value in metadata.items():
        mapper[key] = json.dumps(value).encode()
    for key, place in _data_file(folder).items():
        mapper[key] = [str(folder / "data.bin"), *place]
    mapper.flush()
    listed = json.loads((path / ".zmetadata").read_text())
    listed["metadata"] |= broken
    (path / ".zmetadata").write_text(json.dumps(listed))
    return path


def write_zarr_python(store: Path, version: int, *, shards: bool = False) -> Path:
    """Write a store with zarr-python 3."""
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.create_group(str(store), zarr_format=version, attributes=ROOT_ATTRIBUTES)
        options = {"shards": CHUNKS, "chunks": (1, 3)} if shards else {"chunks": CHUNKS}
        temp = root.create_array(
            "temp", shape=TEMP.shape, dtype="<i4", fill_value=FILL, attributes=TEMP_ATTRIBUTES, **options
        )
        temp[...] = TEMP
        root.create_array("sub/wind", shape=(6,), chunks=(4,), dtype="<f8", fill_value=np.nan)[:] = WIND
        root.create_array("broken", shape=(1,), dtype="i1")
        name = ".zmetadata" if version == 2 else "zarr.json"
        zarr.consolidate_metadata(str(store), zarr_format=version)
    consolidated = json.loads((store / name).read_text())
    key = "temp/1.1" if version == 2 else "temp/c/1/1"
    (store / key).unlink()
    broken = "broken/.zarray" if version == 2 else "broken/zarr.json"
    (store / broken).write_text("{")
    listed = consolidated if version == 2 else consolidated["consolidated_metadata"]
    listed["metadata"][broken.removesuffix("/zarr.json")] = {"zarr_format": version, "node_type": "array"}
    (store / name).write_text(json.dumps(consolidated))
    return store


def without_consolidated(store: Path) -> Path:
    """Take consolidated metadata away."""
    (store / ".zmetadata").unlink(missing_ok=True)
    root = store / "zarr.json"
    if root.exists():
        document = json.loads(root.read_text())
        document.pop("consolidated_metadata")
        root.write_text(json.dumps(document))
    return store


def write_draft(store: Path, *, later: bool) -> Path:
    """Write a store of the draft of 2019, or of 2020, by hand."""
    uri = "https://purl.org/zarr/spec/protocol/core/3.0" if later else _DRAFT_URI
    zlib_codec = "https://purl.org/zarr/spec/codec/zlib/1.0"
    top, data = ("meta/root", "data/root") if later else ("meta", "data")
    temp: dict[str, Any] = {"attributes": TEMP_ATTRIBUTES, "shape": [5, 7], "fill_value": FILL}
    temp |= {"data_type": "<i4", "chunk_memory_layout": "C", "extensions": []}
    temp["chunk_grid"] = {"type": "regular", "chunk_shape": list(CHUNKS), "separator": "/" if later else "."}
    wind = {**temp, "attributes": {}, "shape": [6], "data_type": "<f8", "fill_value": "NaN"}
    wind["chunk_grid"] = {**temp["chunk_grid"], "chunk_shape": [4]}
    if later:
        temp["compressor"] = {"codec": zlib_codec, "configuration": {"level": 1}}
        entry = {
            "zarr_format": uri,
            "metadata_encoding": uri,
            "metadata_key_suffix": ".json",
            "extensions": [],
        }
        _put(store, "zarr.json", entry)
    else:
        temp |= {"zarr_format": uri, "chunk_codecs": [{"codec": zlib_codec, "level": 1}]}
        wind |= {"zarr_format": uri, "chunk_codecs": []}
    root = {"attributes": ROOT_ATTRIBUTES, "extensions": [], **({} if later else {"zarr_format": uri})}
    _put(store, "meta/root.group.json" if later else "root.group.json", root)
    _put(store, f"{top}/temp.array.json", temp)
    _put(store, f"{top}/sub/wind.array.json", wind)
    _put(store, f"{top}/broken.array.json", "{")
    start, joint = ("c", "/") if later else ("", ".")
    for at, packed in chunks().items():
        _put(store, f"{data}/temp/{start}{joint.join(map(str, at))}", packed)
    for number, row in enumerate(np.append(WIND, [np.nan, np.nan]).reshape(2, 4)):
        _put(store, f"{data}/sub/wind/{start}{number}", row.tobytes())
    return store


def write_netcdf(store: Path) -> Path:
    """Write NCZarr with netCDF4."""
    import netCDF4

    with netCDF4.Dataset(f"file://{store}#mode=nczarr,file", "w") as root:
        root.setncatts(ROOT_ATTRIBUTES)
        for name, size in (("y", 5), ("x", 7)):
            root.createDimension(name, size)
        temp = root.createVariable("temp", "i4", ("y", "x"), chunksizes=CHUNKS, fill_value=FILL, zlib=True)
        temp.setncatts(TEMP_ATTRIBUTES)
        temp[:] = TEMP
        group = root.createGroup("sub")
        group.createDimension("t", 6)
        group.createVariable("wind", "f8", ("t",), chunksizes=(4,))[:] = WIND
        root.createVariable("broken", "i4", ("x",))
    (store / "temp" / "1.1").unlink()
    (store / "broken" / ".zarray").write_text("{")
    return store


def zipped(store: Path, *, deflated: bool = False) -> Path:
    """Put a store in a zip file beside it."""
    path = store.with_suffix(".zip")
    method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method) as archive:
        for file in sorted(store.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(store))
    shutil.rmtree(store)
    return path


def _put(store: Path, key: str, content: Any) -> None:
    path = store / key
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, bytes | str) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


#: Every adapter, by name: what writes the dataset into a folder and returns what is to be opened.
WRITERS: dict[str, Callable[[Path], Path]] = {
    "refs-v0": write_references_v0,
    "refs-v1": write_references_v1,
    "refs-parquet": write_references_parquet,
    "zarr-v2": lambda folder: without_consolidated(write_zarr_python(folder / "store", 2)),
    "zarr-v2 consolidated": lambda folder: write_zarr_python(folder / "store", 2),
    "zarr-v3": lambda folder: without_consolidated(write_zarr_python(folder / "store", 3)),
    "zarr-v3 consolidated": lambda folder: write_zarr_python(folder / "store", 3),
    "zarr-v3 sharded": lambda folder: without_consolidated(
        write_zarr_python(folder / "store", 3, shards=True)
    ),
    "zarr-v3 sharded, consolidated": lambda folder: write_zarr_python(folder / "store", 3, shards=True),
    "draft of 2019": lambda folder: write_draft(folder / "store", later=False),
    "draft of 2020": lambda folder: write_draft(folder / "store", later=True),
    "nczarr": lambda folder: write_netcdf(folder / "store"),
    "zip of zarr-v2": lambda folder: zipped(write_zarr_python(folder / "store", 2)),
    "zip of zarr-v3, deflated": lambda folder: zipped(write_zarr_python(folder / "store", 3), deflated=True),
    "zip of nczarr": lambda folder: zipped(write_netcdf(folder / "store")),
    "zip of the draft of 2019": lambda folder: zipped(write_draft(folder / "store", later=False)),
}
#: Those that are served over HTTP as well: they need no listing.
SERVED = (
    "refs-v0",
    "refs-v1",
    "zarr-v2 consolidated",
    "zarr-v3 consolidated",
    "zarr-v3 sharded, consolidated",
    "nczarr",
    "zip of zarr-v2",
)
