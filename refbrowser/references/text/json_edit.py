"""Changes JSON text where a value changed, and nowhere else.

What stays keeps its spelling, its spacing and its place; what is new is spaced as its neighbours are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from json.encoder import encode_basestring as quoted
from json.encoder import encode_basestring_ascii as quoted_ascii
from typing import Any

from refbrowser.references.text.json_text import Node, NodeKind


@dataclass(frozen=True, slots=True)
class _Item:
    """One member or item as text: what stands before it, itself, and what stands after it before the comma.

    `origin` is its number in the container as it was, -1 for a new one.
    """

    before: bytes
    text: bytes
    after: bytes
    origin: int


def dump(value: Any, like: bytes = b"") -> bytes:
    """Return the JSON text of a value, in ASCII unless the text that it replaces was not."""
    if isinstance(value, str):
        # Of a million texts, making encoders would be most of the time.
        return (quoted_ascii if like.isascii() else quoted)(value).encode("utf-8", "surrogatepass")
    text: str = json.dumps(value, ensure_ascii=like.isascii())
    return text.encode("utf-8", "surrogatepass")


def dump_texts(texts: Iterable[str]) -> list[bytes]:
    """Return the JSON texts of many texts in ASCII: a line feed stands in none of them."""
    return "\n".join(map(quoted_ascii, texts)).encode("ascii").split(b"\n")


def same(value: Any, other: Any) -> bool:
    """Return whether two JSON values are the same: kind, value, and the order of members."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return list(value) == list(other) and all(same(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(same, value, other))
    return type(value) is type(other) and (value == other or (value != value and other != other))


def rewrite(data: bytes, node: Node, value: Any) -> bytes:
    """Return the text of `node` changed so that it is `value`.

    Parameters
    ----------
    data
        The text in which the node's positions are.
    node
        A value in it.
    value
        Python value of JSON's types.
    """
    old = data[node.start : node.stop]
    if same(node.to_python(), value) and not _has_duplicates(node):
        return old
    if node.kind is NodeKind.OBJECT and isinstance(value, Mapping):
        return _rewrite_object(data, node, value)
    if node.kind is NodeKind.LIST and isinstance(value, list | tuple):
        return _rewrite_list(data, node, value)
    if isinstance(value, Mapping | list | tuple) and value:
        return pretty(value, _indent_of(data, node.start))
    return dump(value, old)


def _has_duplicates(node: Node) -> bool:
    names = [member.key for member in node.members]
    return len(set(names)) != len(names)


def pretty(value: Any, indent: bytes | None) -> bytes:
    """Return the JSON text of a value; over several lines where `indent`, that of the first, is given."""
    if indent is None:
        return dump(value)
    text = json.dumps(value, indent=2).encode("ascii")
    return text.replace(b"\n", b"\n" + indent)


def _indent_of(data: bytes, position: int) -> bytes | None:
    line = data.rfind(b"\n", 0, position) + 1
    if not line:
        return None
    head = data[line:position]
    return head[: len(head) - len(head.lstrip(b" \t"))]


def _rewrite_object(data: bytes, node: Node, value: Mapping[str, Any]) -> bytes:
    members = {member.key: member for member in node.members}
    spans = [(member.start, member.value.stop) for member in node.members]
    old = _items(data, node, spans)
    by_key = {member.key: item for member, item in zip(node.members, old, strict=True)}
    colon = _colon(data, node)
    items = []
    for key, inner in value.items():
        member = members.get(key)
        if member is None:
            items.append(_new_item(data, node, old, dump(key, data) + colon, inner))
            continue
        head = data[member.start : member.value.start]
        item = by_key[key]
        items.append(replace(item, text=head + rewrite(data, member.value, inner)))
    return _join(data, node, old, items)


def _rewrite_list(data: bytes, node: Node, value: list[Any] | tuple[Any, ...]) -> bytes:
    old = _items(data, node, [(item.start, item.stop) for item in node.items])
    items = []
    for number, inner in enumerate(value):
        if number < len(old):
            items.append(replace(old[number], text=rewrite(data, node.items[number], inner)))
        else:
            items.append(_new_item(data, node, old, b"", inner))
    return _join(data, node, old, items)


def _colon(data: bytes, node: Node) -> bytes:
    if not node.members:
        return b": "
    member = node.members[-1]
    return data[member.key_stop : member.value.start]


def _items(data: bytes, node: Node, spans: list[tuple[int, int]]) -> list[_Item]:
    """Return the items of a container with the white space around each."""
    items = []
    at = node.start + 1
    for number, (start, stop) in enumerate(spans):
        end = spans[number + 1][0] if number + 1 < len(spans) else node.stop - 1
        between = data[stop:end]
        after = between.split(b",", 1)[0] if number + 1 < len(spans) else between
        items.append(_Item(data[at:start], data[start:stop], after, number))
        at = stop + len(after) + 1
    return items


def _new_item(data: bytes, node: Node, old: list[_Item], head: bytes, value: Any) -> _Item:
    """Return an item spaced as the last of its neighbours."""
    before = old[-1].before if old else b""
    indent = before.rpartition(b"\n")[2] if b"\n" in before else None
    text = pretty(value, indent) if isinstance(value, Mapping | list | tuple) and value else dump(value, data)
    return _Item(before, head + text, b"", -1)


def _between(data: bytes, node: Node, old: list[_Item]) -> bytes:
    """Return the white space that stands before an item which is not the first."""
    if len(old) > 1:
        return old[1].before
    if old and b"\n" in old[0].before:
        return old[0].before
    return b"" if node.members and not _colon(data, node).endswith(b" ") else b" "


def _join(data: bytes, node: Node, old: list[_Item], items: list[_Item]) -> bytes:
    """Return the container with `items`; the first and the last keep the white space inside the brackets."""
    opening, closing = data[node.start : node.start + 1], data[node.stop - 1 : node.stop]
    if not items:
        return opening + closing
    between = _between(data, node, old)
    parts = []
    for number, item in enumerate(items):
        before, after = item.before, item.after
        if number == 0:
            before = old[0].before if old else b""
        elif item.origin == 0 or (item.origin < 0 and len(old) < 2):
            before = between
        if number == len(items) - 1:
            after = old[-1].after if old else b""
        elif item.origin == len(old) - 1:
            after = b""
        parts.append(before + item.text + after)
    return opening + b",".join(parts) + closing
