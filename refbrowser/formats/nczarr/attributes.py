"""Values of attributes by the types that NCZarr records beside them (nczarr, section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from refbrowser.errors import quoted
from refbrowser.model.netcdf.attributes import values_of_type
from refbrowser.model.netcdf.types import ATOMIC_OF, AtomicType

_NUMBERS = {dtype.str[1:] for dtype in ATOMIC_OF}
_TYPE = re.compile(r"(?P<order>[<>|]?)(?P<kind>[iufSUJ])(?P<size>[0-9]{1,9})\Z")


def netcdf_type(written: Any) -> str | None:
    """Return the netCDF type that a dtype stands for, or None where there is none (``|J0``).

    Char is ``>S1``, of old writers ``<U1`` or ``<S1``; ``|S1`` and longer texts are string.
    """
    match = _TYPE.match(written) if isinstance(written, str) else None
    if match is None or match["kind"] == "J":
        return None
    if match["kind"] == "U":
        return "char" if match["size"] == "1" else "string"
    if match["kind"] == "S":
        return "char" if match["size"] == "1" and match["order"] in ("<", ">") else "string"
    if match["kind"] + match["size"] not in _NUMBERS:
        return None
    return str(ATOMIC_OF[np.dtype(match["kind"] + match["size"])])


def typed_attributes(
    attributes: Mapping[str, Any], types: Any, warn: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the attributes as their types have them, and the netCDF types by name.

    Char text that netcdf-c stored as JSON becomes its text again; ``NaN`` and infinities of numbers become
    floats. What does not fit its type stays as it is, without type.

    Parameters
    ----------
    attributes
        As stored, without internal ones.
    types
        Member ``types``: dtypes by name.
    warn
        Is given the text of each warning.
    """
    recorded: Mapping[str, Any] = {}
    if isinstance(types, dict):
        recorded = types
    elif types is not None:
        warn("'types' of the attributes is not an object")
    values, named = {}, {}
    for name, value in attributes.items():
        values[name] = value
        kind = netcdf_type(recorded.get(name))
        if kind is None:
            continue
        try:
            values[name], named[name] = typed_value(value, kind), kind
        except ValueError:
            warn(f"attribute {quoted(name)} is {quoted(value)}, which is not of its type {kind}")
    return values, named


def typed_value(value: Any, kind: str) -> Any:
    """Return a stored value as a netCDF type has it: a list where it is stored as a list.

    Raises
    ------
    ValueError
        It is not of the type.
    """
    type = AtomicType(kind)
    values = values_of_type(value, type)
    if values is None:
        raise ValueError
    if type.is_float:
        # The digits that were written, not those of the float that they become.
        items = value if isinstance(value, list) else [value]
        values = tuple(
            as_read if isinstance(item, str) else float(item)
            for item, as_read in zip(items, values, strict=True)
        )
    return list(values) if isinstance(value, list) and type is not AtomicType.CHAR else values[0]
