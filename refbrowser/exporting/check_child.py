"""Reads a store with software that is not ours, in a process of its own; it imports nothing of refbrowser.

It is run by its path. On standard input it gets one JSON object: ``program``, ``target``, ``zip_folder``,
``container`` (``netcdf4`` for a file of netCDF-4), ``storage`` (for fsspec, where the target is a URL),
``memory``, ``show``, ``groups`` and ``arrays``, a list of ``[path, boxes]`` with each box a list of
``[start, stop]``; on standard output it writes one JSON object a line: what it found.

Where the target is on this machine, it opens that, what ``opens`` lists and its libraries alone, writes no
file and has no network.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

Found = dict[str, Any]


def elements(values: Any) -> tuple[str, bytes]:
    """Return the kind of elements, and their bytes in a form that two programs have in common.

    Texts are a list of texts without what fills them up, whatever holds them; numbers are little-endian, in C
    order.
    """
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind in "OSUT":
        texts = [_text(value) for value in array.reshape(-1).tolist()]
        return "text", json.dumps(texts).encode()
    little = np.ascontiguousarray(array.astype(_closed_up(array.dtype), copy=False))
    name = little.dtype.str.lstrip("<|>") if little.dtype.names is None else str(little.dtype)
    return name, little.tobytes()


def _closed_up(dtype: Any) -> Any:
    """Return a type in little-endian order, its members one behind the other."""
    import numpy as np

    if dtype.subdtype is not None:
        return np.dtype((_closed_up(dtype.base), dtype.shape))
    if dtype.names is not None:
        return np.dtype([(name, _closed_up(dtype.fields[name][0])) for name in dtype.names])
    return np.dtype(dtype.str).newbyteorder("<")


def _text(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return row_text(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return value.rstrip("\0") if isinstance(value, str) else repr(value)


def plain(value: Any) -> Any:
    """Return an attribute as plain JSON values: one element is that element, NaN a text."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        items = [plain(item) for item in value]
        return items[0] if len(items) == 1 else items
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"float": repr(value)}
    return value


def digest(values: Any) -> list[str]:
    """Return the kind and the SHA-256 of elements."""
    kind, data = elements(values)
    return [kind, hashlib.sha256(data).hexdigest()]


def _slices(box: list[list[int]]) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in box)


def _by_zarr(request: dict[str, Any]) -> Iterator[Found]:
    import zarr
    from zarr.storage import FsspecStore, LocalStore, ZipStore

    yield {"program": "zarr-python", "version": zarr.__version__}
    # Chunks of unequal sides are behind a switch.
    zarr.config.set({"array.rectilinear_chunks": True})
    store: Any
    if request.get("storage") is not None:
        # Else gcsfs asks Google, wherever the bucket is, and for up to a minute.
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        options = request["storage"]
        store = FsspecStore.from_url(request["target"], storage_options=options, read_only=True)
    elif request["container"] == "zip":
        store = ZipStore(request["target"], mode="r")
    else:
        store = LocalStore(request["target"], read_only=True)
    root: Any = zarr.open(store, mode="r", path=request["zip_folder"])
    groups = {"/": root} if isinstance(root, zarr.Group) else {}
    if groups:
        yield {"group": "/", "attributes": plain(root.attrs.asdict())}
    for path in request["groups"]:
        yield {"reading": path}
        yield {"group": path, "attributes": plain(root[path.strip("/")].attrs.asdict())}
    for path, boxes in request["arrays"]:
        yield {"reading": path}
        try:
            array = root[path.strip("/")] if groups else root
            names = getattr(array.metadata, "dimension_names", None)
            yield {
                "array": path,
                "shape": list(array.shape),
                "dimensions": None if names is None else list(names),
                "attributes": plain(array.attrs.asdict()),
            }
            for box in boxes:
                yield {"of": path, "box": box, **values_found(request, array[_slices(box)])}
        except Exception as error:  # noqa: BLE001 - whatever other software raises is what it found
            yield {"failed": path, "error": f"{type(error).__name__}: {error}"}


def _by_netcdf(request: dict[str, Any]) -> Iterator[Found]:
    import netCDF4

    yield {
        "program": "netCDF4",
        "version": f"{netCDF4.__version__}, netcdf-c {netCDF4.__netcdf4libversion__}",
    }
    place = request["target"]
    if request["container"] != "netcdf4":
        place = f"file://{place}#mode=nczarr,{'zip' if request['container'] == 'zip' else 'file'}"
    with netCDF4.Dataset(place) as root:
        root.set_auto_maskandscale(False)
        root.set_auto_chartostring(False)
        for path in ("/", *request["groups"]):
            yield {"reading": path}
            group = root if path == "/" else root[path]
            yield {
                "group": path,
                "attributes": {name: plain(group.getncattr(name)) for name in group.ncattrs()},
            }
        for path, boxes in request["arrays"]:
            yield {"reading": path}
            try:
                array = root[path]
                array.set_auto_maskandscale(False)
                array.set_auto_chartostring(False)
                yield {
                    "array": path,
                    "shape": list(array.shape),
                    "dimensions": list(array.dimensions),
                    "attributes": {name: plain(array.getncattr(name)) for name in array.ncattrs()},
                }
                for box in boxes:
                    yield {
                        "of": path,
                        "box": box,
                        **values_found(request, array[_slices(box)] if box else array[...]),
                    }
            except Exception as error:  # noqa: BLE001 - whatever other software raises is what it found
                yield {"failed": path, "error": f"{type(error).__name__}: {error}"}


def _by_h5py(request: dict[str, Any]) -> Iterator[Found]:
    import h5py

    yield {"program": "h5py", "version": f"{h5py.__version__}, HDF5 {h5py.version.hdf5_version}"}
    with h5py.File(request["target"], "r") as root:
        for path in ("/", *request["groups"]):
            yield {"reading": path}
            yield {"group": path, "attributes": _attributes_of_hdf5(root[path])}
        for path, boxes in request["arrays"]:
            yield {"reading": path}
            try:
                above, _, name = path.rpartition("/")
                other = f"{above}/_nc4_non_coord_{name}"
                array = root[other if other in root else path]
                names = [each[0].name.rpartition("/")[2] if len(each) else None for each in array.dims]
                yield {
                    "array": path,
                    "shape": list(array.shape),
                    # A coordinate variable is the scale of its own dimension.
                    "dimensions": None if None in names else names,
                    "attributes": _attributes_of_hdf5(array),
                }
                for box in boxes:
                    yield {"of": path, "box": box, **values_found(request, array[_slices(box)])}
            except Exception as error:  # noqa: BLE001 - whatever other software raises is what it found
                yield {"failed": path, "error": f"{type(error).__name__}: {error}"}


#: Attributes by which scales belong to dimensions.
_OF_SCALES = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST")


def _attributes_of_hdf5(node: Any) -> Found:
    import h5py

    found = {name: node.attrs[name] for name in node.attrs if name not in _OF_SCALES}
    return {name: "" if isinstance(value, h5py.Empty) else plain(value) for name, value in found.items()}


def values_found(request: dict[str, Any], values: Any) -> Found:
    """Return what is told of some elements: their digest, and themselves where these are to be shown."""
    found: Found = {"digest": digest(values)}
    if request["show"]:
        kind, data = elements(values)
        found["elements"] = [kind, base64.b64encode(data).decode()]
    return found


def row_text(row: Any) -> str:
    """Return a row of numbers as text."""
    return repr(row.tolist())


#: The library of each program, and what reads with it; scripts of other formats add theirs.
READERS = {
    "zarr-python": ("zarr", _by_zarr),
    "netCDF4": ("netCDF4", _by_netcdf),
    "h5py": ("h5py", _by_h5py),
}
_CONFINEMENT = Path(__file__).parents[1] / "codecs" / "workers" / "confinement.py"


def _confine(request: dict[str, Any]) -> None:
    """Hold this process to the target, unless a store has it."""
    spec = spec_from_file_location("confinement", _CONFINEMENT)
    assert spec is not None
    assert spec.loader is not None
    confinement = module_from_spec(spec)
    spec.loader.exec_module(confinement)
    confinement.end_with_parent()
    if request.get("storage") is None:
        given = [request["target"], *request.get("opens", ())]
        confinement.confine(confinement.libraries(), given)


def main() -> None:
    """Do what standard input asks for."""
    warnings.simplefilter("ignore")
    request = json.load(sys.stdin)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        # A limit that holds already may be lower, and cannot be raised.
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = request["memory"] if hard == resource.RLIM_INFINITY else min(request["memory"], hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What libraries print, in whatever language, is no answer.
    os.dup2(2, 1)
    try:
        library, read = READERS[request["program"]]
        # Where it lies is known once it is loaded.
        import_module(library)
        _confine(request)
        for found in read(request):
            out.write(json.dumps(found) + "\n")
            out.flush()
    except Exception as error:  # noqa: BLE001 - whatever other software raises is what it found
        out.write(json.dumps({"ended": f"{type(error).__name__}: {error}"}) + "\n")
    # A library may crash as Python ends.
    out.flush()


if __name__ == "__main__":
    main()
