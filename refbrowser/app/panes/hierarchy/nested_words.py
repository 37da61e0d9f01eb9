"""What the type of nested values is called in the tree, and which icon tells it; no Qt here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.model.nested import TypeKind

if TYPE_CHECKING:
    from refbrowser.model.nested import NestedType
    from refbrowser.model.nodes import ArrayNode, Node

#: The attribute of arrays and groups that are made from expressions.
_AWKWARD_NAME = "awkward0_name"
_ICONS = {
    TypeKind.LIST: "ragged",
    TypeKind.RECORD: "structure",
    TypeKind.OPTION: "option",
    TypeKind.UNION: "union",
    TypeKind.STRING: "text",
    TypeKind.BYTES: "hex",
    TypeKind.LINK: "link",
    TypeKind.OPAQUE: "lock",
}
_WORDS = {
    TypeKind.LIST: "lists",
    TypeKind.RECORD: "records",
    TypeKind.OPTION: "values that may be missing",
    TypeKind.UNION: "values of several types",
    TypeKind.STRING: "texts",
    TypeKind.BYTES: "bytes",
    TypeKind.LINK: "a link to what it is a part of",
    TypeKind.OPAQUE: "not readable",
    TypeKind.EMPTY: "nothing",
}


def is_awkward(node: Node) -> bool:
    """Tell whether an array or group is made from an expression; a saved document says so in an attribute."""
    return _AWKWARD_NAME in node.internal_attributes or _AWKWARD_NAME in node.attributes


def nested_text(array: ArrayNode) -> str:
    """Return type and length as Awkward writes them: ``5 * var * int64``."""
    length = f"{array.shape[0]} * " if array.shape else ""
    return f"{length}{array.type_name}"


def plain_text(array: ArrayNode) -> str:
    """Return the same of an array of numbers, which is not nested: ``4 * 3 * float64``."""
    kind = "" if array.dtype is None else array.dtype.name
    return " * ".join([*map(str, array.shape), kind])


def nested_icon(kind: NestedType) -> str | None:
    """Return the name of the icon of a nested type; None where that of a plain array tells it."""
    if kind.kind is TypeKind.LIST and _innermost(kind).kind is TypeKind.LINK:
        return "link"
    if kind.kind is TypeKind.LIST and kind.size is not None and _innermost(kind).kind is TypeKind.NUMBER:
        return None
    return _ICONS.get(kind.kind)


def nested_words(kind: NestedType) -> str:
    """Return what the elements are, for people; empty for plain numbers."""
    words = _WORDS.get(kind.kind, "")
    if kind.kind is TypeKind.OPAQUE and kind.name:
        return f"{words}: {kind.name}"
    inside = _innermost(kind)
    if kind.kind is TypeKind.LIST and inside.kind is not TypeKind.LIST:
        below = _WORDS.get(inside.kind, "")
        return f"{words} of {below}" if below else words
    return words


def _innermost(kind: NestedType) -> NestedType:
    """Return what lists and options of a type hold in the end."""
    while kind.kind in (TypeKind.LIST, TypeKind.OPTION) and kind.items:
        kind = kind.items[0]
    return kind
