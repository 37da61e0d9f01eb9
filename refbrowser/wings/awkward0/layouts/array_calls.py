"""The calls of schema expressions that make arrays of lists, records, masks, unions and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.limits import LIMITS
from refbrowser.wings.awkward0.awkward_limits import AWKWARD_LIMITS
from refbrowser.wings.awkward0.layouts import text_codecs
from refbrowser.wings.awkward0.layouts.calls import Call, FunctionName, Items, wrong
from refbrowser.wings.awkward0.layouts.functions import Expression, Standing
from refbrowser.wings.awkward0.layouts.layouts import (
    BrokenLayout,
    ByteIndexedLayout,
    ByteListLayout,
    ChunkedLayout,
    IndexedLayout,
    Layout,
    ListIndex,
    ListLayout,
    MaskedLayout,
    MaskForm,
    NumpyLayout,
    ObjectLayout,
    RecordLayout,
    RegularLayout,
    SliceView,
    SparseLayout,
    UnionLayout,
    VirtualLayout,
    length_of,
)
from refbrowser.wings.awkward0.layouts.literals import inline_layout, literal_layout
from refbrowser.wings.awkward0.layouts.types import ArrayType, type_of_dtype

#: Parameters of the constructors that are the same for lists and text; text has its encoding after them.
_INDEX = {
    "": ("starts", "stops"),
    "fromcounts": ("counts",),
    "fromoffsets": ("offsets",),
    "fromparents": ("parents",),
    "fromuniques": ("uniques",),
    "fromlocalindex": ("index",),
}
_HOW = {
    "": ListIndex.STARTS_STOPS,
    "fromcounts": ListIndex.COUNTS,
    "fromoffsets": ListIndex.OFFSETS,
    "fromparents": ListIndex.PARENTS,
    "fromuniques": ListIndex.UNIQUES,
    "fromlocalindex": ListIndex.LOCAL_INDEX,
}
_PER_ELEMENT = (ListIndex.PARENTS, ListIndex.UNIQUES, ListIndex.LOCAL_INDEX)


def parameters_of_lists(method: str, *more: str) -> tuple[str, ...]:
    """Return the parameters of a constructor of lists: its index, the content, and others."""
    return (*_INDEX[method], "content", *more)


def lists(call: Call) -> ListLayout:
    """Build a `JaggedArray` of any constructor that has an index."""
    return _lists(call, {})


def texts(call: Call) -> ListLayout:
    """Build a `StringArray` of any such constructor."""
    return _lists(call, {"is_text": True, "encoding": _encoding(call)})


def _encoding(call: Call) -> str | None:
    value = call.plain("encoding", "utf-8")
    if value is None:
        return None
    if not isinstance(value, str):
        raise wrong(f"{quoted(value)} is not a text encoding")
    return text_codecs.codec_name(value)


def _lists(call: Call, text: dict[str, Any]) -> ListLayout:
    method = call.name.partition(".")[2]
    how = _HOW[method]
    first, *others = _INDEX[method]
    has_rank = how in (ListIndex.STARTS_STOPS, ListIndex.COUNTS)
    index: tuple[NumpyLayout, ...] = (call.basic(first) if has_rank else _index(call, first, how),)
    for name in others:
        stops = call.basic(name)
        _check_stops(call, index[0], stops)
        index = (*index, stops)
    content = call.layout("content")
    if text and not isinstance(content, BrokenLayout):
        _check_characters(call, content)
    if how in _PER_ELEMENT:
        length, wanted = length_of(index[0]), length_of(content)
        if wanted is not None and length != wanted:
            raise wrong(f"{first!r} of {call.name} has {length} elements, and its content {wanted}")
    return ListLayout(**call.common, how=how, index=index, content=content, **text)


def _index(call: Call, parameter: str, how: ListIndex) -> NumpyLayout:
    """Return the index of a constructor; a local one may be given as lists: their elements count."""
    layout = call.layout(parameter)
    if how is ListIndex.LOCAL_INDEX and isinstance(layout, ListLayout):
        inner = layout.content
        if isinstance(inner, NumpyLayout) and inner.buffer.dtype.kind in "iu":
            return inner
        raise wrong(f"{parameter!r} of {call.name} has elements that are not whole numbers")
    found = call.flat(parameter)
    if how is ListIndex.OFFSETS and not found.buffer.count:
        raise wrong(f"{parameter!r} of {call.name} is empty; there must be one offset more than lists")
    return found


def _check_stops(call: Call, starts: NumpyLayout, stops: NumpyLayout) -> None:
    call.need_length("stops", stops, starts.buffer.count, "'starts'")
    if starts.buffer.dtype.shape != stops.buffer.dtype.shape:
        raise wrong(f"'starts' and 'stops' of {call.name} have different shapes")


def _check_characters(call: Call, content: Layout) -> None:
    is_right = isinstance(content, NumpyLayout) and (
        content.buffer.count == 0 or (content.buffer.dtype.itemsize == 1 and content.buffer.dtype.ndim == 0)
    )
    if not is_right:
        raise wrong(f"the content of {call.name} is not bytes")


def byte_lists(call: Call) -> ByteListLayout:
    """Build a `ByteJaggedArray`."""
    method = call.name.partition(".")[2]
    index = tuple(call.flat(name) for name in _INDEX[method])
    if len(index) > 1:
        _check_stops(call, *index)
    content, dtype = _bytes_and_type(call)
    return ByteListLayout(**call.common, how=_HOW[method], index=index, content=content, dtype=dtype)


def byte_indexed(call: Call) -> ByteIndexedLayout:
    """Build a `ByteIndexedArray`."""
    content, dtype = _bytes_and_type(call)
    return ByteIndexedLayout(**call.common, index=call.flat("index"), content=content, dtype=dtype)


def _bytes_and_type(call: Call) -> tuple[NumpyLayout, np.dtype[Any]]:
    content = call.flat("content", "biuSV")
    if content.buffer.count and content.buffer.dtype.itemsize != 1:
        raise wrong(f"the content of {call.name} is not bytes")
    dtype = call.meaning("dtype") if call.has("dtype") else np.dtype(np.float64)
    if not isinstance(dtype, np.dtype) or not dtype.itemsize:
        raise wrong(f"'dtype' of {call.name} is not a type")
    return content, dtype


def from_jagged(call: Call) -> Layout:
    """Build ``JaggedArray.fromjagged``."""
    layout = call.layout("jagged")
    if not isinstance(layout, ListLayout | RegularLayout | BrokenLayout):
        raise wrong(f"'jagged' of {call.name} is not an array of lists")
    return layout


def text_from_jagged(call: Call) -> Layout:
    """Build ``StringArray.fromjagged``."""
    layout = call.layout("jagged")
    if isinstance(layout, BrokenLayout):
        raise layout.error
    if not isinstance(layout, ListLayout):
        raise wrong(f"'jagged' of {call.name} is not an array of lists")
    _check_characters(call, layout.content)
    return ListLayout(
        **call.common,
        how=layout.how,
        index=layout.index,
        content=layout.content,
        is_text=True,
        encoding=_encoding(call),
    )


def from_regular(call: Call) -> Layout:
    """Build ``fromregular``: an array of several dimensions is one of lists already."""
    layout = call.basic("regular", "biufcmMSUV")
    if not layout.buffer.dtype.ndim:
        raise wrong(f"'regular' of {call.name} has one dimension only")
    return layout


def from_folding(call: Call) -> Layout:
    """Build ``fromfolding``: lists of one size, the last one shorter where the rest is."""
    content, size = call.layout("content"), call.integer("size")
    if isinstance(content, BrokenLayout):
        raise content.error
    length = length_of(content)
    if size < 1 or length is None:
        raise wrong(f"{call.name} makes lists of {size} out of {length} elements")
    if length % size == 0:
        return RegularLayout(**call.common, content=content, size=size)
    if length // size > LIMITS.metadata_values:
        message = f"{call.name} makes {length // size} lists whose last is shorter (metadata_values)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    offsets = np.append(np.arange(0, length, size, dtype=np.int64), length)
    index = inline_layout(offsets, number=call.expression.number, id=call.expression.id)
    return ListLayout(**call.common, how=ListIndex.OFFSETS, index=(index,), content=content)


def from_iterable(call: Call) -> Layout:
    """Build ``fromiter`` of lists that stand in the schema, or of an array that has some already."""
    meaning = call.meaning("iterable")
    if isinstance(meaning, Layout):
        return meaning
    values = call.plain("iterable", None)
    is_right = isinstance(values, list | tuple) and all(isinstance(each, list | tuple) for each in values)
    if not is_right:
        raise wrong(f"'iterable' of {call.name} is not a list of lists")
    return literal_layout(values, call.expression.number, call.expression.id)


def texts_from_iterable(call: Call) -> Layout:
    """Build ``StringArray.fromiter`` of texts that stand in the schema."""
    values = call.plain("iterable", None)
    is_right = isinstance(values, list | tuple) and all(isinstance(each, str | bytes) for each in values)
    if not is_right:
        raise wrong(f"'iterable' of {call.name} is not a list of texts")
    return _text_array(call, list(values))


def _text_array(call: Call, values: list[Any]) -> Layout:
    common = {"number": call.expression.number, "id": call.expression.id}
    if values:
        return literal_layout(values, call.expression.number, call.expression.id)
    empty = inline_layout(np.zeros(0, np.int64), **common)
    content = inline_layout(np.zeros(0, np.uint8), **common)
    encoding = _encoding(call)
    return ListLayout(
        **call.common, how=ListIndex.COUNTS, index=(empty,), content=content, is_text=True, encoding=encoding
    )


def from_text(call: Call) -> Layout:
    """Build ``StringArray.fromstr``: one text again and again."""
    length, text = call.integer("length"), call.plain("string", None)
    if not 0 <= length <= LIMITS.elements or not isinstance(text, str | bytes):
        raise wrong(f"{call.name} makes {length} texts of {quoted(text)}")
    index = inline_layout(np.zeros(0, np.int64), number=call.expression.number, id=call.expression.id)
    return SparseLayout(
        **call.common, length=length, index=index, content=_text_array(call, []), default=text
    )


def from_numpy_text(call: Call) -> Layout:
    """Build ``StringArray.fromnumpy``: a basic array of texts of one size is one of texts already."""
    return call.basic("array", "SU")


#: Arguments of the constructors of vectors, which are their fields.
VECTOR_FIELDS = {
    "TVector2Array.from_cartesian": ("x", "y"),
    "TVector3Array.from_cartesian": ("x", "y", "z"),
    "TLorentzVectorArray.from_cartesian": ("x", "y", "z", "t"),
    "TLorentzVectorArray.from_ptetaphim": ("pt", "eta", "phi", "mass"),
}


def table(call: Call) -> RecordLayout:
    """Build ``Table(columns, ...)``: a dict, or arrays that are named by their number; keywords beside."""
    fields: list[tuple[str, Layout]] = []
    if call.has("columns1"):
        number = call.numbers["columns1"]
        meaning = call.meaning("columns1")
        if isinstance(meaning, Layout):
            columns = [meaning, *(call.meanings.layout(each) for each in call.extra)]
            fields += [(str(at), column) for at, column in enumerate(columns)]
        elif call.extra:
            raise wrong(f"{call.name} has columns beside a dict")
        else:
            fields += call.meanings.named_layouts_in(number)
    fields += [(name, call.meanings.layout(number)) for name, number in call.keywords]
    return RecordLayout(**call.common, fields=_unique(call, fields))


def table_from_pairs(call: Call) -> RecordLayout:
    """Build ``Table.frompairs``; `rowstart` only changes labels of rows."""
    call.integer("rowstart", 0)
    return RecordLayout(**call.common, fields=_unique(call, call.named_layouts("pairs")))


def _unique(call: Call, fields: list[tuple[str, Layout]]) -> tuple[tuple[str, Layout], ...]:
    """Return the columns; of equal names the last counts, as in the old library."""
    if any(len(name) > LIMITS.key_length for name, _ in fields):
        raise wrong(f"a column of {call.name} has too long a name")
    return tuple(dict(fields).items())


def table_from_view(call: Call) -> RecordLayout:
    """Build ``Table.fromview``: rows start, start + step... of a table, or those of an index."""
    base = call.layout("base")
    if isinstance(base, BrokenLayout):
        raise base.error
    if not isinstance(base, RecordLayout) or base.view is not None or base.is_jagged:
        raise wrong(f"'base' of {call.name} is not a whole table")
    return RecordLayout(**call.common, fields=base.fields, view=_view(call, length_of(base)))


def _view(call: Call, rows: int | None) -> SliceView | Layout | None:
    meaning = call.meaning("view")
    if isinstance(meaning, Layout):
        return call.flat("view")
    value = call.plain("view", None)
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 3 and all(type(each) is int for each in value):
        return _slice(call, SliceView(*value), rows)
    raise wrong(f"'view' of {call.name} is neither (start, step, length) nor an array: {quoted(value)}")


def _slice(call: Call, view: SliceView, rows: int | None) -> SliceView:
    last = view.start + view.step * (view.length - 1)
    ends = (view.start, last) if view.length else ()
    if view.length < 0 or (rows is not None and any(not 0 <= end < rows for end in ends)):
        message = f"{view.length} rows from {view.start} in steps of {view.step}"
        raise wrong(f"'view' of {call.name} has {message}, and its table {rows}")
    return view


def table_from_records(call: Call) -> Layout:
    """Build ``Table.fromrec``: a basic array with fields is one of records already."""
    layout = call.layout("recarray")
    if isinstance(layout, BrokenLayout):
        raise layout.error
    if not isinstance(layout, NumpyLayout) or layout.buffer.dtype.names is None:
        raise wrong(f"'recarray' of {call.name} has no fields")
    return layout


def vectors(call: Call) -> RecordLayout:
    """Build arrays of vectors; with jagged arguments they are lists of vectors."""
    names = tuple(call.numbers)
    fields = tuple((name, call.layout(name)) for name in VECTOR_FIELDS[call.name])
    if len(names) != len(fields):
        raise wrong(f"{call.name} has {len(names)} arguments, not {len(fields)}")
    jagged = {_is_jagged(field) for _, field in fields if not isinstance(field, BrokenLayout)}
    if len(jagged) > 1:
        raise wrong(f"some arguments of {call.name} are lists and some are not")
    return RecordLayout(
        **call.common, fields=fields, name=call.name.partition(".")[0], is_jagged=jagged == {True}
    )


def _is_jagged(layout: Any) -> bool:
    while isinstance(layout, MaskedLayout | ObjectLayout | VirtualLayout) and layout.content is not None:
        layout = layout.content
    return isinstance(layout, ListLayout | RegularLayout)


def union(call: Call) -> UnionLayout:
    """Build a `UnionArray`; of ``fromtags`` the running number of each tag is the index."""
    tags = call.flat("tags")
    index = call.flat("index") if call.has("index") else None
    if index is not None:
        call.need_length("index", index, tags.buffer.count, "'tags'")
    elif not call.name.endswith(".fromtags"):
        raise wrong(f"{call.name} lacks its argument 'index'")
    contents = call.layouts("contents")
    if len(contents) > 256:
        raise wrong(f"{call.name} has {len(contents)} contents, and a tag can name 256")
    return UnionLayout(**call.common, tags=tags, index=index, contents=tuple(contents))


def masked(call: Call) -> MaskedLayout:
    """Build a `MaskedArray`, or a `BitMaskedArray` of truth values: both have one for each element."""
    mask, content = call.flat("mask", "biuf"), call.layout("content")
    call.need_length("content", content, mask.buffer.count, "'mask'")
    when = call.truth("maskedwhen", True)
    return MaskedLayout(**call.common, form=MaskForm.BYTES, mask=mask, content=content, masked_when=when)


def bit_masked(call: Call) -> MaskedLayout:
    """Build a `BitMaskedArray`."""
    mask, content = call.flat("mask", "biu"), call.layout("content")
    if mask.buffer.dtype.itemsize != 1:
        raise wrong(f"'mask' of {call.name} has elements of {mask.buffer.dtype.itemsize} bytes, not of bits")
    length = length_of(content)
    least = None if length is None else -(-length // 8)
    call.need_length("mask", mask, least, "its content needs")
    return MaskedLayout(
        **call.common,
        form=MaskForm.BITS,
        mask=mask,
        content=content,
        masked_when=call.truth("maskedwhen", True),
        is_lsb=call.truth("lsborder", False),
    )


def index_masked(call: Call) -> MaskedLayout:
    """Build an `IndexedMaskedArray`."""
    when = call.integer("maskedwhen", -1)
    mask, content = call.flat("mask"), call.layout("content")
    return MaskedLayout(**call.common, form=MaskForm.INDEX, mask=mask, content=content, masked_when=when)


def not_masked(call: Call) -> MaskedLayout:
    """Build ``fromcontent`` of masked arrays: nothing is missing yet."""
    content = call.layout("content")
    return MaskedLayout(**call.common, form=MaskForm.BYTES, mask=None, content=content)


def indexed(call: Call) -> IndexedLayout:
    """Build an `IndexedArray`."""
    return IndexedLayout(**call.common, index=call.basic("index"), content=call.layout("content"))


def sparse(call: Call) -> SparseLayout:
    """Build a `SparseArray`; its length may be enormous, and is never allocated."""
    length = call.integer("length")
    if not 0 <= length <= LIMITS.elements:
        raise RefbrowserError(ErrorKind.BUDGET, f"{call.name} has {quoted(length)} elements (elements)")
    index, content = call.flat("index"), call.layout("content")
    call.need_length("content", content, index.buffer.count, "'index'")
    default = call.plain("default", None)
    return SparseLayout(**call.common, length=length, index=index, content=content, default=default)


def chunked(call: Call) -> ChunkedLayout:
    """Build a `ChunkedArray`; a chunk that is not as long as its size is broken, the others are not."""
    chunks = call.layouts("chunks")
    said = call.plain("chunksizes", None) or ()
    is_right = isinstance(said, list | tuple) and all(type(size) is int and size >= 0 for size in said)
    if not is_right or len(said) > len(chunks):
        raise wrong(f"'chunksizes' of {call.name} are not the lengths of {len(chunks)} chunks")
    checked = [_sized(call, chunk, said[at] if at < len(said) else None) for at, chunk in enumerate(chunks)]
    lost = [chunk.error for chunk in checked if isinstance(chunk, BrokenLayout)]
    if lost and len(lost) == len(checked):
        raise lost[0]
    sizes = [said[at] if at < len(said) else length_of(chunk) for at, chunk in enumerate(chunks)]
    known = tuple(size for size in sizes if size is not None)
    return ChunkedLayout(
        **call.common, chunks=tuple(checked), sizes=known if len(known) == len(sizes) else ()
    )


def _sized(call: Call, chunk: Layout, size: int | None) -> Layout:
    length = length_of(chunk)
    if size is None or length is None or length == size:
        return chunk
    error = wrong(f"a chunk of {call.name} has {length} elements, not {size}")
    place = call.meanings.place_of(call.expression.number)
    return BrokenLayout(number=chunk.number, id=chunk.id, function=chunk.function, error=error.at(place))


def appendable(call: Call) -> ChunkedLayout:
    """Build an `AppendableArray`: its type is known without any chunk."""
    shape, dtype = call.plain("chunkshape", ()), call.meaning("dtype")
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    if not sizes or not all(type(size) is int and 0 <= size <= LIMITS.elements for size in sizes):
        raise wrong(f"'chunkshape' of {call.name} is not a shape: {quoted(shape)}")
    if not isinstance(dtype, np.dtype):
        raise wrong(f"'dtype' of {call.name} is not a type")
    try:
        inner = np.dtype((dtype, sizes[1:])) if len(sizes) > 1 else dtype
    except (ValueError, TypeError):
        raise wrong(f"'chunkshape' of {call.name} is too large: {quoted(shape)}") from None
    chunks = call.layouts("chunks")
    lengths = [length_of(chunk) for chunk in chunks]
    known = tuple(length for length in lengths if length is not None)
    return ChunkedLayout(
        **call.common,
        chunks=tuple(chunks),
        sizes=known if len(known) == len(chunks) else (),
        dtype=type_of_dtype(inner),
    )


def objects(call: Call) -> ObjectLayout:
    """Build an `ObjectArray`: its generator is named and never called."""
    generator = call.meaning("generator")
    name = str(generator) if isinstance(generator, FunctionName) else "?"
    is_foreign = not isinstance(generator, FunctionName) or generator.verdict.canonical is None
    return ObjectLayout(**call.common, content=call.layout("content"), generator=name, is_foreign=is_foreign)


def virtual(call: Call) -> VirtualLayout:
    """Build a `VirtualArray`: what its generator makes, where that is built here."""
    kind = call.meaning("type") if call.has("type") else None
    said = kind if isinstance(kind, ArrayType) else None
    generator, content, error = call.meaning("generator"), None, None
    if isinstance(generator, BrokenLayout):
        error = generator.error
    elif not isinstance(generator, FunctionName):
        raise wrong(f"'generator' of {call.name} is not a function")
    elif generator.verdict.standing is Standing.REFUSED:
        message = f"the function {quoted(generator)} is refused: {generator.verdict.why}"
        error = RefbrowserError(ErrorKind.UNSAFE, message, call.meanings.place_of(call.expression.number))
    else:
        content = _generated(call, generator)
    return VirtualLayout(
        **call.common,
        generator=generator.function if isinstance(generator, BrokenLayout) else str(generator),
        content=content,
        type=None if said is None else said.type,
        length=None if said is None else said.length,
        target=_targets(call),
        error=error,
    )


def _generated(call: Call, generator: FunctionName) -> Layout:
    """Return what a generator of our table makes of its arguments."""
    positional, named = _arguments(call)
    expression = call.expression
    inner = Expression(
        number=expression.number,
        id=expression.id,
        kind=expression.kind,
        pointer=expression.pointer,
        value=generator.specification,
        children=positional,
        named=named,
    )
    return call.meanings.called(inner)


def _arguments(call: Call) -> tuple[tuple[int, ...], tuple[tuple[str, int], ...]]:
    """Return the expressions of the arguments that a generator would be given."""
    args = call.meaning("args") if call.has("args") else ()
    kwargs = call.meaning("kwargs") if call.has("kwargs") else {}
    positional: tuple[int, ...] = ()
    named: tuple[tuple[str, int], ...] = ()
    if isinstance(args, Items) and not args.names:
        positional = args.numbers
    elif args:
        raise wrong(f"'args' of {call.name} are plain values, which cannot become an array")
    if isinstance(kwargs, Items) and kwargs.names:
        named = tuple(zip(kwargs.names, kwargs.numbers, strict=True))
    elif kwargs and not isinstance(kwargs, Items):
        raise wrong(f"'kwargs' of {call.name} are plain values, which cannot become an array")
    return positional, named


def _targets(call: Call) -> tuple[str, ...]:
    """Return the texts among the arguments of a generator: files and URLs that it would open."""
    found: list[str] = []
    pending: list[Any] = [call.meaning(name) for name in ("args", "kwargs") if call.has(name)]
    # Lists may refer to themselves.
    for _ in range(AWKWARD_LIMITS.awkward_nodes):
        if not pending or len(found) >= AWKWARD_LIMITS.awkward_findings:
            break
        item = pending.pop()
        if isinstance(item, str):
            found.append(item[: LIMITS.url_length])
        elif isinstance(item, Items):
            pending.extend(reversed([call.meanings.meaning(number) for number in item.numbers]))
        elif isinstance(item, dict):
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            pending.extend(reversed(item))
    return tuple(found)
