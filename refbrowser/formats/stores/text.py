"""The text of a Version 1 reference document that points into a store: one gen rule for each array."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from math import prod
from typing import Any
from urllib.parse import quote

from refbrowser.formats.stores.layouts import ChunkLayout
from refbrowser.io.access import ZIP
from refbrowser.limits import LIMITS

#: The template of the root.
ROOT = "u"
#: Names of the dimensions of a rule; the template's is not among them.
_NAMES = "ijklmnopqrstvwxyz"
#: What a URL path holds unquoted, besides letters and digits.
_PLAIN = "/-._~!$&'()*+,;=:@"
_BASE64 = "base64:"
#: A brace that could begin an expression, here or with what follows the text.
_BEGIN = re.compile(r"\{(?=[{%#]|\Z)")
#: Values of a document that are left for what is edited.
_SPARE = 10_000
_HTTP = re.compile(r"https?://", re.IGNORECASE)


class StoreText:
    """Gathers what a document says of a store.

    Parameters
    ----------
    root
        URL or absolute path of the store, without ``/`` at its end.
    folder
        The leading folder below it that is looked into, with a ``/`` at its end; empty for none.
    """

    def __init__(self, root: str, folder: str = "") -> None:
        self._quotes = _HTTP.match(root) is not None
        self._root = f"{root}/{self._path(folder)}".rstrip("/")
        #: What stands before and after the path of a key in its URL.
        self._before, self._after = f"{{{{{ROOT}}}}}/", ""
        #: The rules.
        self.gen: list[Any] = []
        self._refs: dict[str, Any] = {}
        self._sizes = [0, 0]
        #: Beginnings of the keys of arrays that have no rule: no room is left, or none can spell them.
        self.left_out: list[str] = []

    def add_metadata(self, documents: Mapping[str, bytes]) -> None:
        """Add documents as they are stored."""
        self._refs |= {key: _inline(data) for key, data in documents.items()}

    def add_reference(self, key: str, *place: int, url: str | None = None) -> None:
        """Add a reference to what lies under `key`, or at `url`; `place` is offset and length of a range."""
        self._refs[key] = [_escaped(url) if url is not None else self._url(key), *place]

    def add_chunks(self, layout: ChunkLayout) -> None:
        """Add what makes the references of all chunks of an array, where it has any."""
        count = prod(layout.grid_shape)
        if count == 1:
            self.add_reference(layout.prefix + layout.encoding.encode((0,) * len(layout.grid_shape)))
        elif count:
            self._add_rule(layout)

    def _add_rule(self, layout: ChunkLayout) -> None:
        split = [axis for axis, length in enumerate(layout.grid_shape) if length > 1]
        if len(split) > min(len(_NAMES), LIMITS.dimensions_per_rule) or not _can_be_spelled(layout.prefix):
            self.left_out.append(layout.prefix)
            return
        names = dict(zip(split, _NAMES, strict=False))
        coords = [
            f"{{{{{names[axis]}}}}}" if axis in names else "0" for axis in range(len(layout.grid_shape))
        ]
        chunk = layout.encoding.spelled(coords)
        rule = {
            "key": _escaped(layout.prefix) + chunk,
            "url": self._before + _escaped(self._path(layout.prefix)) + chunk + self._after,
            "dimensions": {names[axis]: {"stop": layout.grid_shape[axis]} for axis in split},
        }
        values, size = 4 + 2 * len(split), len(rule["key"]) + len(rule["url"])
        if (
            len(self.gen) >= LIMITS.gen_rules
            or self._sizes[0] + values > LIMITS.json_values - _SPARE
            or self._sizes[1] + 2 * size > LIMITS.rules_source
        ):
            self.left_out.append(layout.prefix)
            return
        self._sizes[0] += values
        self._sizes[1] += 2 * size
        self.gen.append(rule)

    def _url(self, key: str) -> str:
        path = self._path(key)
        if "{" in path or "}" in path:
            # fsspec takes any brace beside a template for one.
            template, root = f"{{{{{ROOT}}}}}", _escaped(self._root)
            before, after = (text.replace(template, root) for text in (self._before, self._after))
            return before + _escaped(path) + after
        return self._before + path + self._after

    def _path(self, key: str) -> str:
        return quote(key, safe=_PLAIN) if self._quotes else key

    @property
    def templates(self) -> dict[str, str]:
        """The templates of the document."""
        return {ROOT: _escaped(self._root)}

    def parts(self) -> tuple[bytes, bytes]:
        """Return the document's text up to the opening bracket of `refs`, and the entries of `refs`."""
        outer = {"version": 1, "templates": self.templates, "gen": self.gen, "refs": {}}
        return _json(outer)[:-2], _json(self._refs)[1:-1]


class ZipText(StoreText):
    """Gathers what a document says of a store in a zip archive: each chunk is a member of that.

    Parameters
    ----------
    archive
        URL or absolute path of the archive.
    """

    def __init__(self, archive: str, folder: str = "") -> None:
        super().__init__(archive)
        self._quotes = False
        self._root = archive
        self._before, self._after = ZIP + _escaped(folder), f"::{{{{{ROOT}}}}}"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _inline(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _BASE64 + base64.b64encode(data).decode("ascii")
    if text.startswith(_BASE64):
        return _BASE64 + base64.b64encode(data).decode("ascii")
    return text


def _escaped(text: str) -> str:
    """Return a text as a template that prints it."""
    return _BEGIN.sub("{{ '{' }}", text) if "{" in text else text


def _can_be_spelled(text: str) -> bool:
    """Whether a template can print a text: line ends become one kind in it."""
    return "\r" not in text and "\n" not in text
