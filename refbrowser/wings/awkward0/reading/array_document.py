"""The arrays of a file as a reference document: attributes, forms, what is referenced and what is not."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from refbrowser.errors import ErrorKind, Place, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.model.data_type import DataType
from refbrowser.model.grid import RegularChunkGrid
from refbrowser.model.nested import (
    FORM_ATTRIBUTE,
    LENGTH_ATTRIBUTE,
    NAME_ATTRIBUTE,
    SCHEMA_ATTRIBUTE,
    STORED_ATTRIBUTES,
)
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.values import Chunks
from refbrowser.references.content.made_text import spelled_array
from refbrowser.references.content.origins import DocumentOrigin
from refbrowser.references.document.manifest import ManifestBuilder, ManifestDocument
from refbrowser.references.text.json_text import read_value
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.files.container import Container
from refbrowser.wings.awkward0.layouts import layouts
from refbrowser.wings.awkward0.layouts.building import Built
from refbrowser.wings.awkward0.layouts.functions import SchemaDocument
from refbrowser.wings.awkward0.layouts.layouts import (
    Layout,
    ListIndex,
    ListLayout,
    MaskForm,
    NumpyLayout,
    ObjectLayout,
    PlainLayout,
    VirtualLayout,
    length_of,
    walk,
)
from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
from refbrowser.wings.awkward0.reading.buffers import BufferArray, BufferMemory, buffer_arrays

#: The release that wrote lists without cutting their content (persistence notes, section 3).
_SHIFTING = "0.12."


def findings_of(array: Awkward0Array) -> tuple[Finding, ...]:
    """Return what is wrong with an array: in its schema, in what was built, and by the age of its writer."""
    schema, built = array.schema, array.built
    found = [*(() if schema is None else schema.findings), *(() if built is None else built.findings)]
    if built is not None:
        found += _refused(built)
        found += _foreign(schema, built)
    if schema is not None and built is not None and schema.version.startswith(_SHIFTING):
        found += _shifted(built.layout)
    return tuple(replace(each, place=_located(each.place, array)) for each in _distinct(found))


def _located(place: Place, array: Awkward0Array) -> Place:
    return replace(place, path=array.path, key=place.key or array.member)


def _distinct(found: list[Finding]) -> Iterator[Finding]:
    """Yield each message of a place once; of many alike the first ones."""
    seen: set[tuple[str, str | None]] = set()
    counts: dict[ErrorKind, int] = defaultdict(int)
    for each in found:
        what = each.message, each.place.pointer
        counts[each.kind] += 1
        if what not in seen and counts[each.kind] <= AWKWARD_LIMITS.awkward_findings:
            seen.add(what)
            yield each


def _refused(built: Built) -> list[Finding]:
    """Return the virtual arrays whose functions are not run."""
    errors = [each.error for each in built.by_number.values() if isinstance(each, VirtualLayout)]
    return [
        Finding(
            severity=Severity.FAULT,
            kind=error.kind,
            message=error.message,
            place=error.place,
            advice=error.advice,
        )
        for error in errors
        if error is not None
    ]


def _foreign(schema: SchemaDocument | None, built: Built) -> Iterator[Finding]:
    """Yield a warning for each array of objects whose generator is not known: just its content is shown."""
    for number, each in built.by_number.items():
        if isinstance(each, ObjectLayout) and each.is_foreign:
            pointer = None if schema is None else schema.expressions[number].pointer
            yield Finding(
                severity=Severity.WARNING,
                kind=ErrorKind.UNSAFE,
                message=f"the generator {quoted(each.generator)} is not known and not run",
                place=Place(pointer=pointer),
                advice="The arguments of its objects are shown.",
            )


def _shifted(layout: Layout) -> list[Finding]:
    """Return warnings of lists that the writer may have shifted against their content.

    Whether the counts add up to less than the content is only known when they are read: `values` checks.
    """
    lists = [
        each
        for each in walk(layout)
        if isinstance(each, ListLayout) and each.how is ListIndex.COUNTS and length_of(each.content)
    ]
    if not lists:
        return []
    message = "release 0.12 wrote the lists of part of an array with the content of the whole array"
    advice = "Where the counts add up to less than the content, the values may belong to other lists."
    return [
        Finding(
            severity=Severity.WARNING,
            kind=ErrorKind.FORMAT,
            message=message,
            place=Place(),
            advice=advice,
            count=len(lists),
        )
    ]


_Node = TypeVar("_Node", ArrayNode, GroupNode)


class JsonMembers(Mapping[str, Any]):
    """The members of an object, each of which is parsed when it is asked for: most schemas never are.

    Parameters
    ----------
    texts
        JSON of each member; it is known to be right.
    """

    __slots__ = ("_known", "_texts")

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = read_value(self._texts[name])[0]
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return repr(dict(self))

    @property
    def texts(self) -> Mapping[str, bytes]:
        """JSON of each member."""
        return self._texts


def with_internal(node: _Node) -> _Node:
    """Return a node, read from edited metadata, with what the format keeps for itself as internal."""
    attributes = node.attributes
    own = [name for name in STORED_ATTRIBUTES if name in attributes]
    if not own:
        return node
    others = {name: attributes[name] for name in attributes if name not in own}
    return replace(node, attributes=others, internal_attributes={name: attributes[name] for name in own})


Form = dict[str, Any]
#: Types of offsets and indexes, as forms spell them.
_INDEXES = {"int32": "i32", "uint32": "u32", "int64": "i64"}
_NUMBERS = frozenset("biufcmM")
_OPTIONS = frozenset({"ByteMaskedArray", "BitMaskedArray", "IndexedOptionArray", "UnmaskedArray"})
_INDIRECT = _OPTIONS | {"IndexedArray", "UnionArray"}


class _NoFormError(Exception):
    """Awkward 2 has no form of a layout, or its buffers would have to be changed."""


def form_of(layout: Layout) -> Form | None:
    """Return the form of a layout, as JSON; None where Awkward 2 could not take its buffers.

    ``awkward.from_buffers(form, length, buffers)`` restores the array, where the buffers have the names of
    `buffer_arrays`, with offsets beside counts, and an index beside tags that are alone.
    """
    try:
        return _form(layout)
    except _NoFormError:
        return None


def _form(layout: Layout) -> Form:
    match layout:
        case layouts.NumpyLayout():
            return _number(layout)
        case layouts.ListLayout():
            return _list(layout)
        case layouts.RegularLayout():
            content = _form(layout.content)
            return {"class": "RegularArray", "size": layout.size, "content": content, "parameters": {}}
        case layouts.RecordLayout():
            return _record(layout)
        case layouts.UnionLayout():
            return _union(layout)
        case layouts.MaskedLayout():
            return _masked(layout)
        case layouts.IndexedLayout():
            content = _form(layout.content)
            if content["class"] in _INDIRECT:
                raise _NoFormError
            index = _index(layout.index)
            return _with_key({"class": "IndexedArray", "index": index, "content": content}, layout)
        case layouts.ObjectLayout():
            return _form(layout.content)
        case layouts.VirtualLayout() if layout.content is not None:
            return _form(layout.content)
    raise _NoFormError


def _with_key(form: Form, layout: Layout) -> Form:
    return {"parameters": {}, **form, "form_key": layout.key}


def _basic(layout: Layout, kinds: frozenset[str] | str) -> np.dtype[Any]:
    """Return the type of a basic array of numbers in the order of this machine."""
    if not isinstance(layout, layouts.NumpyLayout):
        raise _NoFormError
    base = layout.buffer.dtype.base
    if base.kind not in kinds or not base.isnative or base.hasobject:
        raise _NoFormError
    return base


def _index(layout: Layout) -> str:
    dtype = _basic(layout, "iu")
    is_flat = isinstance(layout, layouts.NumpyLayout) and not layout.buffer.dtype.ndim
    if dtype.name not in _INDEXES or not is_flat:
        raise _NoFormError
    return _INDEXES[dtype.name]


def _number(layout: layouts.NumpyLayout) -> Form:
    dtype = _basic(layout, _NUMBERS)
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        raise _NoFormError
    inner = list(layout.buffer.dtype.shape)
    return _with_key({"class": "NumpyArray", "primitive": dtype.name, "inner_shape": inner}, layout)


def _list(layout: layouts.ListLayout) -> Form:
    form: Form = {"content": _content(layout)}
    if layout.is_text:
        form["parameters"] = {"__array__": "string" if layout.encoding else "bytestring"}
    if layout.how is ListIndex.COUNTS:
        _basic(layout.index[0], "iu")
        if layout.index[0].buffer.dtype.ndim:  # type: ignore[attr-defined]
            raise _NoFormError
        return _with_key({"class": "ListOffsetArray", "offsets": "i64", **form}, layout)
    if layout.how is ListIndex.OFFSETS:
        return _with_key({"class": "ListOffsetArray", "offsets": _index(layout.index[0]), **form}, layout)
    if layout.how is not ListIndex.STARTS_STOPS:
        raise _NoFormError
    starts, stops = (_index(each) for each in layout.index)
    if starts != stops:
        raise _NoFormError
    return _with_key({"class": "ListArray", "starts": starts, "stops": stops, **form}, layout)


def _content(layout: layouts.ListLayout) -> Form:
    if not layout.is_text:
        return _form(layout.content)
    if layout.encoding not in (None, "utf-8", "ascii"):
        raise _NoFormError
    if _basic(layout.content, "u").itemsize != 1:
        raise _NoFormError
    parameters = {"__array__": "char" if layout.encoding else "byte"}
    return {**_form(layout.content), "parameters": parameters}


def _record(layout: layouts.RecordLayout) -> Form:
    view = layout.view
    is_whole = view is None or (isinstance(view, layouts.SliceView) and (view.start, view.step) == (0, 1))
    if layout.is_jagged:
        raise _NoFormError
    form: Form = {
        "class": "RecordArray",
        "fields": [name for name, _ in layout.fields],
        "contents": [_form(field) for _, field in layout.fields],
        "parameters": {"__record__": layout.name} if layout.name else {},
    }
    if is_whole:
        return form
    if not isinstance(view, Layout):
        raise _NoFormError
    return _with_key({"class": "IndexedArray", "index": _index(view), "content": form}, layout)


def _union(layout: layouts.UnionLayout) -> Form:
    contents = [_form(content) for content in layout.contents]
    is_plain = all(content["class"] not in _INDIRECT for content in contents)
    if not is_plain or not 2 <= len(contents) <= 127:
        raise _NoFormError
    if _basic(layout.tags, "iu").itemsize != 1:
        raise _NoFormError
    index = "i64" if layout.index is None else _index(layout.index)
    return _with_key({"class": "UnionArray", "tags": "i8", "index": index, "contents": contents}, layout)


def _masked(layout: layouts.MaskedLayout) -> Form:
    content = _form(layout.content)
    if content["class"] in _INDIRECT:
        raise _NoFormError
    if layout.mask is None:
        return {"class": "UnmaskedArray", "content": content, "parameters": {}}
    if layout.form is MaskForm.INDEX:
        index = _index(layout.mask)
        if layout.masked_when != -1 or index == "u32":
            raise _NoFormError
        return _with_key({"class": "IndexedOptionArray", "index": index, "content": content}, layout)
    if _basic(layout.mask, "biu").itemsize != 1:
        raise _NoFormError
    form: Form = {"mask": "i8", "valid_when": not layout.masked_when, "content": content}
    if layout.form is MaskForm.BYTES:
        return _with_key({"class": "ByteMaskedArray", **form}, layout)
    form |= {"mask": "u8", "lsb_order": layout.is_lsb}
    return _with_key({"class": "BitMaskedArray", **form}, layout)


#: The first key of a group.
_GROUP_KEY = ".zgroup"
#: Bytes of a schema that stands in the attributes, at most; all of it is in the file anyway.
_MOST_SCHEMA = 256 << 10
#: References of all arrays: beyond that blobs are not cut.
_MOST_REFERENCES = 1_000_000
#: Characters of a text that is an array of its own, at most.
_MOST_TEXT = 4096


def document_of_arrays(
    arrays: Sequence[Awkward0Array], container: Container, origin: DocumentOrigin, name: str
) -> ManifestDocument:
    """Return the document of a file.

    Every array is a group with one array for each basic array of its schema; one that is basic itself is an
    array. Nothing but the schemas is read.

    Parameters
    ----------
    origin
        What the file tells beside.
    name
        For messages.
    """
    gathering = _Gathering(container.url)
    for array in arrays:
        gathering.add_array(array)
    findings = [finding for array in arrays for finding in findings_of(array)]
    return gathering.document(
        name=name, origin=origin, notes=(*container.findings, *findings, *gathering.findings)
    )


#: A chunk: its key, and its bytes or its URL with offset and length.
_Chunk = tuple[str, bytes | tuple[Any, ...]]


class _Gathering:
    """Gathers what a document says of a file.

    Parameters
    ----------
    url
        URL or absolute path of the container.
    """

    def __init__(self, url: str) -> None:
        #: Groups and arrays by each of their keys, in the order in which these are shown.
        self.nodes: dict[str, GroupNode | ArrayNode] = {_GROUP_KEY: GroupNode(path="/")}
        self.findings: list[Finding] = []
        self._forms: dict[Built, bytes] = {}
        self._buffers = BufferMemory()
        self._url = url
        self._chunks: list[_Chunk] = []

    def document(self, **fields: Any) -> ManifestDocument:
        """Return the document: nodes first, chunks after that."""
        manifest = ManifestBuilder(self._url, spell=_spelled_node)
        for key, node in self.nodes.items():
            if key.endswith(_GROUP_KEY):
                # Where an array is a group too, the array counts.
                node = self.nodes.get(f"{key.removesuffix(_GROUP_KEY)}.zarray", node)
            manifest.add_described(key, node)
        for key, reference in self._chunks:
            if isinstance(reference, bytes):
                manifest.add_bytes(key, reference)
            elif len(reference) == 1:
                manifest.add_whole(key, *reference)
            else:
                url, offset, length = reference
                manifest.add_range(key, offset, length, url)
        return manifest.document(**fields)

    def add_array(self, array: Awkward0Array) -> None:
        """Add one array, as far as it can be read."""
        layout = array.layout
        if array.error is not None or array.built is None or layout is None:
            return
        prefix = array.path.strip("/") + "/"
        self._add_groups_above(prefix)
        if isinstance(layout, NumpyLayout) and _is_plain(layout):
            self._add_buffer(prefix, buffer_arrays(layout)[0], self._attributes(array))
            return
        attributes, buffers = self._attributes(array), self._buffers.arrays(array.built)
        if any(each.is_renamed for each in buffers):
            attributes.pop(FORM_ATTRIBUTE, None)
        if isinstance(layout, PlainLayout) and self._add_value(prefix, layout.value, attributes):
            return
        if isinstance(layout, PlainLayout):
            attributes["awkward0_value"] = _json(layout.value)
        self._add_node(_GROUP_KEY, GroupNode(path=f"/{prefix[:-1]}", **_attributes_of(attributes)))
        for each in buffers:
            self._add_buffer(f"{prefix}{each.name}/", each, {})

    def _attributes(self, array: Awkward0Array) -> dict[str, bytes]:
        """Return the attributes of an array, each as JSON."""
        schema, built = array.schema, array.built
        assert schema is not None
        assert built is not None
        attributes = {NAME_ATTRIBUTE: _text(array.name).encode()}
        if len(schema.text) <= _MOST_SCHEMA:
            attributes[SCHEMA_ATTRIBUTE] = schema.text.strip()
        length = length_of(built.layout)
        if length is not None:
            attributes[LENGTH_ATTRIBUTE] = b"%d" % length
        form = self._form(built.pattern)
        if 0 < len(form) <= _MOST_SCHEMA:
            attributes[FORM_ATTRIBUTE] = form
        return attributes

    def _form(self, built: Built) -> bytes:
        """Return the form as text, the way ``awkward.from_buffers`` takes it and exports to Zarr write it."""
        known = self._forms.get(built)
        if known is None:
            form = None if isinstance(built.layout, NumpyLayout) else form_of(built.layout)
            known = b"" if form is None else _json(_json(form).decode())
            self._forms[built] = known
        return known

    def _add_groups_above(self, prefix: str) -> None:
        at = prefix.find("/")
        while 0 <= at < len(prefix) - 1:
            self.nodes.setdefault(f"{prefix[: at + 1]}{_GROUP_KEY}", GroupNode(path=f"/{prefix[:at]}"))
            at = prefix.find("/", at + 1)

    def _add_buffer(self, prefix: str, made: BufferArray, attributes: dict[str, bytes]) -> None:
        if len(self._chunks) + made.chunks > _MOST_REFERENCES:
            made = made.uncut()
        fields = self._buffers.fields(made)
        self._add_node(".zarray", ArrayNode(path=f"/{prefix[:-1]}", **fields, **_attributes_of(attributes)))
        if not made.is_expressible:
            message = f"{quoted(made.buffer.name)} holds more than this array, and is compressed"
            place = Place(path=f"/{prefix.rstrip('/')}")
            self.findings.append(
                Finding(severity=Severity.WARNING, kind=ErrorKind.REF, message=message, place=place)
            )
        for key, reference in made.references():
            self._chunks.append((prefix + key, reference))

    def _add_node(self, name: str, node: GroupNode | ArrayNode) -> None:
        """Add a node; `name` is that of its first key."""
        prefix = f"{node.path[1:]}/"
        self.nodes[prefix + name] = node
        if node.internal_attributes:
            self.nodes[f"{prefix}.zattrs"] = node

    def _add_value(self, prefix: str, value: Any, attributes: dict[str, bytes]) -> bool:
        """Add a plain value as an array without dimensions; tell whether Zarr can hold it."""
        dtype = _dtype_of_value(value)
        if dtype is None:
            return False
        path, values = f"/{prefix[:-1]}", Chunks(grid=RegularChunkGrid((), ()))
        node = ArrayNode(path=path, type=DataType.of(dtype), values=values, **_attributes_of(attributes))
        self._add_node(".zarray", node)
        self._chunks.append((f"{prefix}0", np.array(value, dtype).tobytes()))
        return True


def _attributes_of(members: dict[str, bytes]) -> dict[str, Any]:
    """Return the fields of a node that hold its attributes; those of the format are internal."""
    if not members:
        return {}
    own = {name: text for name, text in members.items() if name in STORED_ATTRIBUTES}
    others = {name: read_value(text)[0] for name, text in members.items() if name not in own}
    return {"attributes": others, "internal_attributes": JsonMembers(own)}


def _spelled_node(node: GroupNode | ArrayNode, name: str) -> bytes:
    """Return the metadata of a node as text (`Spell`); schemas stand in it as they were written."""
    if name == _GROUP_KEY:
        return b'{"zarr_format":2}'
    if name == ".zattrs":
        own = node.internal_attributes
        texts = own.texts if isinstance(own, JsonMembers) else {}
        others = {each: _json(value) for each, value in node.attributes.items()}
        return _object({**texts, **others})
    assert isinstance(node, ArrayNode)
    return _json(spelled_array(node))


def _is_plain(layout: NumpyLayout) -> bool:
    """Tell whether a basic array is one of Zarr as it is; texts and records are shown as nested values."""
    buffer = layout.buffer
    is_number = buffer.dtype.base.kind in "biufcmM"
    return is_number and not (buffer.codecs and buffer.offset)


#: Text as JSON.
_text = json.encoder.encode_basestring


def _dtype_of_value(value: Any) -> np.dtype[Any] | None:
    """Return the type of a plain value in Zarr; None where none can hold it."""
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return np.dtype("<i8" if value < 2**63 else "<u8")
    if isinstance(value, float):
        return np.dtype("<f8")
    if isinstance(value, str | bytes) and len(value) <= _MOST_TEXT and value[-1:] not in ("\0", b"\0"):
        return np.dtype(f"{'<U' if isinstance(value, str) else '|S'}{max(len(value), 1)}")
    return None


def _object(members: dict[str, bytes]) -> bytes:
    return b"{" + b",".join([b'"%s":%s' % (name.encode(), text) for name, text in members.items()]) + b"}"


def _json(value: Any) -> bytes:
    return _ENCODER.encode(value).encode()


def _spelled(value: Any) -> Any:
    """Return what stands for a value that JSON does not have."""
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_spelled)
