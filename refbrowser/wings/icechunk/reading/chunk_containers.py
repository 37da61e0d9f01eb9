"""Where named virtual chunk containers of an Icechunk repository lie: beginnings of URLs by name.

The configuration of version 1 is a small file of YAML which the library writes; that of version 2 a
FlexBuffer. Nothing else of either is used here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from refbrowser.wings.icechunk.reading.flatbuffers import damaged

_SCHEME = "vcc://"
_MEMBER = re.compile(r"^( +)(name|url_prefix): +(.*?) *$", re.MULTILINE)
_MOST = 1 << 20
_DEEP, _VALUES = 32, 100_000
#: Types of FlexBuffers that are looked into.
_NULL, _INT, _UINT, _KEY, _STRING, _MAP, _VECTOR, _BOOL = 0, 1, 2, 4, 5, 9, 10, 26


def expanded(url: str, containers: Mapping[str, str]) -> str:
    """Return where a location leads: ``vcc://name/path`` below the container of that name.

    Paths and keys are escaped in a repository, and nowhere else but in URLs of http.
    """
    if url.startswith(_SCHEME):
        name, _, path = url.removeprefix(_SCHEME).partition("/")
        # What leads nowhere is told by its URL where it is read: its protocol is not known.
        url = containers[name] + path if name in containers else url
    return url if url.startswith(("http:", "https:")) else unquote(url)


def containers_of_yaml(data: bytes) -> dict[str, str]:
    """Return the named containers in a configuration of version 1."""
    text = data[:_MOST].decode("utf-8", "replace")
    found: dict[str, str] = {}
    said: dict[str, str] = {}
    for indent, member, value in _MEMBER.findall(text.partition("virtual_chunk_containers:")[2]):
        if len(indent) != 4:
            continue
        if member in said:
            said = {}
        said[member] = value.strip("'\"")
        if len(said) == 2 and said["name"] not in ("null", "~", ""):
            found[said["name"]] = said["url_prefix"]
    return found


def containers_of_flexbuffer(data: bytes) -> dict[str, str]:
    """Return the named containers in a configuration of version 2; none where it cannot be read."""
    try:
        config = _Flex(data).root() if data else None
    except (IndexError, RecursionError, ValueError):
        raise damaged("its configuration cannot be read") from None
    told = config.get("virtual_chunk_containers") if isinstance(config, dict) else None
    each = told.values() if isinstance(told, dict) else ()
    pairs = [(one.get("name"), one.get("url_prefix")) for one in each if isinstance(one, dict)]
    return {name: url for name, url in pairs if isinstance(name, str) and isinstance(url, str)}


class _Flex:
    """The values of a FlexBuffer: maps, vectors, texts and whole numbers; None stands for others."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = _VALUES

    def root(self) -> Any:
        """Return the root: its type and width stand at the end."""
        width, packed = self._data[-1], self._data[-2]
        return self._value(len(self._data) - 2 - width, width, packed, _DEEP)

    def _number(self, at: int, width: int) -> int:
        if at < 0 or width not in (1, 2, 4, 8) or at + width > len(self._data):
            raise IndexError
        return int.from_bytes(self._data[at : at + width], "little")

    def _value(self, at: int, width: int, packed: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth < 0:
            raise RecursionError
        kind, inner = packed >> 2, 1 << (packed & 3)
        if kind in (_INT, _UINT, _BOOL):
            return self._number(at, width)
        if kind not in (_KEY, _STRING, _MAP, _VECTOR):
            return None
        start = at - self._number(at, width)
        if start < 0:
            raise IndexError
        if kind == _KEY:
            return self._key(start)
        size = self._number(start - inner, inner)
        if kind == _STRING:
            if start + size > len(self._data):
                raise IndexError
            return self._data[start : start + size].decode("utf-8", "replace")
        if size > self._left:
            raise RecursionError
        types = start + size * inner
        values = [
            self._value(start + n * inner, inner, self._data[types + n], depth - 1) for n in range(size)
        ]
        if kind == _VECTOR:
            return values
        keys = start - 3 * inner - self._number(start - 3 * inner, inner)
        step = self._number(start - 2 * inner, inner)
        names = [self._key(keys + n * step - self._number(keys + n * step, step)) for n in range(size)]
        return dict(zip(names, values, strict=True))

    def _key(self, at: int) -> str:
        if at < 0:
            raise IndexError
        return self._data[at : self._data.index(b"\0", at)].decode("utf-8", "replace")
