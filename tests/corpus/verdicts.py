"""What is said of an array beside what another program reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from refbrowser.errors import RefbrowserError

Verdict = tuple[str, str]


def verdict_on(name: str, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Verdict:
    """Read an array with both and say whether they agree."""
    failed = ""
    try:
        wanted = np.asarray(theirs())
    except Exception as error:  # noqa: BLE001 - of foreign files
        failed = f"{name}: {type(error).__name__}: {error}"
    try:
        found = np.asarray(ours())
    except RefbrowserError as error:
        return ("both fail" if failed else "refused"), f"{name}: {error.message}"
    if failed:
        return "library fails", failed
    if found.shape != wanted.shape:
        return "wrong", f"{name}: shape {found.shape} / {wanted.shape}"
    if is_equal(found, wanted):
        return "agree", name
    return "wrong", f"{name}: {found.reshape(-1)[:3]} / {wanted.reshape(-1)[:3]} of {found.size} elements"


def is_equal(one: Any, other: Any) -> bool:
    """Tell whether arrays of one shape hold the same: texts whatever holds them, NaN like NaN."""
    if other.dtype.names is not None and one.dtype.names is not None:
        return len(one.dtype.names) == len(other.dtype.names) and all(
            is_equal(one[mine], other[yours])
            for mine, yours in zip(one.dtype.names, other.dtype.names, strict=True)
        )
    if {"S", "U", "O", "T"} & {one.dtype.kind, other.dtype.kind}:
        return list(map(_text, one.reshape(-1).tolist())) == list(map(_text, other.reshape(-1).tolist()))
    if other.dtype.kind in "fc":
        return np.array_equal(one.astype(other.dtype), other, equal_nan=True)
    return np.array_equal(one, other)


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return value.rstrip("\0 ") if isinstance(value, str) else np.asarray(value).tolist()
