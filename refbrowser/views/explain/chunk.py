"""From the reference of a chunk to the element or elements in it: reading, and decoding step by step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.building import specs_in
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.settings import Settings
from refbrowser.engine.columns import columns_of
from refbrowser.engine.shards import open_shards
from refbrowser.engine.wanted import WHOLE_LIMIT, Wanted
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceKind
from refbrowser.views.explain.decoding import (
    HEAD,
    bytes_step,
    decode_steps,
    element_block,
    element_offset,
    window_around,
)
from refbrowser.views.explain.explanation import HexBlock, Line, Step, StepState
from refbrowser.views.explain.source import Source
from refbrowser.views.explain.texts import bytes_text

#: Uncompressed chunks above this are read only where the element lies, and at their beginning.
WINDOWED = 1024 * 1024

Specs = tuple[CodecSpec, ...]


@dataclass
class Opened:
    """What became of a chunk.

    Attributes
    ----------
    element
        The stored element that was asked for, a numpy scalar; None where it was not reached.
    values
        All elements of the chunk, where no element was asked for and they were decoded.
    missing_inner
        Coordinates of the inner chunk of the shard that is not stored.
    read_error, decode_error
        Why the bytes could not be had, or not be decoded.
    """

    steps: list[Step] = field(default_factory=list)
    element: Any = None
    values: npt.NDArray[Any] | None = None
    missing_inner: tuple[int, ...] | None = None
    read_error: RefbrowserError | None = None
    decode_error: RefbrowserError | None = None


def open_chunk(
    node: ArrayNode,
    pipeline: CodecPipeline,
    reference: Reference,
    inside: tuple[int, ...] | None,
    source: Source,
) -> Opened:
    """Read and decode one chunk, as little of it as tells the element.

    Parameters
    ----------
    inside
        Index of the element in the chunk; None: the chunk as a whole is asked about.
    """
    opened = Opened()
    if pipeline.shard is not None and not isinstance(reference, Inline) and _by_parts(pipeline, inside):
        _open_shard(opened, node.codecs, pipeline, reference, inside, source)
    elif pipeline.is_raw and pipeline.decoded_size > WINDOWED and not isinstance(reference, Inline):
        _open_windows(opened, pipeline, reference, inside, source)
    else:
        _open_whole(opened, node.codecs, pipeline, reference, inside, source)
    return opened


def _by_parts(pipeline: CodecPipeline, inside: tuple[int, ...] | None) -> bool:
    return inside is not None or pipeline.decoded_size > WHOLE_LIMIT


def _tell_answer(opened: Opened, source: Source, reference: Reference) -> None:
    """Tell what was asked and answered, and once where in a zip archive the chunk lies."""
    step = source.step()
    if step is not None:
        opened.steps.append(step)
    member = None if any(step.name == "member" for step in opened.steps) else source.member(reference)
    if member is not None:
        opened.steps.append(member)


def _open_whole(
    opened: Opened,
    specs: Specs,
    pipeline: CodecPipeline,
    reference: Reference,
    inside: tuple[int, ...] | None,
    source: Source,
) -> None:
    data = source.read(reference, pipeline)
    _tell_answer(opened, source, reference)
    if isinstance(data, RefbrowserError):
        opened.read_error = data
        return
    where = "in the document itself" if isinstance(reference, Inline) else ""
    opened.steps.append(bytes_step(data, where))
    decoded = decode_steps(pipeline, specs, data)
    opened.steps += decoded.steps
    if decoded.chunk is None:
        opened.decode_error = decoded.error
        return
    if inside is None:
        opened.values = decoded.chunk
        return
    opened.element = decoded.chunk[inside]
    if pipeline.objects is None and pipeline.sharding is None:
        itemsize = pipeline.dtype.itemsize
        offset = element_offset(pipeline, inside)
        window = window_around(offset, itemsize, len(decoded.buffer))
        data = decoded.buffer[window.start : window.stop].tobytes()
        _add_block(opened, element_block(data, window, offset, itemsize))


def _add_block(opened: Opened, block: HexBlock) -> None:
    """Show bytes with the last step."""
    last = opened.steps[-1]
    facts = {**last.facts, "element_bytes": block.data[block.marked.start : block.marked.stop].hex()}
    opened.steps[-1] = replace(last, hexes=(*last.hexes, block), facts=facts)


def _open_windows(
    opened: Opened,
    pipeline: CodecPipeline,
    reference: Reference,
    inside: tuple[int, ...] | None,
    source: Source,
) -> None:
    """Read only some bytes of a large uncompressed chunk: its elements lie in it as they are."""
    size, itemsize = pipeline.decoded_size, pipeline.dtype.itemsize
    if isinstance(reference, ByteRange) and reference.length != size:
        message = f"the chunk is {reference.length} bytes, its shape and type {size}"
        opened.decode_error = RefbrowserError(ErrorKind.DECODE, message)
        opened.steps.append(
            Step(name="bytes", title="The stored bytes", state=StepState.FAULT, lines=[Line(message)])
        )
        return
    offset = 0 if inside is None else element_offset(pipeline, inside)
    window = window_around(offset, itemsize, size)
    wanted = [range(min(HEAD, size))] if inside is None else [range(min(HEAD, size)), window]
    answers = source.read_windows(reference, wanted)
    _tell_answer(opened, source, reference)
    parts: list[bytes] = []
    for answer in answers:
        if isinstance(answer, RefbrowserError):
            opened.read_error = answer
            return
        parts.append(answer)
    lines = [Line(f"{bytes_text(size)}, not compressed; only some of them were read", "Size")]
    facts = {"size": size, "read": sum(map(len, parts))}
    block = HexBlock("First bytes", parts[0])
    title = "The stored bytes"
    opened.steps.append(Step(name="bytes", title=title, lines=lines, facts=facts, hexes=[block]))
    if inside is None:
        return
    around = element_block(parts[1], window, offset, itemsize)
    stored = parts[1][around.marked.start : around.marked.stop]
    opened.element = np.frombuffer(stored, pipeline.dtype)[0]
    _add_block(opened, around)


def _open_shard(
    opened: Opened,
    specs: Specs,
    pipeline: CodecPipeline,
    reference: Reference,
    inside: tuple[int, ...] | None,
    source: Source,
) -> None:
    """Read the index of a shard, and of its inner chunks the one that holds the element."""
    layout = pipeline.shard
    assert layout is not None
    cut = tuple(slice(at, at + 1) for at in inside) if inside is not None else _all_of(pipeline)
    part = ChunkPart((), cut, cut, False)
    wanted = Wanted(pipeline, [part], [0], columns_of([reference]))
    inner = open_shards(wanted, source.fetch, source.total_of)[-1]
    error = source.error
    _tell_answer(opened, source, reference)
    if error is not None:
        opened.read_error = error
        return
    kinds = inner.columns.kind
    if (kinds == ReferenceKind.FAULTY).any():
        opened.decode_error = inner.columns.faults[0]
        opened.steps.append(
            _index_step(pipeline, StepState.FAULT, [Line(opened.decode_error.message, "Failed")])
        )
        return
    if inside is None:
        stored = int((kinds != ReferenceKind.MISSING).sum())
        opened.steps.append(
            _index_step(pipeline, StepState.OK, [Line(f"{stored} of {len(kinds)}", "Stored")])
        )
        return
    coords = tuple(at // side for at, side in zip(inside, layout.grid.chunk_shape, strict=True))
    within = tuple(at % side for at, side in zip(inside, layout.grid.chunk_shape, strict=True))
    lines = [Line(f"{list(coords)}, in it the element {list(within)}", "Inner chunk")]
    if kinds[0] == ReferenceKind.MISSING:
        lines.append(Line("the index says that this inner chunk is not stored", "Stored"))
        opened.steps.append(_index_step(pipeline, StepState.WARNING, lines))
        opened.missing_inner = coords
        return
    found = inner.columns.reference(0)
    assert isinstance(found, ByteRange)
    lines.append(Line(f"{bytes_text(found.length)} from byte {found.offset} of the file", "Stored"))
    opened.steps.append(_index_step(pipeline, StepState.OK, lines))
    next_one = _open_shard if inner.pipeline.shard is not None else _open_whole
    next_one(opened, _inner_specs(specs), inner.pipeline, found, within, source)


def _inner_specs(specs: Specs) -> Specs:
    """Return the codecs of the inner chunks, as the metadata names them."""
    outer = next((spec for spec in specs if spec.name == "sharding_indexed"), None)
    return () if outer is None else specs_in(Settings(outer.name, outer.configuration), "codecs")


def _all_of(pipeline: CodecPipeline) -> tuple[slice, ...]:
    return tuple(slice(0, side) for side in pipeline.shape)


def _index_step(pipeline: CodecPipeline, state: StepState, lines: list[Line]) -> Step:
    layout = pipeline.shard
    assert layout is not None
    where = "end" if layout.index_at_end else "beginning"
    grid = " × ".join(map(str, layout.grid.grid_shape))
    inner = " × ".join(map(str, layout.grid.chunk_shape))
    first = [
        Line(f"{grid} inner chunks ({inner} elements each)", "Contents"),
        Line(f"{bytes_text(layout.index_size)} at its {where}", "Index"),
    ]
    return Step(
        name="shard",
        title="The shard",
        state=state,
        lines=first + lines,
        facts={"inner_chunks": layout.grid.size, "index_size": layout.index_size},
    )
