"""Values of arrays in a form that all readers share, and whether two of them are equal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain_value(value: Any) -> Any:
    """Return a value as the worker of the old environment tells it (`awkward0_worker.plain`)."""
    if isinstance(value, bytes | np.bytes_):
        return {"#bytes": bytes(value).decode("latin-1")}
    if isinstance(value, np.datetime64 | np.timedelta64):
        return {"#time": str(value)}
    if isinstance(value, complex | np.complexfloating):
        return {"#complex": [value.real, value.imag]}
    if isinstance(value, np.void) and value.dtype.names is not None:
        return {name: plain_value(value[name]) for name in value.dtype.names}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {name: plain_value(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return {str(index): plain_value(each) for index, each in enumerate(value)}
    if isinstance(value, list | np.ndarray):
        return [plain_value(each) for each in value]
    return value


def same(one: Any, other: Any) -> bool:
    """Tell whether two plain values are equal: NaN equals NaN, and true is not 1 nor 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    return bool(one == other)


def read_values(array: Any, start: int = 0, stop: int | None = None) -> Any:
    """Return values of an array of an opened dataset, all rows unless told which."""
    if not array.shape:
        value = array[()]
        return plain_value(value.item() if isinstance(value, np.ndarray) else value)
    if array.node.nested is None:
        return plain_value(list(array[start:stop]))
    import awkward

    values = array.to_awkward(start, stop)
    if array.node.nested.type.kind == "number" and array.node.nested.type.dtype.kind in "mM":
        return plain_value(list(awkward.to_numpy(values)))
    return plain_value(awkward.to_list(values))
