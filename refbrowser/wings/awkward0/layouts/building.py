"""Building layouts of schema expressions, by the table of calls; those of the same meaning once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from refbrowser.errors import NOWHERE, ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding
from refbrowser.limits import LIMITS
from refbrowser.model.nested import Buffer, NestedType
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.files.container import Blob
from refbrowser.wings.awkward0.layouts import array_calls, calls, layouts
from refbrowser.wings.awkward0.layouts.calls import Bytes, Call, FunctionName, Items, wrong
from refbrowser.wings.awkward0.layouts.functions import (
    DECOMPRESSORS,
    AllowList,
    Expression,
    ExpressionKind,
    SchemaDocument,
    Standing,
    canonical_name,
    judge,
)
from refbrowser.wings.awkward0.layouts.layouts import (
    BrokenLayout,
    Layout,
    LinkLayout,
    ListIndex,
    ListLayout,
    NumpyLayout,
    PlainLayout,
    RecordLayout,
    parts,
    walk,
)
from refbrowser.wings.awkward0.layouts.literals import literal_layout
from refbrowser.wings.awkward0.layouts.pickles import plain_value
from refbrowser.wings.awkward0.layouts.types import dtype_of


@dataclass(frozen=True, slots=True)
class Entry:
    """One function: its parameters in order, and what builds the meaning of a call."""

    build: Callable[[Call], Any]
    parameters: tuple[str, ...]


_INDEXED = ("fromcounts", "fromoffsets", "fromparents", "fromuniques")
_OTHERS = {
    "frombuffer": Entry(calls.from_buffer, ("buffer", "dtype", "count", "offset")),
    "json2type": Entry(calls.type_from_json, ("obj",)),
    "topython": Entry(calls.from_pickle, ("string",)),
    "JaggedArray.fromlocalindex": Entry(array_calls.lists, ("index", "content", "validate")),
    "JaggedArray.fromiter": Entry(array_calls.from_iterable, ("iterable",)),
    "JaggedArray.fromregular": Entry(array_calls.from_regular, ("regular",)),
    "JaggedArray.fromfolding": Entry(array_calls.from_folding, ("content", "size")),
    "JaggedArray.fromjagged": Entry(array_calls.from_jagged, ("jagged",)),
    "ByteJaggedArray": Entry(array_calls.byte_lists, ("starts", "stops", "content", "dtype")),
    "ByteJaggedArray.fromcounts": Entry(array_calls.byte_lists, ("counts", "content", "dtype")),
    "ByteIndexedArray": Entry(array_calls.byte_indexed, ("index", "content", "dtype")),
    "StringArray.fromjagged": Entry(array_calls.text_from_jagged, ("jagged", "encoding")),
    "StringArray.fromiter": Entry(array_calls.texts_from_iterable, ("iterable", "encoding")),
    "StringArray.fromnumpy": Entry(array_calls.from_numpy_text, ("array",)),
    "StringArray.fromstr": Entry(array_calls.from_text, ("length", "string", "encoding")),
    "Table": Entry(array_calls.table, ("columns1", "*", "**")),
    "Table.frompairs": Entry(array_calls.table_from_pairs, ("pairs", "rowstart")),
    "Table.fromview": Entry(array_calls.table_from_view, ("view", "base")),
    "Table.fromrec": Entry(array_calls.table_from_records, ("recarray",)),
    "UnionArray": Entry(array_calls.union, ("tags", "index", "contents")),
    "UnionArray.fromtags": Entry(array_calls.union, ("tags", "contents")),
    "MaskedArray": Entry(array_calls.masked, ("mask", "content", "maskedwhen")),
    "MaskedArray.fromcontent": Entry(array_calls.not_masked, ("content", "maskedwhen")),
    "BitMaskedArray": Entry(array_calls.bit_masked, ("mask", "content", "maskedwhen", "lsborder")),
    "BitMaskedArray.fromboolmask": Entry(array_calls.masked, ("mask", "content", "maskedwhen", "lsborder")),
    "BitMaskedArray.fromcontent": Entry(array_calls.not_masked, ("content", "maskedwhen", "lsborder")),
    "IndexedMaskedArray": Entry(array_calls.index_masked, ("mask", "content", "maskedwhen")),
    "IndexedMaskedArray.fromcontent": Entry(array_calls.not_masked, ("content", "maskedwhen")),
    "IndexedArray": Entry(array_calls.indexed, ("index", "content")),
    "SparseArray": Entry(array_calls.sparse, ("length", "index", "content", "default")),
    "ChunkedArray": Entry(array_calls.chunked, ("chunks", "chunksizes")),
    "AppendableArray": Entry(array_calls.appendable, ("chunkshape", "dtype", "chunks")),
    "ObjectArray": Entry(array_calls.objects, ("content", "generator", "args", "kwargs")),
    "VirtualArray": Entry(
        array_calls.virtual,
        ("generator", "args", "kwargs", "cache", "persistentkey", "type", "nbytes", "persistvirtual"),
    ),
}


def _named(name: str, method: str) -> str:
    return f"{name}.{method}" if method else name


def _table() -> dict[str, Entry]:
    table = dict(_OTHERS)
    table |= {name: Entry(calls.decompressed, ("data",)) for name in DECOMPRESSORS}
    for method in ("", *_INDEXED):
        more = ("length",) if method == "fromparents" else ()
        parameters = array_calls.parameters_of_lists(method, *more)
        table[_named("JaggedArray", method)] = Entry(array_calls.lists, parameters)
        parameters = array_calls.parameters_of_lists(method, "encoding")
        table[_named("StringArray", method)] = Entry(array_calls.texts, parameters)
    for name in array_calls.VECTOR_FIELDS:
        table[name] = Entry(array_calls.vectors, array_calls.VECTOR_FIELDS[name])
    return table


TABLE: Mapping[str, Entry] = _table()


#: How often the values of a schema may be gathered.
_PLAIN_VALUES = 4
FindBlob = Callable[[str], Blob | None]
#: Gives the bytes that a blob unpacks to by its codecs.
DecodedSize = Callable[[Blob, tuple[str, ...]], int]


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """What the expressions of one schema build.

    Attributes
    ----------
    layout
        Of the root.
    by_number
        The layout of each expression that is an array; the targets of all links are among them.
    findings
        What could not be built.
    like
        What another schema builds that differs in blobs and counts alone: types, forms and the names of
        buffers are the same.
    """

    layout: Layout
    by_number: Mapping[int, Layout]
    findings: tuple[Finding, ...] = ()
    like: Built | None = None

    @property
    def pattern(self) -> Built:
        """The same for all that differ in blobs and counts alone."""
        return self.like or self


def build_layout(
    schema: SchemaDocument,
    find_blob: FindBlob,
    allowed: AllowList | None = None,
    *,
    place: Place = NOWHERE,
    decoded_size: DecodedSize | None = None,
) -> Built:
    """Return what a schema builds (persistence notes, sections 1 to 3).

    Parameters
    ----------
    find_blob
        Gives a blob by its whole name, or None where there is none of that name.
    allowed
        What the user allows beside.
    place
        Where the schema is.
    decoded_size
        Asked where only that tells how many elements a blob has.
    """
    return _Building(schema, find_blob, allowed or AllowList(), place, decoded_size).built()


class _Building:
    """Evaluates the expressions of one schema (`Meanings`)."""

    def __init__(
        self,
        schema: SchemaDocument,
        find_blob: FindBlob,
        allowed: AllowList,
        place: Place,
        decoded_size: DecodedSize | None,
    ) -> None:
        self.allowed = allowed
        self._decoded_size = decoded_size
        self._schema = schema
        self._find_blob = find_blob
        self._place = place
        self._known: dict[int, Any] = {}
        self._open: set[int] = set()
        self._depth = 0
        #: How many plain values may still be gathered: lists refer to lists, and to themselves.
        self._left = _PLAIN_VALUES * AWKWARD_LIMITS.awkward_nodes
        self._links: list[LinkLayout] = []
        #: Of how many layouts each consists, those shared counted as often as they are there.
        self._weights: dict[Layout, int] = {}
        self._findings: list[Finding] = []

    def built(self) -> Built:
        """Build the root."""
        layout = self._root()
        by_number = {number: made for number, made in self._known.items() if isinstance(made, Layout)}
        for link in self._links:
            if not isinstance(by_number.get(link.target), Layout):
                error = wrong("what is referred to is not an array").at(self.place_of(link.target))
                by_number[link.target] = BrokenLayout(number=link.target, error=error)
        return Built(layout, by_number, tuple(self._findings[: AWKWARD_LIMITS.awkward_findings]))

    def _root(self) -> Layout:
        root = self._schema.root
        try:
            meaning = self.meaning(root.number)
            if isinstance(meaning, Layout):
                return meaning
            return PlainLayout(number=root.number, id=root.id, value=self.plain(root.number))
        except RefbrowserError as error:
            return self._broken(root, error)

    def place_of(self, number: int) -> Place:
        """Return where an expression is."""
        return replace(self._place, pointer=self._schema.expressions[number].pointer)

    def decoded_size(self, data: Bytes) -> int:
        """Return the bytes that a compressed blob unpacks to.

        Raises
        ------
        RefbrowserError
            That cannot be found out.
        """
        if self._decoded_size is None:
            raise wrong(f"the length of {quoted(data.blob.name)} is not given, and it is compressed")
        return self._decoded_size(data.blob, data.codecs)

    # What an expression is for those that use it

    def layout(self, number: int) -> Layout:
        """Return the array that an expression is; a broken one where it is none."""
        try:
            meaning = self.meaning(number)
            return meaning if isinstance(meaning, Layout) else self.literal(self.plain(number), number)
        except RefbrowserError as error:
            return self._broken(self._schema.expressions[number], error)

    def literal(self, value: Any, number: int) -> Layout:
        """Return the array that stands in the schema as plain values."""
        expression = self._schema.expressions[number]
        return literal_layout(value, expression.number, expression.id)

    def plain(self, number: int) -> Any:
        """Return the plain value that an expression is: lists and dicts of expressions as such of values."""
        meaning = self.meaning(number)
        self._left -= 1
        if self._left < 0 or self._depth > AWKWARD_LIMITS.awkward_depth:
            message = "plain values are too many, or nested too deep (awkward_nodes, awkward_depth)"
            raise RefbrowserError(ErrorKind.BUDGET, message, self.place_of(number))
        if isinstance(meaning, PlainLayout):
            return meaning.value
        if isinstance(meaning, Items):
            self._depth += 1
            try:
                return self._plain_items(meaning)
            finally:
                self._depth -= 1
        if isinstance(meaning, Layout | Bytes | NestedType | FunctionName | np.dtype):
            raise wrong(f"{_what(meaning)} is found where a plain value belongs").at(self.place_of(number))
        return meaning

    def _plain_items(self, items: Items) -> Any:
        values = [self.plain(each) for each in items.numbers]
        if items.kind is ExpressionKind.DICT:
            return dict(zip(items.names, values, strict=True))
        if items.kind is ExpressionKind.PAIRS:
            return list(zip(items.names, values, strict=True))
        return tuple(values) if items.kind is ExpressionKind.TUPLE else values

    def layouts_in(self, number: int) -> list[Layout]:
        """Return the arrays of a list."""
        meaning = self.meaning(number)
        if isinstance(meaning, Items) and not meaning.names:
            return [self.layout(each) for each in meaning.numbers]
        if not isinstance(meaning, list | tuple):
            raise wrong(f"{_what(meaning)} is found where a list of arrays belongs").at(self.place_of(number))
        return [self.literal(each, number) for each in meaning]

    def named_layouts_in(self, number: int) -> list[tuple[str, Layout]]:
        """Return the arrays of pairs or a dict."""
        meaning = self.meaning(number)
        if isinstance(meaning, Items) and len(meaning.names) == len(meaning.numbers):
            pairs = zip(meaning.names, meaning.numbers, strict=True)
            return [(name, self.layout(each)) for name, each in pairs]
        if isinstance(meaning, dict):
            return [(name, self.literal(each, number)) for name, each in meaning.items()]
        if isinstance(meaning, list | tuple) and all(_is_pair(each) for each in meaning):
            return [(name, self.literal(each, number)) for name, each in meaning]
        raise wrong(f"{_what(meaning)} is found where named arrays belong").at(self.place_of(number))

    # What an expression means

    def meaning(self, number: int) -> Any:
        """Return a layout, plain value, type, `Bytes`, `Items` or `FunctionName`.

        Raises
        ------
        RefbrowserError
            It has none; the same error each time.
        """
        if number not in self._known:
            self._known[number] = self._evaluated(self._schema.expressions[number])
        known = self._known[number]
        if isinstance(known, RefbrowserError):
            raise known
        return known

    def _evaluated(self, expression: Expression) -> Any:
        """Return a meaning or the error instead."""
        self._open.add(expression.number)
        self._depth += 1
        try:
            if self._depth > AWKWARD_LIMITS.awkward_depth:
                message = f"arrays are nested more than {AWKWARD_LIMITS.awkward_depth} times (awkward_depth)"
                raise RefbrowserError(ErrorKind.BUDGET, message)
            made = self._made(expression)
            return self._weighed(made) if isinstance(made, Layout) else made
        except RefbrowserError as error:
            located = error if error.place.pointer is not None else error.at(self.place_of(expression.number))
            self._note(expression, located)
            return self._broken(expression, located) if expression.kind is ExpressionKind.CALL else located
        finally:
            self._depth -= 1
            self._open.discard(expression.number)

    def _made(self, expression: Expression) -> Any:
        if expression.error is not None:
            raise expression.error
        match expression.kind:
            case ExpressionKind.CALL:
                return self.called(expression)
            case ExpressionKind.REF:
                return self._referred(expression)
            case ExpressionKind.READ:
                return self._blob(expression)
            case ExpressionKind.DTYPE:
                return dtype_of(expression.value)
            case ExpressionKind.FUNCTION:
                return FunctionName(expression.value, judge(expression.value, self.allowed))
            case ExpressionKind.PYTHON:
                return plain_value(expression.value)
            case ExpressionKind.JSON:
                return expression.value
        numbers = tuple(number for _, number in expression.named) or expression.children
        return Items(expression.kind, numbers, tuple(name for name, _ in expression.named))

    def called(self, expression: Expression) -> Any:
        """Return what a call means: a layout, type or `Bytes`; only entries of the table are built."""
        verdict = judge(expression.value, self.allowed)
        if verdict.standing is Standing.REFUSED or verdict.canonical is None:
            advice = "Allow it, and it is built here." if verdict.can_be_allowed else ""
            message = f"the function {quoted(verdict.name)} is refused: {verdict.why}"
            raise RefbrowserError(ErrorKind.UNSAFE, message, advice=advice)
        entry = TABLE[verdict.canonical]
        if expression.id is not None and self._schema.by_id.get(expression.id) != expression.number:
            # Of an id that is given twice the last one counts; buffers are named by ids.
            expression = replace(expression, id=None)
        return entry.build(Call.bound(self, expression, verdict.canonical, entry.parameters))

    def _referred(self, expression: Expression) -> Any:
        target = self._schema.by_id.get(expression.value)
        if target is None:
            raise wrong(f"the id {expression.value}, which is referred to, does not exist")
        if target not in self._open:
            return self.meaning(target)
        if self._schema.expressions[target].kind is not ExpressionKind.CALL:
            raise wrong(f"the id {expression.value} contains itself and is not an array")
        link = LinkLayout(number=expression.number, target=target)
        self._links.append(link)
        return link

    def _blob(self, expression: Expression) -> Bytes:
        name = expression.value if expression.is_absolute else self._schema.prefix + expression.value
        blob = self._find_blob(name)
        if blob is None:
            raise RefbrowserError(ErrorKind.RANGE, f"there is no blob {quoted(name)}")
        if blob.error is not None:
            raise blob.error
        return Bytes(blob)

    # Bookkeeping

    def _weighed(self, layout: Layout) -> Layout:
        if layout not in self._weights:
            weight = 1 + sum(self._weights.get(part, 1) for _, part in parts(layout))
            if weight > AWKWARD_LIMITS.awkward_parts:
                message = (
                    f"an array is made of more than {AWKWARD_LIMITS.awkward_parts} others (awkward_parts)"
                )
                raise RefbrowserError(ErrorKind.BUDGET, message)
            self._weights[layout] = weight
        return layout

    def _broken(self, expression: Expression, error: RefbrowserError) -> BrokenLayout:
        located = error if error.place.pointer is not None else error.at(self.place_of(expression.number))
        function = ".".join(expression.value) if expression.kind is ExpressionKind.CALL else ""
        return BrokenLayout(number=expression.number, id=expression.id, function=function, error=located)

    def _note(self, expression: Expression, error: RefbrowserError) -> None:
        """List an error where it comes from: not where it only passes."""
        # What nothing has the id of is listed where the schema was read.
        is_dangling = expression.kind is ExpressionKind.REF and expression.value not in self._schema.by_id
        is_listed = expression.error is not None or is_dangling
        if not is_listed and error.place.pointer == expression.pointer:
            finding = Finding(
                severity=Severity.FAULT,
                kind=error.kind,
                message=error.message,
                place=error.place,
                advice=error.advice,
            )
            self._findings.append(finding)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _what(meaning: Any) -> str:
    if isinstance(meaning, Layout):
        return "an array"
    if isinstance(meaning, Bytes):
        return "a blob"
    if isinstance(meaning, np.dtype | NestedType):
        return "a type"
    if isinstance(meaning, FunctionName):
        return f"the function {quoted(meaning)}"
    return "a list of expressions" if isinstance(meaning, Items) else quoted(meaning)


class BuildingMemory:
    """Builds the layouts of one file.

    Parameters
    ----------
    allowed
        What the user allows beside.
    decoded_size
        Asked where only that tells how many elements a blob has.
    """

    def __init__(self, allowed: AllowList, decoded_size: DecodedSize | None = None) -> None:
        self._allowed = allowed
        self._decoded_size = decoded_size
        self._first: dict[object, tuple[SchemaDocument, Built]] = {}
        self._plans: dict[object, _Plan | None] = {}

    def built(self, schema: SchemaDocument, find_blob: FindBlob) -> Built:
        """Return what `build_layout` does."""
        shape = schema.shape
        if shape is None or shape not in self._first:
            built = self._anew(schema, find_blob)
            if shape is not None:
                self._first[shape] = schema, built
            return built
        if shape not in self._plans:
            self._plans[shape] = _plan(*self._first[shape])
        plan = self._plans[shape]
        made = None if plan is None else plan.built(schema, find_blob)
        return self._anew(schema, find_blob) if made is None else made

    def _anew(self, schema: SchemaDocument, find_blob: FindBlob) -> Built:
        return build_layout(schema, find_blob, self._allowed, decoded_size=self._decoded_size)


@dataclass(frozen=True, slots=True)
class _Basic:
    """A basic array of the first schema.

    Attributes
    ----------
    read
        The expression that names its blob.
    count
        The one that is its count; None where the blob tells it.
    """

    layout: NumpyLayout
    read: Expression
    count: int | None

    def made(self, schema: SchemaDocument, find_blob: FindBlob) -> NumpyLayout | None:
        """Return that of another schema; None where it must be looked at."""
        first, blob = self.layout.blob, self._blob(schema, find_blob)
        if blob is None or blob.error is not None or first is None:
            return None
        old = self.layout.buffer
        count = old.count
        if self.count is not None:
            count = schema.expressions[self.count].value
        elif old.codecs or blob.size != first.size:
            return None
        wanted = old.offset + count * old.dtype.itemsize
        if count > LIMITS.elements or (not old.codecs and wanted > blob.size):
            return None
        buffer = Buffer(
            blob.reference, old.dtype, count, old.codecs, old.offset, blob.stored, blob.name, old.place
        )
        same = self.layout
        return NumpyLayout(number=same.number, id=same.id, function=same.function, buffer=buffer, blob=blob)

    def _blob(self, schema: SchemaDocument, find_blob: FindBlob) -> Blob | None:
        name = self.read.value if self.read.is_absolute else schema.prefix + self.read.value
        return find_blob(name)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the layouts of a shape are made.

    Attributes
    ----------
    steps
        Layouts, each after those that it is made of.
    counts
        Expressions that may differ from those of the first schema, where both are positive.
    """

    first: SchemaDocument
    built_first: Built
    steps: tuple[_Basic | Layout, ...]
    counts: frozenset[int]

    def built(self, schema: SchemaDocument, find_blob: FindBlob) -> Built | None:
        """Return what a schema builds; None where that is not known."""
        if schema.expressions is not self.first.expressions and not self._fits(schema):
            return None
        new: dict[Layout, Layout] = {}
        for step in self.steps:
            if not isinstance(step, _Basic):
                new[step] = with_parts(step, new)
                continue
            made = step.made(schema, find_blob)
            if made is None:
                return None
            new[step.layout] = made
        known = self.built_first
        by_number = {number: new.get(layout, layout) for number, layout in known.by_number.items()}
        return Built(new[known.layout], by_number, like=known)

    def _fits(self, schema: SchemaDocument) -> bool:
        """Tell whether only counts differ from those of the first schema, and none is nothing."""
        pairs = enumerate(zip(schema.expressions, self.first.expressions, strict=True))
        changed = [at for at, (one, other) in pairs if one is not other]
        return all(
            at in self.counts and schema.expressions[at].value > 0 and self.first.expressions[at].value > 0
            for at in changed
        )


def _plan(schema: SchemaDocument, built: Built) -> _Plan | None:
    """Return how the layouts of a shape are made; None where each is to be built anew."""
    layouts = list(dict.fromkeys(built.by_number.values()))
    if built.findings or built.layout not in layouts:
        return None
    steps: list[_Basic | Layout] = []
    for layout in layouts:
        step = _basic(schema, layout) if isinstance(layout, NumpyLayout) and layout.blob else layout
        if step is None:
            return None
        steps.append(step)
    known = set(layouts)
    hidden = [part for each in layouts for part in walk(each) if part not in known]
    if any(isinstance(part, NumpyLayout) and part.blob is not None for part in hidden):
        return None
    referred = {
        schema.by_id.get(each.value) for each in schema.expressions if each.kind is ExpressionKind.REF
    }
    counts = {step.count for step in steps if isinstance(step, _Basic) and step.count is not None}
    are_free = all(_is_free(each) for each in layouts)
    return _Plan(schema, built, tuple(steps), frozenset(counts - referred if are_free else ()))


def _is_free(layout: Layout) -> bool:
    """Tell whether a layout is the same whatever the lengths of its parts are, so they are not empty."""
    if isinstance(layout, ListLayout):
        return layout.how in (ListIndex.COUNTS, ListIndex.OFFSETS)
    return isinstance(layout, NumpyLayout) or (isinstance(layout, RecordLayout) and layout.view is None)


def _basic(schema: SchemaDocument, layout: NumpyLayout) -> _Basic | None:
    call = schema.expressions[layout.number]
    if not _is_call(call, "frombuffer"):
        return None
    read = call
    while read.kind is ExpressionKind.CALL and read.children:
        read = schema.expressions[read.children[0]]
    if (
        read.kind is not ExpressionKind.READ
        or layout.blob is None
        or not layout.blob.name.endswith(read.value)
    ):
        return None
    named = dict(call.named)
    at = call.children[2] if len(call.children) > 2 else named.get("count")
    if at is None:
        return _Basic(layout, read, None)
    count = schema.expressions[at]
    if count.kind is not ExpressionKind.JSON or type(count.value) is not int:
        return None
    return _Basic(layout, read, at if count.value >= 0 else None)


def _is_call(expression: Expression, name: str) -> bool:
    return expression.kind is ExpressionKind.CALL and canonical_name(expression.value) == name


def with_parts(layout: Layout, new: Mapping[Layout, Any]) -> Layout:
    """Return a layout with others in place of its parts; those that are not in `new` stay."""
    match layout:
        case layouts.ListLayout():
            return layouts.ListLayout(
                number=layout.number,
                id=layout.id,
                function=layout.function,
                how=layout.how,
                index=tuple([new.get(part, part) for part in layout.index]),
                content=new.get(layout.content, layout.content),
                is_text=layout.is_text,
                encoding=layout.encoding,
            )
        case layouts.RecordLayout(view=view):
            fields = tuple([(name, new.get(part, part)) for name, part in layout.fields])
            own = new.get(view, view) if isinstance(view, Layout) else view
            return replace(layout, fields=fields, view=own)
        case layouts.ByteListLayout():
            index = tuple([new.get(part, part) for part in layout.index])
            return replace(layout, index=index, content=new.get(layout.content, layout.content))
        case layouts.UnionLayout(tags=tags, index=order):
            contents = tuple([new.get(part, part) for part in layout.contents])
            own = None if order is None else new.get(order, order)
            return replace(layout, tags=new.get(tags, tags), index=own, contents=contents)
        case layouts.ChunkedLayout():
            return replace(layout, chunks=tuple([new.get(part, part) for part in layout.chunks]))
    return _with_single(layout, new)


def _with_single(layout: Layout, new: Mapping[Layout, Any]) -> Layout:
    """Return the same of a layout whose parts have a field each."""
    match layout:
        case layouts.MaskedLayout(mask=mask, content=content):
            own = None if mask is None else new.get(mask, mask)
            return replace(layout, mask=own, content=new.get(content, content))
        case (
            layouts.IndexedLayout(index=index, content=content)
            | layouts.SparseLayout(index=index, content=content)
            | layouts.ByteIndexedLayout(index=index, content=content)
        ):
            return replace(layout, index=new.get(index, index), content=new.get(content, content))
        case layouts.RegularLayout(content=content) | layouts.ObjectLayout(content=content):
            return replace(layout, content=new.get(content, content))
        case layouts.VirtualLayout(content=Layout() as content):
            return replace(layout, content=new.get(content, content))
    return layout
