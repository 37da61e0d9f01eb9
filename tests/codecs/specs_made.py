"""Codecs as metadata of Zarr v3 names them."""

from __future__ import annotations

from typing import Any


def v3(name: str, **settings: Any) -> dict[str, Any]:
    """Return a codec with its settings."""
    return {"name": name, "configuration": settings}


#: Elements as bytes, as most arrays have them.
BYTES = v3("bytes", endian="little")
