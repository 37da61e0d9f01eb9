"""Lines of Python that make a reference document for a file of data."""

from __future__ import annotations

from refbrowser.formats.sniffing import FileKind

_WRITE = """\
with open({target!r}, "w") as file:
    json.dump(references, file)
"""
_ONE = """\
# pip install {packages}
import json

from kerchunk.{module} import {name}

references = {make}
"""
_GRIB = """\
# pip install kerchunk cfgrib xarray
import json

from kerchunk.grib2 import scan_grib

# One set of references for each message of the file.
for number, references in enumerate(scan_grib({path!r})):
    with open(f"{stem}.{{number}}.json", "w") as file:
        json.dump(references, file)
"""
_TIFF = """\
# pip install tifffile zarr
from tifffile import TiffFile

with TiffFile({path!r}) as tiff, tiff.aszarr() as store:
    store.write_fsspec({target!r}, url={folder!r})
"""
_STORE = """\
import json
from pathlib import Path

store = Path({path!r})
metadata = (".zgroup", ".zarray", ".zattrs", ".zmetadata", "zarr.json")
references = {{}}
for file in sorted(store.rglob("*")):
    if file.is_file():
        key = file.relative_to(store).as_posix()
        references[key] = file.read_text() if file.name in metadata else [str(file)]
"""
#: Packages, module of kerchunk, what is imported from it, and the call.
_MAKERS = {
    FileKind.NETCDF3: ("kerchunk scipy", "netCDF3", "NetCDF3ToZarr", "NetCDF3ToZarr({path!r}).translate()"),
    FileKind.HDF5: ("kerchunk h5py", "hdf", "SingleHdf5ToZarr", "SingleHdf5ToZarr({path!r}).translate()"),
    FileKind.HDF4: ("kerchunk", "hdf4", "HDF4ToZarr", "HDF4ToZarr({path!r}).translate()"),
    FileKind.FITS: ("kerchunk astropy", "fits", "process_file", "process_file({path!r})"),
}


def python_lines(kind: FileKind, path: str) -> str:
    """Return lines of Python that make a reference document for a file of data; empty where there are none.

    They run as pasted once the packages that their first line names are installed.
    """
    stem = path.rstrip("/")
    target = f"{stem}.json"
    write = _WRITE.format(target=target)
    if kind is FileKind.GRIB:
        return _GRIB.format(path=path, stem=_inside_f_string(stem))
    if kind is FileKind.TIFF:
        folder = stem.rpartition("/")[0] or "."
        return _TIFF.format(path=path, target=target, folder=folder)
    if kind is FileKind.ZARR:
        return f"{_STORE.format(path=path)}{write}"
    if kind not in _MAKERS:
        return ""
    packages, module, name, make = _MAKERS[kind]
    lines = _ONE.format(packages=packages, module=module, name=name, make=make.format(path=path))
    return f"{lines}{write}"


def _inside_f_string(text: str) -> str:
    """Return text so that it stands for itself between double quotes of an f-string."""
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if character in "{}":
        return character * 2
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else ascii(character)[1:-1]
