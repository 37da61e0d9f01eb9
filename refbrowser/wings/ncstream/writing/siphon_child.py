"""Reads a stream with siphon, in a process of its own; it imports nothing of refbrowser.

It is run by its path. What it is asked and answers is what `refbrowser.exporting.check_child` says, which it
loads by its path, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any


def _loaded() -> Any:
    spec = spec_from_file_location("check_child", Path(__file__).parents[3] / "exporting" / "check_child.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = _loaded()


def _read(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    import importlib.metadata

    from siphon.cdmr import ncstream

    yield {"program": "siphon", "version": importlib.metadata.version("siphon")}
    with open(request["target"], "rb") as stream:
        ended = stream.seek(-4, 2)
        stream.seek(4)
        variables: list[tuple[str, Any]] = []
        header = None
        while stream.tell() < ended:
            magic = stream.read(4)
            found = ncstream.ncstream_table[magic](stream)
            if header is None:
                header = found
                yield from _stream_nodes(ncstream, "", header.root, variables)
                variables.sort(key=lambda item: item[1].dataType in _LAST)
                continue
            path, variable = variables.pop(0)
            yield {"reading": path}
            try:
                yield {
                    "of": path,
                    "box": [],
                    **check.values_found(request, _stream_values(ncstream, variable, found)),
                }
            except Exception as error:  # noqa: BLE001 - whatever other software raises is what it found
                yield {"failed": path, "error": f"{type(error).__name__}: {error}"}


#: Texts and opaque values: their messages come behind the others.
_LAST = (7, 13)
_STRUCTURE, _OPAQUE = 8, 13


def _stream_nodes(
    ncstream: Any, above: str, group: Any, variables: list[tuple[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield a group and its variables, and add these to `variables`."""
    attributes = dict(map(ncstream.unpack_attribute, group.atts))
    yield {"group": above or "/", "attributes": check.plain(attributes)}
    for variable in (*group.vars, *group.structs):
        path = f"{above}/{variable.name}"
        variables.append((path, variable))
        yield {
            "array": path,
            "shape": [each.length for each in variable.shape if not each.isVlen],
            "dimensions": [each.name for each in variable.shape],
            "attributes": check.plain(dict(map(ncstream.unpack_attribute, variable.atts))),
        }
    for below in group.groups:
        yield from _stream_nodes(ncstream, f"{above}/{below.name}", below, variables)


def _stream_values(ncstream: Any, variable: Any, values: Any) -> Any:
    """Return what siphon read as arrays of numbers or texts; structures by their fields."""
    import numpy as np

    if any(each.isVlen for each in variable.shape):
        return np.array([check.row_text(np.asarray(row)) for row in values], object)
    if variable.dataType == _STRUCTURE:
        return values.view(ncstream.struct_to_dtype(variable).newbyteorder(">"))
    if variable.dataType == _OPAQUE:
        return np.array([bytes(item).hex() for item in values], object)
    return values


if __name__ == "__main__":
    check.READERS["siphon"] = ("siphon.cdmr.ncstream", _read)
    check.main()
