"""A store in memory."""

from __future__ import annotations

from collections.abc import Mapping

from refbrowser.formats.zarr_draft.stores.base import Store, check_key


class MemoryStore(Store):
    """Keys and values in a dictionary.

    Parameters
    ----------
    values
        What it holds at first; copied.
    """

    def __init__(self, values: Mapping[str, bytes] | None = None) -> None:
        self._values = dict(values or {})

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, None where it is absent."""
        return self._values.get(key)

    def set(self, key: str, value: bytes) -> None:
        """Store a value."""
        check_key(key)
        self._values[key] = bytes(value)

    def delete(self, key: str) -> None:
        """Delete a key; nothing happens where it is absent."""
        self._values.pop(key, None)

    def list(self) -> frozenset[str]:
        """Return all keys."""
        return frozenset(self._values)
