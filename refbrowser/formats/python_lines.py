"""Lines of Python that make a reference document for a file of data, and those that were made of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from refbrowser.formats.sniffing import DOCUMENTS, ENTRIES, FileKind

#: Files beside a file of data that are looked into, and bytes of each.
_LOOKED_INTO, _LOOKED_AT = 200, 1 << 20
_WRITE = """
with open({target}, "w") as file:
    json.dump(references, file)
"""
_ONE = """\
# pip install {packages}
import json

from kerchunk.{module} import {name}

path = {path!r}
references = {make}
"""
_STORE = """\
import json
from pathlib import Path

path = {path!r}
metadata = (".zgroup", ".zarray", ".zattrs", ".zmetadata", "zarr.json")
references = {{}}
for file in sorted(Path(path).rglob("*")):
    if file.is_file():
        key = file.relative_to(path).as_posix()
        references[key] = file.read_text() if file.name in metadata else [str(file)]
"""
#: Packages, module of kerchunk, what is imported from it, and the call.
_MAKERS = {
    FileKind.HDF4: ("kerchunk", "hdf4", "HDF4ToZarr", "HDF4ToZarr(path).translate()"),
}


def python_lines(kind: FileKind, path: str) -> str:
    """Return lines of Python that make a reference document for a file of data; empty where there are none.

    They run as pasted once the packages that their first line names are installed, and write to
    `made_path`.
    """
    stem = path.rstrip("/")
    name = stem.rpartition("/")[2]
    is_local = "://" not in stem
    write = _WRITE.format(target='path + ".json"' if is_local else repr(f"{name}.json"))
    if kind is FileKind.ZARR:
        return f"{_STORE.format(path=stem)}{write}"
    if kind not in _MAKERS:
        return ""
    packages, module, imported, make = _MAKERS[kind]
    return f"{_ONE.format(packages=packages, module=module, name=imported, path=stem, make=make)}{write}"


def netcdf_opening(path: str, group: str, options: Sequence[str]) -> str:
    """Return the call with which xarray opens a group of a netCDF file."""
    named = [f"group={group!r}"] if group else []
    return f"xr.open_dataset({', '.join([repr(path), *named, *options])})"


def made_path(kind: FileKind, path: str) -> str | None:
    """Return where the lines write the (first) document that they make; None where that is not known."""
    stem = path.rstrip("/")
    if "://" in stem:
        return None
    return f"{stem}.0.json" if kind is FileKind.GRIB else f"{stem}.json"


def references_beside(path: str, check: Callable[[], None] = lambda: None) -> tuple[str, ...]:
    """Return the reference documents in the folder of a local file of data that name it, its own ones first.

    Those that are called as it is (``crm.refs.json`` beside ``crm.nc``) count whatever is in them; of others
    the first bytes are searched for its name.

    Parameters
    ----------
    check
        Called before each file; ends the search by raising.

    Raises
    ------
    OSError
        The folder cannot be listed.
    """
    folder, name = os.path.split(os.path.abspath(path))
    stem = os.path.splitext(name)[0]
    with os.scandir(folder) as entries:
        listed = [entry.name for entry, _ in zip(entries, range(ENTRIES), strict=False)]
    documents = sorted(each for each in listed if each.lower().endswith(DOCUMENTS))
    own = [each for each in documents if each.startswith((f"{name}.", f"{stem}."))]
    others = [each for each in documents if each not in own][:_LOOKED_INTO]
    found = []
    for each in (*own, *others):
        check()
        if _is_regular(place := os.path.join(folder, each)) and (each in own or _names(place, name)):
            found.append(place)
    return tuple(found)


def _is_regular(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _names(path: str, name: str) -> bool:
    """Return whether a file of text has a name in its first bytes, as the end of a path or URL."""
    try:
        with open(path, "rb") as file:
            head = file.read(_LOOKED_AT)
    except OSError:
        return False
    written = name.encode()
    return any(before + written + b'"' in head for before in (b"/", b'"', b"}"))
