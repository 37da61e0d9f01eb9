"""What numpy cannot say of the fields of a structure: texts, rows of their own length, names of values.

Kept in the metadata of the field's type, as h5py does: ``vlen`` is `str`, `bytes` or the type of the
elements of a row (a structure: the rows of a sequence), ``enum`` has names by value. It takes no part in
comparisons of types and is lost where a type is made anew (another byte order): it is for showing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = type[str] | type[bytes] | np.dtype[Any]


def rows_type(elements: Rows) -> np.dtype[Any]:
    """Return the type of objects that are texts, bytes, or rows of elements with a length of their own."""
    return np.dtype("O", metadata={"vlen": elements})


def named_values(dtype: np.dtype[Any], names: Mapping[int, str], name: str = "") -> np.dtype[Any]:
    """Return a type of integers whose values have names; `name` is that of the enumeration."""
    return np.dtype(dtype, metadata={"enum": dict(names), "enum_name": name})


def rows_of(dtype: np.dtype[Any]) -> Rows | None:
    """Return what objects of a type hold, None where it is not known."""
    found = _facts(dtype).get("vlen")
    return found if isinstance(found, np.dtype) or found in (str, bytes) else None


def names_of(dtype: np.dtype[Any]) -> dict[int, str]:
    """Return the names of values of a type of integers; empty where they have none."""
    found = _facts(dtype).get("enum", {})
    return dict(found) if isinstance(found, Mapping) else {}


def enum_name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of the enumeration that values of a type are of; empty where it has none."""
    return str(_facts(dtype).get("enum_name", ""))


def leaf_fields(dtype: np.dtype[Any], above: str = "") -> Iterator[tuple[str, np.dtype[Any]]]:
    """Yield the fields of a structure that are none themselves: names joined by points, and their types."""
    base = dtype.base
    if base.names is None or base.fields is None:
        yield above, base
        return
    for name in base.names:
        yield from leaf_fields(base.fields[name][0], f"{above}.{name}" if above else name)


def without_names(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values whose type names none of them, for files that hold no names; objects stay."""
    has_names = any(leaf.metadata for _, leaf in leaf_fields(values.dtype))
    return values.view(_bare_type(values.dtype)) if has_names and not values.dtype.hasobject else values


def _bare_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.subdtype is not None:
        return np.dtype((_bare_type(dtype.base), dtype.shape))
    if dtype.names is None or dtype.fields is None:
        return np.dtype(dtype.str) if dtype.metadata else dtype
    fields = [dtype.fields[name] for name in dtype.names]
    return np.dtype(
        {
            "names": dtype.names,
            "formats": [_bare_type(field[0]) for field in fields],
            "offsets": [field[1] for field in fields],
            "itemsize": dtype.itemsize,
        }
    )


def _facts(dtype: np.dtype[Any]) -> Mapping[str, Any]:
    return dtype.metadata or {}
