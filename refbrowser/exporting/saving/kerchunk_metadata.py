"""Metadata of Zarr v2 spelled as kerchunk spells it (``hdf.py``), for readers that know no other way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from refbrowser.model.netcdf.attributes import FILL_ATTRIBUTE
from refbrowser.references.content.value_table import json_of
from refbrowser.references.document.document import Document
from refbrowser.references.edits.many_edits import SetReferences

_ARRAY, _ATTRIBUTES = ".zarray", ".zattrs"


def is_said_twice(attributes: Mapping[str, Any], array: Mapping[str, Any]) -> bool:
    """Tell whether ``_FillValue`` is a floating number that is the fill value of the array anyway.

    VirtualiZarr takes the attribute of floats for base64, and fails; xarray goes by the fill value.

    Parameters
    ----------
    attributes, array
        The members of ``.zattrs`` and ``.zarray``.
    """
    dtype, said = array.get("dtype"), attributes.get(FILL_ATTRIBUTE)
    is_float = isinstance(dtype, str) and dtype[1:2] == "f"
    return is_float and said is not None and said == array.get("fill_value")


def with_filters_alone(array: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of ``.zarray`` with the compressor as the last filter.

    VirtualiZarr 2.5 looks at filters alone. It is the same pipeline: filters come before the compressor.
    """
    compressor = array.get("compressor")
    if not isinstance(compressor, dict):
        return dict(array)
    return {**array, "compressor": None, "filters": [*(array.get("filters") or []), compressor]}


def as_kerchunk_spells(document: Document) -> Document:
    """Return the document of a file with its metadata of Zarr v2 as kerchunk writes it."""
    values = tuple(_changed(document))
    return document.apply(SetReferences(values)) if values else document


def _changed(document: Document) -> Iterator[tuple[str, str]]:
    for key in document.expansion.metadata_keys():
        prefix, slash, name = key.rpartition("/")
        if name != _ARRAY:
            continue
        array = _members(document, key)
        after = with_filters_alone(array)
        if after != array:
            yield key, json_of(after).decode()
        key = f"{prefix}{slash}{_ATTRIBUTES}"
        attributes = _members(document, key)
        if is_said_twice(attributes, array):
            del attributes[FILL_ATTRIBUTE]
            yield key, json_of(attributes).decode()


def _members(document: Document, key: str) -> dict[str, Any]:
    data = document.expansion.value(key)
    found = json.loads(data) if data else {}
    return found if isinstance(found, dict) else {}
