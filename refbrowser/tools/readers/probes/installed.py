"""The readers that are installed here, and their versions; none of them is loaded for that."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from refbrowser.codecs.workers.confinement import clean_environment
from refbrowser.io.cancel import CancelToken
from refbrowser.io.processes import run_program
from refbrowser.limits import LIMITS

#: What reads with readers, in a process of its own.
CHILD = Path(__file__).with_name("reader_child.py")
#: What it can be asked for: stores in folders and in zip files, references and repositories.
FORMS = ("store", "zip-store", "refs-v0", "refs-v1", "refs-parquet", "icechunk")
#: The distribution that brings each reader of Python, what it is imported as, and what it needs besides.
_PACKAGES = {
    "zarr-python": ("zarr", "zarr", ()),
    "xarray": ("xarray", "xarray", ("zarr",)),
    "icechunk": ("icechunk", "icechunk", ("zarr",)),
    "fsspec": ("fsspec", "fsspec", ("zarr",)),
    "kerchunk": ("kerchunk", "kerchunk", ("fsspec", "xarray", "zarr")),
    "virtualizarr": ("virtualizarr", "virtualizarr", ("obstore", "obspec_utils", "zarr")),
    "zarrs-python": ("zarrs", "zarrs", ("zarr",)),
}
#: The distributions that bring GDAL, and the programs of `reader_child` that read with it.
_GDAL_PACKAGES = (("gdal", "osgeo", "gdal of osgeo"), ("rasterio", "rasterio", "gdal of rasterio"))
#: Where systems have their libraries.
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib")
_GDAL_FILE = re.compile(r"libgdal[^/]*?\.(?:so\.\d+\.|)(\d+\.\d+\.\d+)(?:\.dylib)?\Z")


@dataclass(frozen=True, slots=True)
class InstalledReader:
    """A reader that is installed.

    Attributes
    ----------
    name
        As the rules of readers have it: ``zarr-python``.
    version
        Of the library that reads: of netCDF-C and GDAL, not of what brings them.
    program
        What `reader_child` knows it by.
    library
        The path of its library, where no package brings it; empty elsewhere.
    """

    name: str
    version: str
    program: str
    library: str = ""


@cache
def available() -> tuple[InstalledReader, ...]:
    """Return the readers that are installed for this Python, and GDAL where the system has it."""
    return (*_packages(), *_netcdf(), *_gdal())


def _packages() -> Iterator[InstalledReader]:
    for name, (distribution, module, others) in _PACKAGES.items():
        version = _version(distribution)
        if version and all(find_spec(each) is not None for each in (module, *others)):
            yield InstalledReader(name, version, name)


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _netcdf() -> Iterator[InstalledReader]:
    """Yield netCDF-C, which only its own library knows the version of."""
    if find_spec("netCDF4") is None:
        return
    found: list[str] = []

    def take(line: bytes) -> None:
        found.append(json.loads(line).get("version", ""))

    asked = {"program": "versions", "target": str(CHILD), "memory": LIMITS.check_memory}
    command = [sys.executable, "-I", str(CHILD)]
    given = json.dumps(asked).encode()
    run_program(command, given, take, LIMITS.try_time, CancelToken(), clean_environment())
    if any(found):
        yield InstalledReader("netcdf-c", found[0], "netcdf-c")


def _gdal() -> Iterator[InstalledReader]:
    """Yield GDAL as packages of Python bring it; where none does, as the system has it."""
    for distribution, module, program in _GDAL_PACKAGES:
        if not _version(distribution) or find_spec(module) is None:
            continue
        # Its bindings have its own version; what only contains it tells by the name of its file.
        version = _version(distribution) if module == "osgeo" else _bundled(distribution)
        if version:
            yield InstalledReader("gdal", version, program)
            return
    for path in _system_libraries():
        found = _GDAL_FILE.search(path.resolve().name)
        if found:
            yield InstalledReader("gdal", found[1], "gdal", str(path))
            return


def _bundled(distribution: str) -> str:
    """Return the version of GDAL that a wheel contains; empty where it contains none."""
    names = [each.name for each in importlib.metadata.files(distribution) or ()]
    found = next((match for match in map(_GDAL_FILE.search, names) if match), None)
    return "" if found is None else found[1]


def _system_libraries() -> Iterator[Path]:
    for folder in map(Path, _LIBRARIES):
        yield from sorted((*folder.glob("libgdal.*"), *folder.glob("*/libgdal.*")))
