"""What the attributes pane says about a row of the tree, as names and values in sections.

With the fields of compound types and the count of stored chunks, made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.model.data_type import RowType, SequenceType, enum_name_of, names_of, rows_of
from refbrowser.model.grid import sides_text
from refbrowser.model.multiscales.conventions import (
    crs_beside,
    multiscale_of,
    pictures_of,
)
from refbrowser.model.netcdf.types import ATOMIC_OF
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ReferenceKind
from refbrowser.views.hierarchy import (
    ItemKind,
    ShownDocument,
    ShownRow,
    buffer_name,
    coordinate_words,
    extent_text,
    format_words,
    has_rules,
    is_buffer,
    nested_words,
    shape_text,
    short_format,
    stored_words,
    type_text,
)
from refbrowser.views.multiscale_words import level_size, picture_pairs, step_words
from refbrowser.views.packing_words import packing_words
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_plain, plural, size_text

if TYPE_CHECKING:
    from refbrowser.model.multiscales.multiscale import Multiscale
    from refbrowser.references.content.origins import Fact
    from refbrowser.views.dimensions import DimensionUse


#: Fields of a compound type that are listed at most.
FIELDS_SHOWN = 500
#: Attributes that are listed at most; a document may hold any number.
ATTRIBUTES_SHOWN = 2_000
#: Images that one group describes, of which all is listed.
IMAGES_SHOWN = 20
#: Names of values of an enumeration that are listed.
NAMES_SHOWN = 100
STORED, STORED_SIZE = "Stored chunks", "Stored size"
#: Name of the row that tells how numbers are packed, and where it leads: to what says it in the other way.
PACKING = "Packing"
COUNTING = "counting…"


@dataclass(frozen=True, slots=True)
class Row:
    """A name and its value.

    Attributes
    ----------
    attribute
        Where it is an attribute that can be edited.
    type
        Of an attribute, a field or a variable; empty where there is none to tell.
    is_recorded
        Whether the metadata records the type of an attribute.
    link
        Path of the node that it leads to, or `PACKING`.
    """

    name: str
    value: str
    attribute: str | None = None
    type: str = ""
    is_recorded: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title; those of attributes are edited in place."""

    title: str
    rows: tuple[Row, ...] = field(default=())
    has_attributes: bool = False


def sections_of(item: ShownRow, *, internal: bool = False) -> list[Section]:
    """Return everything that is known about a row of the tree without reading anything.

    Parameters
    ----------
    internal
        Show the attributes that the format keeps for itself too.
    """
    if item.kind is ItemKind.DOCUMENT:
        return _document(item.document, internal)
    if item.node is not None:
        return _node(item, internal)
    if item.kind is ItemKind.DIMENSION:
        return dimension_sections(item)
    return [] if item.document.document is None else _entry(item)


def node_of(item: ShownRow | None) -> Any:
    """Return the group or array whose attributes a row of the tree shows; None where there is none."""
    if item is None:
        return None
    if item.kind is ItemKind.DOCUMENT:
        return None if item.document.hierarchy is None else item.document.hierarchy.root
    return item.node


def _section(title: str, pairs: list[tuple[str, str]]) -> Section:
    rows = (Row(name, value, link=PACKING if name == PACKING else "") for name, value in pairs if value)
    return Section(title, tuple(rows))


def _document(document: ShownDocument, internal: bool) -> list[Section]:
    pairs = [("Path", document.path), ("Format", format_words(document))]
    state = document.document
    if state is not None:
        pairs += document_pairs(document, state) if state.has_keys else told_pairs(state.told())
    found = [_section("Document", pairs)]
    if document.template_values:
        found.append(_section("Template values", list(document.template_values.items())))
    root: Any = None if document.hierarchy is None else document.hierarchy.root
    if root is not None:
        found += _attributes(root, internal)
    if isinstance(root, GroupNode):
        found += _group_images(root)
    return found


def _node(item: ShownRow, internal: bool) -> list[Section]:
    node: Any = item.node
    found = []
    if node.error is not None:
        found.append(_section("Error", [("Problem", str(node.error)), ("What to do", node.error.advice)]))
    found += _attributes(node, internal)
    if item.kind is ItemKind.ARRAY:
        pairs = array_pairs(node) if node.nested is None else nested_pairs(node)
        hierarchy = item.document.hierarchy
        if hierarchy is not None:
            state = item.document.document
            is_made = state is not None and not state.has_keys
            stored = short_format(item.document) if is_made else hierarchy.flavour.label
            pairs[-1] = ("Format", node.format if node.error else stored)
        pairs += [("Coordinates", words) for words in coordinate_words(node)]
        pairs += buffer_pairs(node)
        image = None if hierarchy is None else multiscale_of(hierarchy, node)
        if hierarchy is not None and (image is None or image.crs is None):
            # Else it is said of the image.
            crs = crs_beside(hierarchy, node)
            pairs += [] if crs is None else [("CRS", one_line(crs.name))]
        if node.unreadable is not None:
            pairs.insert(0, ("Not readable", str(node.unreadable)))
            pairs.insert(1, ("What to do", node.unreadable.advice))
        if node.has_manifest and node.nested is None:
            pairs += [(STORED, COUNTING), (STORED_SIZE, COUNTING)]
        found.append(_section("Array", pairs))
        found += field_sections(node)
        found += image_sections(image)
    else:
        pairs = [("Path", node.path), ("Arrays", str(len(node.arrays))), ("Groups", str(len(node.groups)))]
        names = ", ".join(f"{each.name} {each.size}" for each in node.dimensions.values())
        found.append(_section("Group", [*pairs, ("Dimensions", names)]))
        found += _group_images(node)
    return found


def _group_images(node: GroupNode) -> list[Section]:
    pictures = pictures_of(node).pictures[:IMAGES_SHOWN]
    return [section for picture in pictures for section in image_sections(picture)]


def image_sections(picture: Multiscale | None) -> list[Section]:
    """Return what is known of an image, with a link to each of its levels; nothing where there is none."""
    if picture is None:
        return []
    rows = [Row(name, value) for name, value in picture_pairs(picture) if value]
    for level in picture.levels:
        words = [level_size(level), step_words(picture, level)]
        rows.append(Row(level.node.path, "   ".join(filter(None, words)), type="level", link=level.node.path))
    return [Section("Image", tuple(rows))]


def _attributes(node: Any, internal: bool) -> list[Section]:
    from refbrowser.engine.attribute_edits import type_of
    from refbrowser.formats.nczarr.members import is_internal
    from refbrowser.references.text.typed_values import typed_text

    rows = []
    names = [name for name in node.attributes if internal or not is_internal(name)]
    for name in names[:ATTRIBUTES_SHOWN]:
        value = node.attributes[name]
        kind = type_of(node.attribute_types, name, value)
        rows.append(Row(str(name), typed_text(value), name, kind.name, kind.recorded))
    if len(names) > ATTRIBUTES_SHOWN:
        rows.append(Row("…", f"{len(names) - ATTRIBUTES_SHOWN} more: see Metadata"))
    found = [Section(f"Attributes ({len(names)})", tuple(rows), has_attributes=True)]
    if internal and node.internal_attributes:
        pairs = [(str(name), typed_text(value)) for name, value in node.internal_attributes.items()]
        found.append(_section(f"Format attributes ({len(pairs)})", pairs[:ATTRIBUTES_SHOWN]))
    return found


def _entry(item: ShownRow) -> list[Section]:
    state: Any = item.document.document
    found = []
    if item.kind is ItemKind.TEMPLATE:
        text = str(state.templates.templates.get(str(item.place), ""))
        found.append(_section("Template", [("Name", str(item.place)), ("Text", text)]))
    elif item.kind is ItemKind.RULE and int(item.place) < len(state.rules):
        rule = state.rules[int(item.place)]
        fields = ("key", "url", "offset", "length")
        pairs = [
            ("URL" if name == "url" else name.capitalize(), str(getattr(rule, name)))
            for name in fields
            if getattr(rule, name) is not None
        ]
        pairs += [(f"Dimension {name}", dimension_text(values)) for name, values in rule.dimensions]
        found.append(_section("Gen rule", [*pairs, ("Rows", count_text(rule.count))]))
    elif item.kind is ItemKind.TEMPLATES:
        pairs = [(name, str(text)) for name, text in state.templates.templates.items()]
        found.append(_section("Templates", pairs))
    elif item.kind is ItemKind.RULES:
        pairs = [
            (f"Rule {number}", f"{rule.key}  ({count_text(rule.count)} rows)")
            for number, rule in enumerate(state.rules)
        ]
        found.append(_section("Gen rules", pairs))
    finding = item.document.finding_at(str(item.kind), item.place)
    if finding:
        found.append(_section("Fault", [("Problem", finding)]))
    return found


def dimension_sections(item: ShownRow, use: DimensionUse | None = None) -> list[Section]:
    """Return what is known of a dimension, and the variables that share it as far as they were looked for."""
    dimension = item.dimension
    if dimension is None:
        return []
    pairs = [("Name", dimension.name), ("Path", str(item.place)), ("Size", count_text(dimension.size))]
    pairs.append(("Unlimited", "yes" if dimension.unlimited else "no"))
    if use is None:
        return [_section("Dimension", pairs), _section("Variables that share it", [("…", COUNTING)])]
    rows = [Row(node.path, extent_text(node), type=type_text(node), link=node.path) for node in use.variables]
    if use.count > len(rows):
        rows.append(Row("…", f"{count_text(use.count - len(rows))} more"))
    title = f"Variables that share it ({count_text(use.count)})"
    holders = [node for node in use.variables if coordinate_words(node)]
    found = [_section("Dimension", pairs)]
    if holders:
        row = Row(holders[0].path, "coordinate variable", type=type_text(holders[0]), link=holders[0].path)
        found.append(Section("Coordinates", (row,)))
    return [*found, Section(title, tuple(rows))]


def field_sections(node: Any) -> list[Section]:
    """Return the fields of an array of a compound type, nested ones too; nothing of any other type."""
    if node.dtype is None or node.dtype.names is None:
        return []
    fields = fields_of(node.dtype, FIELDS_SHOWN)
    rows = [Row(each.path, each.words, type=each.type) for each in fields[:FIELDS_SHOWN]]
    if len(fields) > FIELDS_SHOWN:
        rows.append(Row("…", "more: see Metadata"))
    return [Section(f"Fields ({len(node.dtype.names)})", tuple(rows))]


def document_pairs(document: ShownDocument, state: Any) -> list[tuple[str, str]]:
    """Return what is told about a document: version, how many references, rules and rows; keys of a store."""
    if state.is_unread:
        return [("Version", str(state.version)), ("References", f"{count_text(state.left)}, read as needed")]
    rows = count_text(state.expansion.rows)
    if document.is_store:
        return [("Keys", rows)]
    pairs = [("Version", str(state.version)), ("References", count_text(len(state.refs)))]
    if has_rules(document):
        pairs.append(("Templates", str(len(state.templates.templates))))
        pairs.append(("Gen rules", str(len(state.rules))))
        pairs.append(("Version 0 rows", rows))
    return pairs


def told_pairs(facts: Iterable[Fact]) -> list[tuple[str, str]]:
    """Return what is told about a file that is more than references."""
    return [(fact.name, _fact_text(fact)) for fact in facts]


def _fact_text(fact: Fact) -> str:
    if isinstance(fact.value, str):
        return one_line(fact.value)
    return size_text(fact.value) if fact.is_size else count_text(fact.value)


def array_pairs(node: Any) -> list[tuple[str, str]]:
    """Return the metadata of an array, in the words of the field."""
    pairs = [("Path", node.path), ("Shape", extent_text(node) or "scalar")]
    if node.dimensions:
        named = [
            f"{name or 'unnamed'} {size}" for name, size in zip(node.dimensions, node.shape, strict=False)
        ]
        own = [node.type.dimension] if isinstance(node.type, RowType) else []
        pairs.append(("Dimensions", ", ".join([*named, *own])))
    pairs += type_pairs(node)
    if node.has_grid:
        chunk = sides_text(node.grid) or "one value"
        inner = next(filter(None, map(_inner_shape, node.codecs)), None)
        what = "Chunk" if inner is None else "Shard"
        pairs.append((f"{what}s", f"{count_text(node.grid.size)} of {chunk}"))
        if inner is not None:
            pairs.append(("Inner chunks", shape_text(inner)))
        if node.dtype is not None and not node.dtype.hasobject:
            size = _bytes(node.dtype.itemsize, node.grid.largest)
            pairs.append(
                (f"{what} size" if node.grid.is_regular else f"Largest {what.lower()}", size_text(size))
            )
    if node.not_referencable:
        pairs.append(("References", f"none: {node.not_referencable}"))
    elif node.values.held:
        pairs.append(("Stored in", node.values.held))
    else:
        codecs = " → ".join(codec_text(codec) for codec in node.codecs)
        pairs += [("Codecs", codecs or "none"), ("Order", node.order)]
        if node.lenders:
            pairs.append(("Decoded by", ", ".join(dict.fromkeys(node.lenders.values()))))
    if packed := packing_words(node):
        pairs.append((PACKING, packed))
    pairs.append(("Fill value", _fill_text(node)))
    if node.dtype is not None and not node.dtype.hasobject:
        pairs.append(("Decoded size", size_text(_bytes(node.dtype.itemsize, node.shape))))
    pairs.append(("Format", node.format))
    return pairs


def nested_pairs(node: Any) -> list[tuple[str, str]]:
    """Return what is known of an array of nested values before anything of it is read."""
    buffers = node.nested.buffers
    decoded = sum(buffer.nbytes for buffer in buffers)
    return [
        ("Path", node.path),
        ("Rows", count_text(node.shape[0]) if node.shape else "one value"),
        ("Type", node.type.name),
        ("Contents", nested_words(node.nested.type)),
        ("Buffers", f"{count_text(len(buffers))}, {size_text(decoded)} decoded"),
        ("Format", node.format),
    ]


def buffer_pairs(node: Any) -> list[tuple[str, str]]:
    """Return what a buffer of an array of nested values is, and where its bytes are; nothing of others."""
    return [("Buffer", buffer_name(node)), ("Stored", stored_words(node))] if is_buffer(node) else []


def _fill_text(node: Any) -> str:
    """Return what stands where nothing is stored."""
    if isinstance(node.type, RowType):
        return "an empty row"
    if isinstance(node.fill_value, bytes):
        return f"0x{node.fill_value.hex()}" if node.fill_value else "no bytes"
    return "undefined" if node.fill_value is None else str(node.fill_value)


def type_pairs(node: Any) -> list[tuple[str, str]]:
    """Return the type of the elements of an array, and what numpy does not say of it."""
    pairs = [("Type", node.type.name if node.dtype is None else f"{node.type.name}  ({node.dtype.name})")]
    if isinstance(node.type, RowType):
        name = "structures" if node.type.row_dtype.names else node.type.row_dtype.name
        pairs = [("Type", f"rows of {name}, each of its own length")]
    elif node.dtype is not None and node.dtype.names is not None and node.assembled is not None:
        fields = len(node.dtype.names)
        pairs = [("Type", f"{type_text(node)} of {counted_plain(fields, 'field')}")]
    if isinstance(node.type, SequenceType):
        pairs.append(("Rows", "known only once the data is read"))
    if node.type.names:
        named = [f"{value} {name}" for value, name in list(node.type.names.items())[:NAMES_SHOWN]]
        more = len(node.type.names) - len(named)
        pairs.append(("Values", ", ".join([*named, *([f"… {more} more"] if more else [])])))
    return pairs


def _bytes(size: int, shape: tuple[int, ...]) -> int:
    for length in shape:
        size *= int(length)
    return size


def _inner_shape(codec: Any) -> tuple[int, ...] | None:
    """Return the shape of the chunks within a shard; None of a codec that makes no shards."""
    shape = codec.configuration.get("chunk_shape")
    is_shape = isinstance(shape, list) and all(isinstance(side, int) for side in shape)
    return tuple(shape) if is_shape and isinstance(codec.configuration.get("codecs"), list) else None


def codec_text(codec: Any) -> str:
    """Return a codec with its configuration on one line; of shards, what their chunks are encoded by."""
    from refbrowser.references.text.typed_values import typed_text

    if _inner_shape(codec) is not None:
        inside = " → ".join(map(_name_of, codec.configuration["codecs"]))
        return f"{codec.name}({inside})"
    inside = ", ".join(f"{name}={typed_text(value)}" for name, value in codec.configuration.items())
    return f"{codec.name}({inside})" if inside else str(codec.name)


def _name_of(codec: Any) -> str:
    return str(codec.get("name", "?") if isinstance(codec, dict) else codec)


def stored_pairs(found: StoredChunks | None) -> dict[str, str]:
    """Return how many chunks are stored, how many are missing, and the bytes that they take."""
    if found is None or found.stored is None:
        return {STORED: "not known without reading", STORED_SIZE: "not known"}
    if found.is_computed:
        return {STORED: "none: they are computed when they are read", STORED_SIZE: "nothing"}
    missing, stored = found.total - found.stored, count_text(found.stored - found.lost)
    others = {"missing": missing, "faulty or lost": found.lost}
    left = [f"{count_text(count)} {what}" for what, count in others.items() if count]
    texts = {STORED: ", ".join([stored, *left]) if left else f"all {stored}"}
    if found.size is None:
        texts[STORED_SIZE] = "not added up: too many chunks"
        return texts
    uncounted = found.files or found.inline or found.assembled
    parts = [size_text(found.size)] if found.size or not uncounted else []
    if found.assembled:
        parts.append(f"{count_text(found.assembled)} in several parts")
    if found.files:
        parts.append(f"{count_text(found.files)} whole {plural(found.files, 'file')}")
    if found.inline:
        parts.append(f"{count_text(found.inline)} in the document")
    texts[STORED_SIZE] = " and ".join(parts)
    return texts


def dimension_text(values: range | tuple[int, ...]) -> str:
    """Return the values of a dimension, short."""
    if isinstance(values, range):
        step = f", step {values.step}" if values.step != 1 else ""
        return f"{values.start} to {values.stop} (not included){step}"
    shown = ", ".join(map(str, values[:12]))
    return f"{shown}, … ({len(values)} values)" if len(values) > 12 else shown


def layout_of(sections: Sequence[Section]) -> list[tuple[str, tuple[tuple[Any, ...], ...]]]:
    """Return all of sections but the values."""
    return [
        (each.title, tuple((row.name, row.attribute, row.type, row.link) for row in each.rows))
        for each in sections
    ]


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field.

    Attributes
    ----------
    path
        Names from the outermost field, joined by points.
    type
        netCDF's name where it has one.
    words
        Its shape, where it has one, and its bytes.
    """

    path: str
    type: str
    words: str


def fields_of(dtype: np.dtype[Any], limit: int) -> list[FieldRow]:
    """Return the fields of a type in their order, each before what it holds; `limit` and one more at most."""
    rows: list[FieldRow] = []
    _add(rows, dtype, "", 0, limit)
    # Objects are not stored as numpy holds them: places in its memory tell nothing.
    return [replace(row, words=row.words.rpartition(", ")[0]) for row in rows] if dtype.hasobject else rows


def _add(rows: list[FieldRow], dtype: np.dtype[Any], prefix: str, start: int, limit: int) -> None:
    for name in dtype.names or ():
        if len(rows) > limit or dtype.fields is None:
            return
        field, offset = dtype.fields[name][:2]
        base, shape = field.subdtype or (field, ())
        first = start + offset
        last = first + field.itemsize - 1
        where = f"byte {first}" if last == first else f"bytes {first} to {last}"
        sides = "×".join(map(str, shape))
        words = f"{sides} values, {where}" if sides else where
        rows.append(FieldRow(f"{prefix}{name}", _type_name(base), words))
        if base.names is not None:
            _add(rows, base, f"{prefix}{name}.", first, limit)


def _rows_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a type of objects: texts, bytes, rows of their own length."""
    elements = rows_of(dtype)
    if not isinstance(elements, np.dtype):
        return "opaque" if elements is bytes else "string"
    return "sequence" if elements.names is not None else f"{_type_name(elements)}(*)"


def _type_name(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return "compound"
    if dtype.kind == "O":
        return _rows_name(dtype)
    if names_of(dtype):
        return f"enum {enum_name_of(dtype)}".strip()
    if dtype.kind == "V":
        return f"opaque({dtype.itemsize})"
    if dtype == np.dtype("S1"):
        return "char"
    if dtype.kind == "S":
        return f"string({dtype.itemsize})"
    atomic = ATOMIC_OF.get(dtype.newbyteorder("="))
    return dtype.name if atomic is None else str(atomic)


#: Arrays of more chunks are counted, but their sizes are not added up.
SIZED_CHUNKS = 500_000
_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """What is stored of an array.

    Attributes
    ----------
    stored
        Chunks with a reference, out of `total`; None where that is not known.
    size
        Their bytes, as far as the references tell; None where they were not added up.
    files
        Chunks that are whole files, whose size the references do not tell.
    inline
        Chunks that stand in the document and are not counted in `size`.
    assembled
        Chunks that are assembled from messages, whose bytes are not counted.
    lost
        Those of `stored` that cannot be read: their references are faulty, or what gave them is damaged.
    is_computed
        Its chunks are computed of other arrays when they are read: none is stored.
    """

    stored: int | None
    total: int
    size: int | None = None
    files: int = 0
    inline: int = 0
    assembled: int = 0
    lost: int = 0
    is_computed: bool = False


def stored_chunks(node: ArrayNode, check: Callable[[], None]) -> StoredChunks | None:
    """Count the stored chunks of an array; None where it has no chunk grid. `check` raises when cancelled."""
    if not node.has_manifest:
        return None
    from refbrowser.engine.derived.derived_values import Derived

    if isinstance(node.values, Derived):
        return StoredChunks(0, node.grid.size, is_computed=True)
    stored, total = node.manifest.stored(), node.grid.size
    if total > SIZED_CHUNKS:
        return StoredChunks(stored, total)
    size = files = inline = assembled = lost = 0
    for start in range(0, total, _BLOCK):
        check()
        flat = np.arange(start, min(start + _BLOCK, total), dtype=np.int64)
        shape = node.manifest.grid_shape
        coords = np.stack(np.unravel_index(flat, shape), axis=1) if shape else np.zeros((1, 0), np.int64)
        columns = node.manifest.columns(coords.astype(np.int64))
        known = columns.length >= 0
        size += int(columns.length[known & (columns.kind != ReferenceKind.MISSING)].sum())
        files += int((~known & (columns.kind == ReferenceKind.WHOLE)).sum())
        assembled += int((columns.kind == ReferenceKind.DERIVED).sum())
        lost += int((columns.kind == ReferenceKind.FAULTY).sum())
        inline += int((~known & (columns.kind == ReferenceKind.INLINE)).sum())
    return StoredChunks(stored, total, size, files, inline, assembled, lost)
