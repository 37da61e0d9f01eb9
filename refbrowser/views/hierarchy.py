"""What the tree says about an opened document and its rows: kinds, shapes, types, places, changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from refbrowser.formats.registry import title_of
from refbrowser.model.data_type import EnumerationType, RowType, SequenceType
from refbrowser.model.nested import NAME_ATTRIBUTE, TypeKind
from refbrowser.views.words import one_line
from refbrowser.words import count_text, plural, size_text

if TYPE_CHECKING:
    from refbrowser.model.nested import NestedType
    from refbrowser.model.nodes import ArrayNode, Dimension, GroupNode, Hierarchy, Node
    from refbrowser.references.document.document import Document
    from refbrowser.views.changed_rows import ChangedRows


class ItemKind(StrEnum):
    """What a row of the tree stands for."""

    DOCUMENT = "document"
    GROUP = "group"
    ARRAY = "array"
    DIMENSION = "dimension"
    TEMPLATES = "templates"
    TEMPLATE = "template"
    RULES = "rules"
    RULE = "rule"
    SET = "set"
    FILE = "file"


class ShownDocument(Protocol):
    """An opened document, as far as the tree and the attributes tell of it."""

    @property
    def path(self) -> str:
        """Where it was read from."""
        ...

    @property
    def template_values(self) -> Mapping[str, str]:
        """The values that the user gave for templates."""
        ...

    @property
    def document(self) -> Document | None:
        """The document with its edits; None until it is read."""
        ...

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Its groups and arrays; None until they are known."""
        ...

    @property
    def is_store(self) -> bool:
        """Whether what is shown is a store itself, not references to one."""
        ...

    @property
    def changed_rows(self) -> ChangedRows | None:
        """What differs from the saved state; None where nothing does, or it is not known."""
        ...

    def finding_at(self, kind: str, place: str | int) -> str:
        """Return the first finding of a row of the tree itself; nothing where it is sound."""
        ...


class ShownRow(Protocol):
    """A row of the tree."""

    @property
    def kind(self) -> ItemKind:
        """What it stands for."""
        ...

    @property
    def document(self) -> ShownDocument:
        """The document that it is of."""
        ...

    @property
    def place(self) -> str | int:
        """Path of a node or dimension, name of a template, number of a rule; else empty."""
        ...

    @property
    def node(self) -> Node | None:
        """The group or array of the row."""
        ...

    @property
    def dimension(self) -> Dimension | None:
        """The dimension of the row."""
        ...


def dimensions_of(node: Node | None) -> Iterator[tuple[str, Dimension]]:
    """Yield the dimensions that a group declares, with the full name of each."""
    from refbrowser.views.dimensions import dimension_path

    for name, dimension in getattr(node, "dimensions", {}).items() if hasattr(node, "groups") else ():
        yield dimension_path(node.path, name), dimension  # type: ignore[union-attr]


def size_words(dimension: Dimension) -> str:
    """Return the size of a dimension, and that it has no limit where it has none."""
    size = count_text(dimension.size)
    return f"{size} unlimited" if dimension.unlimited else size


def coordinate_words(node: Node | None) -> list[str]:
    """Return that a node is a coordinate variable, as a line of its own; none where it is not."""
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.dimensions import is_coordinate

    if not isinstance(node, ArrayNode) or not is_coordinate(node):
        return []
    return [f"Coordinate variable of dimension {one_line(node.name)}"]


#: Stands behind the name of a row that differs.
CHANGED_MARK = "●"


def changed_words(item: ShownRow) -> str:
    """Return what differs, as ``changed: 4 keys differ from the saved state``; nothing where nothing does."""
    rows, kind = item.document.changed_rows, str(item.kind)
    if rows is None:
        return ""
    if kind in ("group", "array"):
        count = rows.below.get(str(item.place).strip("/"))
        return "" if count is None else _changed(count, "key")
    if kind == "templates":
        return _changed(len(rows.templates), "template") if rows.templates else ""
    if kind == "template":
        return "changed since the saved state" if item.place in rows.templates else ""
    if kind == "rules":
        return _changed(len(rows.rules), "gen rule") if rows.rules else ""
    if kind == "rule" and item.place in rows.rules:
        return _changed(rows.rules[int(item.place)], "row")
    return ""


def _changed(count: int, noun: str) -> str:
    if not count:
        return f"changed: {noun}s differ from the saved state"
    verb = plural(count, f"{noun} differs", f"{noun}s differ")
    return f"changed: {count_text(count)} {verb} from the saved state"


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
    TypeKind.LINK: "a link to one of its parents",
    TypeKind.OPAQUE: "not readable",
    TypeKind.EMPTY: "nothing",
}


def is_awkward(node: Node) -> bool:
    """Tell whether an array or group is made from an expression; a saved document says so in an attribute."""
    return NAME_ATTRIBUTE in node.internal_attributes or NAME_ATTRIBUTE in node.attributes


def nested_text(array: ArrayNode) -> str:
    """Return type and length as Awkward writes them: ``5 * var * int64``."""
    length = f"{array.shape[0]} * " if array.shape else ""
    return f"{length}{array.type.name}"


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


#: The arrays that hold the buffers of a layout (persistence notes, section 6): ``node12-offsets``.
_BUFFER = re.compile(r"node(x?\d+)-(\w+)")
#: Chunks of a buffer that are looked at; of more only the first place is told.
_CHUNKS_MOST = 4_096


def parts_of(group: GroupNode, array: ArrayNode) -> GroupNode | None:
    """Return the group that holds the parts of an array, None where it has none."""
    twin = group.groups.get(array.name)
    is_one = twin is not None and (array.nested is not None or is_awkward(twin))
    return twin if is_one else None


def rows_of(group: GroupNode) -> Iterator[ArrayNode]:
    """Yield the arrays of a group as the tree lists them: fields first, then buffers."""
    arrays = group.arrays.values()
    yield from (array for array in arrays if not is_buffer(array))
    yield from (array for array in arrays if is_buffer(array))


def groups_of(group: GroupNode) -> Iterator[GroupNode]:
    """Yield the groups that have a row of their own: those that are no array's parts."""
    for child in group.groups.values():
        twin = group.arrays.get(child.name)
        if twin is None or parts_of(group, twin) is None:
            yield child


def is_buffer(array: ArrayNode) -> bool:
    """Tell whether an array is a buffer of a layout."""
    return array.nested is None and _BUFFER.fullmatch(array.name) is not None


def buffer_name(array: ArrayNode) -> str:
    """Return what a buffer is, in words: ``offsets of node 12``."""
    found = _BUFFER.fullmatch(array.name)
    return "" if found is None else f"{found[2]} of node {found[1].lstrip('x')}"


def codec_names(array: ArrayNode) -> str:
    """Return the codecs of a buffer as they are undone; empty where any part can be read alone."""
    return " → ".join(codec.name for codec in reversed(array.codecs))


def stored_words(array: ArrayNode) -> str:
    """Return where the bytes of a buffer are: ``812 B at byte 4,096, zlib``; nothing where it has none."""
    place = _place(array)
    codecs = codec_names(array)
    return ", ".join(part for part in (place, codecs) if part)


def node_words(node: Node | None) -> list[str]:
    """Return what a nested array holds, or what a buffer is and where its bytes are, a line each."""
    from refbrowser.model.nodes import ArrayNode

    if not isinstance(node, ArrayNode):
        return []
    if node.nested is not None:
        words = nested_words(node.nested.type)
        return [words[:1].upper() + words[1:]] if words else []
    if not is_buffer(node):
        return []
    name = buffer_name(node)
    return [f"Buffer: {name}", *filter(None, [stored_words(node)])]


def _place(array: ArrayNode) -> str:
    from refbrowser.model.reference import ReferenceKind

    if not array.has_manifest:
        return ""
    manifest = array.manifest
    if not manifest.grid_shape or 0 in manifest.grid_shape:
        return ""
    chunks = int(np.prod(manifest.grid_shape))
    coords = np.indices(manifest.grid_shape).reshape(len(manifest.grid_shape), -1).T[:_CHUNKS_MOST]
    columns = manifest.columns(np.ascontiguousarray(coords, dtype=np.int64))
    kind = ReferenceKind(int(columns.kind[0]))
    if kind is ReferenceKind.INLINE:
        return "in the document"
    if kind is ReferenceKind.WHOLE:
        url = columns.urls[int(columns.url[0])]
        return "a member of the archive" if url.startswith("zip:") else "a whole file"
    if kind is not ReferenceKind.RANGE:
        return ""
    at = f"at byte {count_text(int(columns.offset[0]))}"
    if chunks > _CHUNKS_MOST:
        return at
    return f"{size_text(int(columns.length.clip(0).sum()))} {at}"


#: Characters of a type's name that are shown.
_NAME = 12


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as ``2×3×241``; nothing for a scalar."""
    return "×".join(str(size) for size in shape)


def extent_text(array: ArrayNode) -> str:
    """Return the shape of an array, with a ``*`` for a dimension of its own length in each row."""
    shape = shape_text(array.shape if array.nested is None else array.shape[:1])
    return "×".join(part for part in (shape, "*") if part) if isinstance(array.type, RowType) else shape


def detail_text(array: ArrayNode) -> str:
    """Return extent and type beside an array's name: ``2×3 i2``, ``5 * ?int64``."""
    if array.nested is not None:
        return one_line(nested_text(array))
    if is_awkward(array) and array.dtype is not None:
        return one_line(plain_text(array))
    codecs = codec_names(array) if is_buffer(array) else ""
    return " ".join(part for part in (extent_text(array), type_text(array), codecs) if part)


def type_text(array: ArrayNode) -> str:
    """Return an array's type, short: ``i2``, ``f8``; the metadata's own name where it is not numpy's."""
    if array.nested is not None:
        return one_line(array.type.name)
    if isinstance(array.type, SequenceType):
        return "sequence"
    if array.dtype is not None and array.dtype.names is not None:
        return "structure" if array.assembled is not None else "compound"
    if isinstance(array.type, RowType):
        return "structure" if array.type.row_dtype.names is not None else _short(array.type.row_dtype.str)
    if isinstance(array.type, EnumerationType):
        return f"enum {_short(array.type.name)}"
    return _short(array.type.name)


def _short(name: str) -> str:
    name = one_line(name)
    return name.lstrip("<>|=") if len(name) <= _NAME else name[: _NAME - 1] + "…"


def icon_name(array: ArrayNode) -> str:
    """Return the name of the icon that tells what kind of array it is."""
    if coordinate_words(array):
        return "coordinate"
    if is_buffer(array):
        return "buffer"
    nested = None if array.nested is None else nested_icon(array.nested.type)
    if nested is not None:
        return nested
    if array.dtype is not None and array.dtype.names is not None:
        return "sequence" if isinstance(array.type, SequenceType) else "structure"
    if isinstance(array.type, RowType):
        return "ragged"
    if array.dtype is not None and array.dtype.kind in "OSTU":
        return "text"
    dimensions = len(array.shape)
    return "scalar" if dimensions == 0 else "line" if dimensions == 1 else "array"


def takes_rules(document: ShownDocument) -> bool:
    """Tell whether templates and rules have a place: nobody wrote those of stores, streams, archives.

    Nor of those whose edits were saved as references beside them: what is in that file is another form.
    """
    return document.document is not None and not document.document.rules_are_made


def has_rules(document: ShownDocument) -> bool:
    """Tell whether templates and rules are shown: those of Version 1 that somebody wrote."""
    return takes_rules(document) and document.document is not None and document.document.version == 1


def short_format(document: ShownDocument) -> str:
    """Return the few words beside a document's name: ``V1``, or the flavour of a store."""
    state = document.document
    if state is None:
        return ""
    if not state.has_keys:
        return title_of(state.format)
    return state.store.flavour.label if state.store is not None and document.is_store else f"V{state.version}"


def format_words(document: ShownDocument) -> str:
    """Return the flavour of the metadata and its age, and what holds it; nothing before it is known."""
    state, hierarchy = document.document, document.hierarchy
    if state is None or hierarchy is None:
        return ""
    age = f" ({one_line(hierarchy.age)})" if hierarchy.age else ""
    if state.store is not None and document.is_store:
        return f"{hierarchy.flavour.label}{age}, {_CONTAINERS[state.store.container]}"
    if not state.has_keys:
        return title_of(state.format)
    form = "parquet form" if state.from_parquet else f"Version {state.version}"
    return f"{hierarchy.flavour.label}{age}, as references of {form}"


_CONTAINERS = {"folder": "store in a folder", "zip": "store in a zip file", "url": "store at a URL"}
