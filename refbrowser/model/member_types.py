"""What numpy cannot say of the fields of a structure: texts, rows of their own length, names of values.

Kept in the metadata of the field's type, in the spelling of h5py: ``vlen`` is `str`, `bytes` or the type of
the elements of a row (a structure: the rows of a sequence), ``enum`` has values by name. It takes no part in
comparisons of types and is lost where a type is made anew (another byte order): it is for showing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Rows = type[str] | type[bytes] | np.dtype[Any]


def rows_type(elements: Rows) -> np.dtype[Any]:
    """Return the type of objects that are texts, bytes, or rows of elements with a length of their own."""
    return np.dtype("O", metadata={"vlen": elements})


def named_values(dtype: np.dtype[Any], names: Mapping[int, str]) -> np.dtype[Any]:
    """Return a type of integers whose values have names."""
    return np.dtype(dtype, metadata={"enum": {name: value for value, name in names.items()}})


def rows_of(dtype: np.dtype[Any]) -> Rows | None:
    """Return what objects of a type hold, None where it is not known."""
    found = (dtype.metadata or {}).get("vlen")
    return found if isinstance(found, np.dtype) or found in (str, bytes) else None


def names_of(dtype: np.dtype[Any]) -> dict[int, str]:
    """Return the names of values of a type of integers; empty where they have none."""
    found = (dtype.metadata or {}).get("enum", {})
    return {value: name for name, value in found.items()} if isinstance(found, Mapping) else {}
