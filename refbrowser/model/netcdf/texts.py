"""Bytes that are text to netCDF: elements of ``char`` and ``string`` arrays of NCZarr (nczarr, section 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.model.netcdf.element_types import element_type
from refbrowser.model.netcdf.types import AtomicType
from refbrowser.model.nodes import ArrayNode, Flavour, Hierarchy


def is_text(hierarchy: Hierarchy, node: ArrayNode) -> bool:
    """Tell whether the bytes of an array's elements are text: NCZarr and streams say so, Zarr does not."""
    if node.dtype is None or node.dtype.kind != "S":
        return False
    if hierarchy.has_characters:
        return True
    if hierarchy.flavour is not Flavour.NCZARR:
        return False
    return element_type(node, fixed_strings=True)[0] in (AtomicType.CHAR, AtomicType.STRING)


def as_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return elements of bytes as texts without the NULs that fill them up.

    What is no UTF-8 (a character that was cut, another encoding) stays bytes.
    """
    texts = np.empty(np.shape(values), object)
    flat = texts.reshape(-1)
    for place, data in enumerate(np.asarray(values).reshape(-1).tolist()):
        flat[place] = _text(data)
    return texts


def _text(data: bytes) -> str | bytes:
    ended = data.split(b"\0", 1)[0]
    try:
        return ended.decode("utf-8")
    except UnicodeDecodeError:
        return data
