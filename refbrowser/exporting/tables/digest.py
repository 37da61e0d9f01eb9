"""Digests of columns by their values: what is read again is compared with what was written."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.exporting.nested.growing import BufferName, GrowingBuffers
from refbrowser.exporting.nested.target_types import TargetType


def content_digest(content: Any, type: TargetType) -> bytes:
    """Return the SHA-256 of rows in the canonical form of a type, of which equal rows have the same."""
    digest = hashlib.sha256()

    def put(name: BufferName, values: npt.NDArray[Any]) -> None:
        digest.update(f"{name.name} {len(values)} ".encode())
        digest.update(np.ascontiguousarray(values).view(np.uint8).data)

    GrowingBuffers(type, put).add(content)
    return digest.digest()
