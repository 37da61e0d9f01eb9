"""The text that other software reads, made of values: Version 1, and Zarr v2 of nodes that had no text.

No other place writes templates and rules.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from json.encoder import encode_basestring as quote_json
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.model.fill_values import plain_fill
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.references.content.chunk_codes import BITS, Rows, unpack_many
from refbrowser.references.content.expansion import RuleIndex
from refbrowser.references.content.reference_values import ValueKind
from refbrowser.references.content.refs import Patch, References
from refbrowser.references.content.table import ODD, WHOLE
from refbrowser.references.content.value_table import ValueTable, json_of
from refbrowser.references.rules.layouts import ChunkLayout, RangeLayout

#: The template of the place that most URLs begin with.
ROOT = "u"
_TEMPLATE = f"{{{{{ROOT}}}}}"
#: Names of the dimensions of a rule; the template's is not among them.
_NAMES = "ijklmnopqrstvwxyz"
#: A brace that could begin an expression, here or with what follows the text.
_BEGIN = re.compile(r"\{(?=[{%#]|\Z)")
#: Values of a document that are left for what is edited.
_SPARE = 10_000
#: Entries that are written together.
_PAGE = 16_384
_NO_TEXTS: Mapping[int, bytes] = {}


def text_of(place: str, layouts: Sequence[ChunkLayout], refs: References, *, plain: bool = False) -> MadeText:
    """Return the text of a manifest document, and its edits as they are in that.

    Parameters
    ----------
    plain
        Without templates and rules: each reference is written out.

    Raises
    ------
    RefbrowserError
        E_BUDGET: bytes stand in place of a chunk of an array that is too large to be written out.
    """
    assert isinstance(refs.table, ValueTable)
    texts = {row: patch.raw for row, patch in refs.replaced.items()} if plain else {}
    return MadeText(place, layouts, refs.table, _overriding(layouts, refs), plain=plain, texts=texts)


def is_plain_url(url: str) -> bool:
    """Tell whether a URL is the same whether or not a reader takes it for a template."""
    return not _BEGIN.search(url)


def _overriding(layouts: Sequence[ChunkLayout], refs: References) -> dict[str, tuple[int, Patch]]:
    """Return the edited entries that stand in place of chunks of layouts, with the number of each layout."""
    patches = [*refs.replaced.values(), *refs.appended.values()]
    if not patches or not layouts:
        return {}
    index = RuleIndex(each.key_begins for each in layouts)
    found = {}
    for patch in patches:
        for number in index.giving(patch.key):
            if layouts[number].find(patch.key) is not None:
                found[patch.key] = number, patch
    return found


class MadeText:
    """A text as it is made.

    Parameters
    ----------
    place
        What most URLs begin with.
    overriding
        Edited entries in place of chunks of layouts: key to the number of the layout and the entry.
    plain
        As `text_of` has it.
    texts
        The values of some rows that are no references, where they are others than in the table.

    Attributes
    ----------
    left_out
        Beginnings of the keys of arrays that have no rule: no room is left, or none can spell them.
    """

    def __init__(
        self,
        place: str,
        layouts: Sequence[ChunkLayout],
        table: ValueTable,
        overriding: dict[str, tuple[int, Patch]],
        *,
        plain: bool = False,
        texts: Mapping[int, bytes] = _NO_TEXTS,
    ) -> None:
        self._place = place
        self._plain = plain
        self._texts = texts
        self._table = table
        self._overriding = overriding
        self._sizes = [0, 0]
        self._gen: list[Any] = []
        self.left_out: list[str] = []
        # A rule gives no bytes: where these stand in place of a chunk, the array is written out.
        spread = {number for number, patch in overriding.values() if patch.value.kind is not None}
        if plain:
            spread = set(range(len(layouts)))
        self._spread = [layouts[number] for number in sorted(spread)]
        for layout in self._spread:
            if not plain and layout.count > LIMITS.write_out_question:
                message = f"the {layout.count} references of {quoted(layout.prefix)} would be written out"
                raise RefbrowserError(ErrorKind.BUDGET, message, Place(key=layout.prefix))
        for number, layout in enumerate(layouts):
            if number not in spread:
                self._add_rule(layout)
        for number, patch in overriding.values():
            if number not in spread:
                self._gen.append(_rule_of_one(patch))

    # Text

    def chunks(self) -> Iterator[bytes]:
        """Yield the text of the entries that were found, without edits."""
        outer: dict[str, Any] = {"version": 1, "refs": {}}
        if not self._plain:
            outer = {"version": 1, "templates": {ROOT: _escaped(self._place)}, "gen": self._gen, "refs": {}}
        yield json_of(outer)[:-2]
        before = b""
        for entries in (self._entries(), self._spread_out()):
            for block in entries:
                yield before + block
                before = b","
        yield b"}}"

    def _entries(self) -> Iterator[bytes]:
        table = self._table
        spelled = [quote_json(self._spelled(url)) for url in table.urls]
        for start in range(0, len(table), _PAGE):
            rows = np.arange(start, min(start + _PAGE, len(table)))
            columns = (table.url[rows], table.offset[rows], table.length[rows])
            if (alike := _ranges_of_one_array(table, rows, columns, spelled)) is not None:
                yield alike
                continue
            parts = zip(
                rows.tolist(), table.keys(rows.tolist()), *map(np.ndarray.tolist, columns), strict=True
            )
            lines = []
            for row, key, url, offset, length in parts:
                if url < 0:
                    value = (self._texts.get(row) or table.value_text(row)).decode()
                else:
                    value = f"[{spelled[url]}]" if length == WHOLE else f"[{spelled[url]},{offset},{length}]"
                lines.append(f"{quote_json(key)}:{value}")
            yield ",".join(lines).encode()

    def _spread_out(self) -> Iterator[bytes]:
        for layout in self._spread:
            for start in range(0, layout.count, _PAGE):
                rows = layout.rows(start, start + _PAGE)
                nowhere = [None] * len(rows)
                ranges = zip(rows.offsets or nowhere, rows.lengths or nowhere, strict=True)
                lines = [
                    f"{quote_json(str(key))}:[{quote_json(self._spelled(str(url)))}{_range_text(*where)}]"
                    for key, url, where in zip(rows.keys, rows.urls, ranges, strict=True)
                    if key not in self._overriding
                ]
                if lines:
                    yield ",".join(lines).encode()

    def _spelled(self, url: str) -> str:
        """Return a URL as a template that prints it."""
        if self._plain:
            return url
        place = self._place
        if url == place:
            return _TEMPLATE
        # fsspec takes any brace beside a template for one.
        if url.startswith(f"{place}/"):
            path = url[len(place) :]
            return (_escaped(place) if _has_brace(path) else _TEMPLATE) + _escaped(path)
        if url.endswith(f"::{place}"):
            before = url[: -len(place)]
            return _escaped(before) + (_escaped(place) if _has_brace(before) else _TEMPLATE)
        return _escaped(url)

    def _add_rule(self, layout: ChunkLayout) -> None:
        split = [axis for axis, length in enumerate(layout.grid_shape) if length > 1]
        texts = layout.prefix + layout.head + layout.tail
        if len(split) > min(len(_NAMES), LIMITS.dimensions_per_rule) or not _can_be_spelled(texts):
            self.left_out.append(layout.prefix)
            return
        names = dict(zip(split, _NAMES, strict=False))
        coords = [
            f"{{{{{names[axis]}}}}}" if axis in names else "0" for axis in range(len(layout.grid_shape))
        ]
        chunk = layout.encoding.spelled(coords)
        place, head, tail = self._place, _escaped(layout.head), _escaped(layout.tail)
        if layout.head.startswith(f"{place}/"):
            head = _TEMPLATE + _escaped(layout.head[len(place) :])
        elif layout.tail == f"::{place}":
            tail = f"::{_TEMPLATE}"
        where = {"url": head + chunk + tail}
        if isinstance(layout, RangeLayout):
            where = {"url": self._spelled(layout.head), **layout.range_fields(names)}
        rule = {
            "key": _escaped(layout.prefix) + chunk,
            **where,
            "dimensions": {names[axis]: {"stop": layout.grid_shape[axis]} for axis in split},
        }
        values, size = 3 + len(where) + 2 * len(split), len(rule["key"]) + sum(map(len, where.values()))
        if (
            len(self._gen) >= LIMITS.gen_rules
            or self._sizes[0] + values > LIMITS.json_values - _SPARE
            or self._sizes[1] + 2 * size > LIMITS.rules_source
        ):
            self.left_out.append(layout.prefix)
            return
        self._sizes[0] += values
        self._sizes[1] += 2 * size
        self._gen.append(rule)

    # Edits

    def edited(self, refs: References) -> References:
        """Return edits of a manifest document as they are in a text: their URLs are templates there."""
        return replace(
            refs,
            replaced={row: _patch_in_text(patch) for row, patch in refs.replaced.items()},
            appended={key: _patch_in_text(patch) for key, patch in refs.appended.items()},
        )


def _ranges_of_one_array(
    table: ValueTable, rows: Rows, columns: tuple[npt.NDArray[Any], ...], spelled: list[str]
) -> bytes | None:
    """Return the entries of rows that are all ranges of chunks of one array; None where they are not."""
    url, offset, length = columns
    group = table.group.of(rows)
    kind = table.code[rows] >> np.uint64(BITS)
    if group[0] == ODD or url.min() < 0 or length.min() < 0:
        return None
    if (group != group[0]).any() or (kind != kind[0]).any():
        return None
    prefix, separator = table.groups[int(group[0])]
    coords = unpack_many(table.code[rows], int(kind[0]))
    key = quote_json(prefix)[:-1].replace("%", "%%") + separator.join(["%d"] * len(coords))
    urls = [spelled[number] for number in url.tolist()]
    values = (*map(np.ndarray.tolist, coords), urls, offset.tolist(), length.tolist())
    # One text for all, as most documents are of such rows.
    form = ",".join([f'{key}":[%s,%d,%d]'] * len(rows))
    return (form % tuple(chain.from_iterable(zip(*values, strict=True)))).encode()


def _patch_in_text(patch: Patch) -> Patch:
    url = _escaped(patch.value.url)
    if patch.value.kind not in (None, ValueKind.LARGE) or url == patch.value.url:
        return patch
    return Patch.of(patch.key, patch.key_text, json_of([url, *_numbers(patch)]))


def _rule_of_one(patch: Patch) -> dict[str, Any]:
    """Return a rule with one row, which counts before those above it."""
    names = ("offset", "length")
    numbers = {name: str(number) for name, number in zip(names, _numbers(patch), strict=False)}
    rule = {"key": _escaped(patch.key), "url": _escaped(patch.value.url), **numbers}
    return rule | {"dimensions": {_NAMES[0]: [0]}}


def _numbers(patch: Patch) -> list[int]:
    value = patch.value
    return [] if value.offset is None or value.length is None else [value.offset, value.length]


def _range_text(offset: int | None, length: int | None) -> str:
    """Return what follows the URL of a reference; nothing of a whole file."""
    return "" if offset is None else f",{offset},{length}"


def _has_brace(text: str) -> bool:
    return "{" in text or "}" in text


def _escaped(text: str) -> str:
    """Return a text as a template that prints it."""
    return _BEGIN.sub("{{ '{' }}", text) if "{" in text else text


def _can_be_spelled(text: str) -> bool:
    """Whether a template can print a text: line ends become one kind in it."""
    return "\r" not in text and "\n" not in text


# Nodes


#: Gives the metadata of a node under a name, ``.zgroup``, ``.zarray`` or ``.zattrs``, without white space.
Spell = Callable[[GroupNode | ArrayNode, str], bytes]
#: Objects of Zarr v2: what an element is that it has no word for.
_OBJECTS = {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "fill_value": ""}


@dataclass(frozen=True, slots=True, eq=False)
class NodeTexts(Mapping[str, bytes]):
    """The metadata of nodes by key, each text made when it is asked for.

    Parameters
    ----------
    nodes
        By key.
    spell
        Makes the texts.
    """

    nodes: Mapping[str, GroupNode | ArrayNode]
    spell: Spell

    def __getitem__(self, key: str) -> bytes:
        return self.spell(self.nodes[key], key.rpartition("/")[2])

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


def names_of_metadata(node: GroupNode | ArrayNode) -> tuple[str, ...]:
    """Return the names under which Zarr v2 has the metadata of a node."""
    first = ".zarray" if isinstance(node, ArrayNode) else ".zgroup"
    return (first, ".zattrs") if node.attributes or node.internal_attributes else (first,)


def spelled_node(node: GroupNode | ArrayNode, name: str) -> bytes:
    """Return the metadata of a node as text (`Spell`)."""
    if name == ".zattrs":
        return json_of(spelled_attributes(node))
    return json_of(spelled_array(node) if isinstance(node, ArrayNode) else {"zarr_format": 2})


def spelled_attributes(node: GroupNode | ArrayNode) -> dict[str, Any]:
    """Return attributes in JSON, those that a format keeps for itself last; NaN and infinities are texts."""
    shown = {name: plain_attribute(value) for name, value in node.attributes.items()}
    return {**shown, **node.internal_attributes}


def plain_attribute(value: Any) -> Any:
    """Return the value of an attribute in JSON."""
    if isinstance(value, list):
        return list(map(plain_attribute, value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return plain_fill(value) if isinstance(value, float) else value


def spelled_array(node: ArrayNode) -> dict[str, Any]:
    """Return the members of ``.zarray``; elements that Zarr v2 has no word for are objects."""
    codecs = [{"id": each.name, **each.configuration} for each in node.codecs]
    metadata = {
        "zarr_format": 2,
        "shape": list(node.shape),
        "chunks": node.grid.spelling if node.has_grid else list(node.shape),
        "dtype": None,
        "compressor": codecs[-1] if codecs else None,
        "filters": codecs[:-1] or None,
        "fill_value": None,
        "order": node.order,
    }
    dtype = node.dtype
    if dtype is None or dtype.hasobject or (dtype.names is not None and node.values.encoded is None):
        return metadata | _OBJECTS
    fill = node.fill_value
    if isinstance(fill, bytes | np.void):
        data = fill if isinstance(fill, bytes) else fill.tobytes()
        fill = base64.b64encode(data.ljust(dtype.itemsize, b"\0")).decode("ascii")
    spelled = dtype.str if dtype.names is None else dtype.descr
    return metadata | {"dtype": spelled, "fill_value": plain_fill(fill)}
