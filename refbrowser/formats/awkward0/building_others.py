"""Builds masked, indexed, mixed, chunked, sparse and virtual arrays (persistence notes, section 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, RefbrowserError, quoted
from refbrowser.formats.awkward0.building_call import Call, wrong
from refbrowser.formats.awkward0.building_meanings import FunctionName, Items
from refbrowser.formats.awkward0.expressions import Expression
from refbrowser.formats.awkward0.functions import Standing
from refbrowser.formats.awkward0.json_types import ArrayType, type_of_dtype
from refbrowser.formats.awkward0.layouts import (
    BrokenLayout,
    ChunkedLayout,
    IndexedLayout,
    Layout,
    MaskedLayout,
    MaskForm,
    ObjectLayout,
    SparseLayout,
    UnionLayout,
    VirtualLayout,
)
from refbrowser.formats.awkward0.lengths import length_of
from refbrowser.limits import LIMITS


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
        raise wrong(f"'chunkshape' of {call.name} is no shape: {quoted(shape)}")
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
        raise wrong(f"'args' of {call.name} are plain values, of which no array can be made")
    if isinstance(kwargs, Items) and kwargs.names:
        named = tuple(zip(kwargs.names, kwargs.numbers, strict=True))
    elif kwargs and not isinstance(kwargs, Items):
        raise wrong(f"'kwargs' of {call.name} are plain values, of which no array can be made")
    return positional, named


def _targets(call: Call) -> tuple[str, ...]:
    """Return the texts among the arguments of a generator: files and URLs that it would open."""
    found: list[str] = []
    pending: list[Any] = [call.meaning(name) for name in ("args", "kwargs") if call.has(name)]
    # Lists may refer to themselves.
    for _ in range(LIMITS.awkward_nodes):
        if not pending or len(found) >= LIMITS.awkward_findings:
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
