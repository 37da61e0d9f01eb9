"""Reads samples of a dataset with a reader that is not ours, in a process that imports nothing of ours.

It is run by its path. What it is asked and answers is what `refbrowser.exporting.check_child` says, which it
loads by its path, too. It is told besides the ``form`` of the dataset, as `installed.FORMS` has them, whether
it ``is_nczarr``, what it was ``opened_with`` (of a repository its branch, tag or snapshot), and the
``library`` of GDAL where no package brings it.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

Request = dict[str, Any]
Found = dict[str, Any]


def _loaded() -> Any:
    path = Path(__file__).parents[3] / "exporting" / "check_child.py"
    spec = spec_from_file_location("check_child", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = _loaded()


def _read(request: Request, version: str, opened: Callable[[str], Any]) -> Iterator[Found]:
    """Yield what arrays are and hold: `opened` returns one that has a shape and is indexed by slices."""
    yield {"program": request["program"], "version": version}
    for path, boxes in request["arrays"]:
        try:
            array = opened(path)
            yield {"array": path, "shape": [int(size) for size in array.shape]}
            for box in boxes:
                index = tuple(slice(start, stop) for start, stop in box) or ...
                yield {"of": path, "box": box, **check.values_found(request, array[index])}
        except Exception as error:  # noqa: BLE001 - whatever other software raises is what it found
            yield {"failed": path, "error": _told(error)}


def _told(error: BaseException) -> str:
    """Return an error in words: the first that was raised, where others only pass it on."""
    group = getattr(error, "exceptions", ())
    if group:
        return _told(group[0])
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# Zarr-Python, and what gives it a store


def _store_of(request: Request) -> Any:
    """Return the store in which zarr-python finds a dataset."""
    target, program = request["target"], request["program"]
    # These know one form alone, whatever it is.
    alone = {"icechunk": "icechunk", "fsspec": "refs-"}
    form = str(alone.get(program, request["form"]))
    if form == "icechunk":
        return _icechunk_store(target, request["opened_with"])
    if form.startswith("refs-"):
        return _reference_store(target)
    storage: Any = import_module("zarr.storage")
    if form == "zip-store":
        return storage.ZipStore(target, mode="r")
    if not hasattr(storage, "LocalStore"):  # zarr-python 2
        return storage.DirectoryStore(target)
    return storage.LocalStore(target, read_only=True)


def _reference_store(target: str) -> Any:
    """Return the store of fsspec's reference file system."""
    import fsspec
    import zarr

    if zarr.__version__.startswith("2."):
        return fsspec.filesystem("reference", fo=target, remote_protocol="file").get_mapper("")
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from fsspec.implementations.reference import ReferenceFileSystem
    from zarr.storage import FsspecStore

    files = fsspec.filesystem("file")
    wrapped = AsyncFileSystemWrapper(files, asynchronous=True)
    found = ReferenceFileSystem(target, fs={"file": wrapped, None: wrapped}, asynchronous=True)
    return FsspecStore(found, read_only=True)


def _icechunk_store(target: str, opened_with: dict[str, str]) -> Any:
    import icechunk

    storage = icechunk.local_filesystem_storage(target)
    config = icechunk.Repository.fetch_config(storage)
    known = (config.virtual_chunk_containers if config is not None else None) or {}
    # Older versions have no other word for it than None.
    access = getattr(icechunk.credentials, "LocalFileSystemAccess", None)
    local = {prefix: access for prefix in known if prefix.startswith("file://")}
    granted = icechunk.containers_credentials(local) if local else None
    repository = icechunk.Repository.open(storage, config, authorize_virtual_chunk_access=granted)
    wanted: dict[str, Any] = {_OF_SESSIONS.get(name, name): value for name, value in opened_with.items()}
    return repository.readonly_session(**(wanted or {"branch": "main"})).store


#: What sessions of Icechunk call what a repository is opened with, where that has another name.
_OF_SESSIONS = {"snapshot": "snapshot_id"}


def _by_zarr(request: Request) -> Iterator[Found]:
    program: str = request["program"]
    root = _root_of(request, _store_of(request))
    version = importlib.metadata.version(_DISTRIBUTIONS.get(program, program))
    yield from _read(request, version, lambda path: _below(root, path))


#: What brings a reader, where that has another name.
_DISTRIBUTIONS = {"zarr-python": "zarr", "zarrs-python": "zarrs"}


def _root_of(request: Request, store: Any) -> Any:
    import zarr

    if zarr.__version__.startswith("2."):
        return zarr.open(store, mode="r")
    return zarr.open(store, mode="r", path=request["zip_folder"])


def _below(root: Any, path: str) -> Any:
    name = path.strip("/")
    return root[name] if name else root


def _by_zarrs(request: Request) -> Iterator[Found]:
    import zarr

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    yield from _by_zarr(request)


def _by_virtualizarr(request: Request) -> Iterator[Found]:
    import virtualizarr
    import zarr
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr import parsers

    registry = ObjectStoreRegistry({"file://": LocalStore()})
    parser: Any = {
        "refs-v0": "KerchunkJSONParser",
        "refs-v1": "KerchunkJSONParser",
        "refs-parquet": "KerchunkParquetParser",
        "zip-store": "ZippedZarrParser",
        "icechunk": "IcechunkParser",
    }.get(request["form"], "ZarrParser")
    made = getattr(parsers, parser)()
    root = zarr.open(made(f"file://{request['target']}", registry), mode="r")
    yield from _read(request, virtualizarr.__version__, lambda path: _below(root, path))


def _by_xarray(request: Request) -> Iterator[Found]:
    import xarray

    def opened(group: str) -> Any:
        above = [request["zip_folder"]] if request["form"] in ("store", "zip-store") else []
        said: dict[str, Any] = {"group": "/".join(filter(None, (*above, group))) or None, **_AS_STORED}
        if request["form"] == "icechunk":
            said["consolidated"] = False
        # By its path, as most do: what no path leads to is a store.
        target = request["target"] if request["form"] == "store" else _store_of(request)
        return xarray.open_dataset(target, engine="zarr", **said)

    yield from _read_variables(request, xarray.__version__, opened)


def _by_kerchunk(request: Request) -> Iterator[Found]:
    import xarray

    def opened(group: str) -> Any:
        said: dict[str, Any] = {"open_dataset_options": {"group": group or None, **_AS_STORED}}
        return xarray.open_dataset(request["target"], engine="kerchunk", **said)

    yield from _read_variables(request, importlib.metadata.version("kerchunk"), opened)


#: Values as they are stored: neither masked nor scaled.
_AS_STORED: dict[str, Any] = {"decode_cf": False, "chunks": None}


def _read_variables(request: Request, version: str, opened: Callable[[str], Any]) -> Iterator[Found]:
    """Yield what variables are and hold, in datasets that are opened one for each group."""
    groups: dict[str, Any] = {}

    def variable(path: str) -> Any:
        above, _, name = path.strip("/").rpartition("/")
        if above not in groups:
            groups[above] = opened(above)
        return _Variable(groups[above].variables[name])

    yield from _read(request, version, variable)


class _Variable:
    """A variable of xarray, whose values are read when it is indexed."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable
        self.shape = variable.shape

    def __getitem__(self, index: Any) -> Any:
        return self._variable[index].values


# netCDF-C


def _by_netcdf(request: Request) -> Iterator[Found]:
    import netCDF4

    mode = "nczarr" if request["is_nczarr"] else "zarr"
    container = "zip" if request["form"] == "zip-store" else "file"
    with netCDF4.Dataset(f"file://{request['target']}#mode={mode},{container}") as root:

        def opened(path: str) -> Any:
            array = root[path]
            array.set_auto_maskandscale(False)
            array.set_auto_chartostring(False)
            return array

        yield from _read(request, netCDF4.__netcdf4libversion__, opened)


# GDAL, by its multidimensional API in C: it has no other that every build brings.

#: numpy's types by the numbers of GDAL's.
_NUMERIC = {
    **{1: "u1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4", 7: "f8", 10: "c8", 11: "c16", 12: "u8"},
    **{13: "i8", 14: "i1", 15: "f2"},
}
_MULTIDIM, _VERBOSE = 0x10, 0x40


def _by_gdal(request: Request) -> Iterator[Found]:
    gdal = _Gdal(request.get("library") or _gdal_path())
    if request["form"] == "zip-store":
        target = f"/vsizip/{request['target']}/{request['zip_folder']}".rstrip("/")
    else:
        target = request["target"]
    root = gdal.open(target)
    yield from _read(request, gdal.version, lambda path: _GdalArray(gdal, root, path))


def _gdal_path() -> str:
    """Return the path of the library that a package has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        lines = (line.split()[-1] for line in maps if "/libgdal" in line)
        return next(lines)


class _Gdal:
    """The functions of GDAL's library."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        for name in (
            *("GDALOpenEx", "GDALDatasetGetRootGroup", "GDALGroupOpenMDArrayFromFullname"),
            *("GDALMDArrayGetDimensions", "GDALMDArrayGetDataType"),
        ):
            getattr(self.library, name).restype = ctypes.c_void_p
        for name in ("GDALVersionInfo", "CPLGetLastErrorMsg"):
            getattr(self.library, name).restype = ctypes.c_char_p
        self.library.GDALDimensionGetSize.restype = ctypes.c_uint64
        self.library.GDALMDArrayGetDimensionCount.restype = ctypes.c_size_t
        self.library.CPLSetConfigOption(b"GDAL_PAM_ENABLED", b"NO")
        self.library.GDALAllRegister()
        self.library.CPLPushErrorHandler(ctypes.cast(self.library.CPLQuietErrorHandler, ctypes.c_void_p))
        self.version = self.library.GDALVersionInfo(b"RELEASE_NAME").decode()

    def open(self, path: str) -> Any:
        """Return the root group of a dataset."""
        drivers = (ctypes.c_char_p * 2)(b"Zarr", None)
        dataset = self.library.GDALOpenEx(os.fsencode(path), _MULTIDIM | _VERBOSE, drivers, None, None)
        root = self.checked(dataset) and self.library.GDALDatasetGetRootGroup(ctypes.c_void_p(dataset))
        return self.checked(root)

    def checked(self, found: Any) -> Any:
        """Return what a function returned; raise what GDAL says where that is nothing."""
        if not found:
            raise RuntimeError(self.library.CPLGetLastErrorMsg().decode("utf-8", "replace") or "not opened")
        return found


class NotComparedError(Exception):
    """Values are not asked for: the reader may have them."""


class _GdalArray:
    """One array of GDAL."""

    def __init__(self, gdal: _Gdal, root: Any, path: str) -> None:
        self._gdal, library = gdal, gdal.library
        library.CPLErrorReset()
        name = os.fsencode(path)
        found = library.GDALGroupOpenMDArrayFromFullname(ctypes.c_void_p(root), name, None)
        self._array = ctypes.c_void_p(gdal.checked(found))
        count = ctypes.c_size_t()
        sides = library.GDALMDArrayGetDimensions(self._array, ctypes.byref(count))
        listed = ctypes.cast(sides, ctypes.POINTER(ctypes.c_void_p))
        self.shape = tuple(
            library.GDALDimensionGetSize(ctypes.c_void_p(listed[at])) for at in range(count.value)
        )
        self._type = ctypes.c_void_p(gdal.checked(library.GDALMDArrayGetDataType(self._array)))

    def __getitem__(self, index: Any) -> Any:
        import numpy as np

        library = self._gdal.library
        parts = () if index is ... else index
        kind = library.GDALExtendedDataTypeGetClass(self._type)
        number = library.GDALExtendedDataTypeGetNumericDataType(self._type)
        if kind or number not in _NUMERIC:
            raise NotComparedError("its elements are no numbers")
        out = np.zeros([each.stop - each.start for each in parts], _NUMERIC[number])
        rank = max(len(parts), 1)
        starts = (ctypes.c_uint64 * rank)(*(each.start for each in parts))
        counts = (ctypes.c_size_t * rank)(*out.shape)
        library.CPLErrorReset()
        done = library.GDALMDArrayRead(
            self._array, starts, counts, None, None, self._type, ctypes.c_void_p(out.ctypes.data), None, 0
        )
        self._gdal.checked(done)
        # It fills what it cannot read, and only says so.
        if library.CPLGetLastErrorType() >= _FAILURE:
            self._gdal.checked(None)
        return out


_FAILURE = 3


def _versions(request: Request) -> Iterator[Found]:
    import netCDF4

    yield {"program": "netcdf-c", "version": netCDF4.__netcdf4libversion__}


#: The module that brings each reader, and what reads with it.
READERS: dict[str, tuple[str, Callable[[Request], Iterator[Found]]]] = {
    "versions": ("netCDF4", _versions),
    "zarr-python": ("zarr", _by_zarr),
    "zarrs-python": ("zarrs", _by_zarrs),
    "fsspec": ("fsspec", _by_zarr),
    "icechunk": ("icechunk", _by_zarr),
    "xarray": ("xarray", _by_xarray),
    "kerchunk": ("kerchunk", _by_kerchunk),
    "virtualizarr": ("virtualizarr", _by_virtualizarr),
    "netcdf-c": ("netCDF4", _by_netcdf),
    "gdal of osgeo": ("osgeo.gdal", _by_gdal),
    "gdal of rasterio": ("rasterio", _by_gdal),
    "gdal": ("ctypes", _by_gdal),
}


if __name__ == "__main__":
    check.READERS = READERS
    check.main()
