"""From the reference of a chunk to the element or elements in it: reading, and decoding step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.codecs.base import Bytes, as_bytes
from refbrowser.codecs.building import specs_in
from refbrowser.codecs.pipeline import CodecPipeline, Stage
from refbrowser.codecs.settings import Settings
from refbrowser.codecs.table import begins_like
from refbrowser.engine.reading.shards import open_shards
from refbrowser.engine.reading.wanted_ranges import WHOLE_LIMIT, Wanted
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.sniffing import FileKind, file_kind
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nodes import ArrayNode, CodecSpec
from refbrowser.model.reference import ByteRange, Inline, Reference, ReferenceKind, columns_of
from refbrowser.tools.explain.report.explanation import HexBlock, Line, Step, StepState, plain, settings_text
from refbrowser.tools.explain.report.source import Source
from refbrowser.words import counted_plain

#: Bytes of a chunk that are shown from its beginning, and on each side of the element.
HEAD, AROUND = 64, 24
#: Bytes in which signs of another format are looked for.
LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    """What became of the bytes of a chunk.

    Attributes
    ----------
    chunk
        None where a step failed.
    buffer
        What the byte codecs gave, as far as they went.
    """

    steps: tuple[Step, ...]
    chunk: npt.NDArray[Any] | None
    buffer: Bytes
    error: RefbrowserError | None = None


def bytes_step(data: bytes, where: str = "") -> Step:
    """Return the step that shows stored bytes."""
    lines = [Line(counted_plain(len(data), "byte") + (f" {where}" if where else ""), "Size")]
    blocks = [HexBlock("First bytes", data[:HEAD])] if data else []
    return Step(name="bytes", title="The stored bytes", lines=lines, facts={"size": len(data)}, hexes=blocks)


def decode_steps(pipeline: CodecPipeline, specs: tuple[CodecSpec, ...], data: bytes) -> Decoded:
    """Decode a chunk step by step."""
    buffer: Bytes = as_bytes(data)
    steps: list[Step] = []
    stages = list(reversed(pipeline.stages))
    left = _specs_by_name(specs)
    outputs = pipeline.unpacked(data)
    for stage in stages:
        before = len(buffer)
        text = _settings(left, stage.name)
        try:
            _, buffer = next(outputs)
        except RefbrowserError as error:
            steps.append(_failed(f"Codec {plain(stage.name, 60)}", buffer, text, error))
            return Decoded(tuple(steps), None, buffer, error)
        steps.append(_passed(stage, before, len(buffer), text))
    try:
        # Its checks run even where there are no byte codecs.
        next(outputs, None)
        chunk = pipeline.elements(buffer)
    except RefbrowserError as error:
        steps.append(_failed("The elements of the chunk", buffer, _elements_text(pipeline), error))
        return Decoded(tuple(steps), None, buffer, error)
    steps.append(_elements_step(pipeline, len(buffer)))
    return Decoded(tuple(steps), chunk, buffer)


def _specs_by_name(specs: tuple[CodecSpec, ...]) -> dict[str, Iterator[CodecSpec]]:
    """Return the codecs of the metadata by name, the last one first: decoding goes backwards."""
    found: dict[str, list[CodecSpec]] = {}
    for spec in reversed(specs):
        found.setdefault(spec.name, []).append(spec)
    return {name: iter(items) for name, items in found.items()}


def _settings(left: dict[str, Iterator[CodecSpec]], name: str) -> str:
    spec = next(left.get(name, iter(())), None)
    return "" if spec is None else settings_text(spec.configuration)


def _passed(stage: Stage, before: int, after: int, settings: str) -> Step:
    name = stage.name
    lines = [Line(f"{before} → {counted_plain(after, 'byte')}", "Decodes")]
    if lenders := getattr(stage.codec, "lenders", ()):
        # All codecs of the chunk are undone by it at once.
        lines.append(Line(", ".join(lenders), "Decoded by"))
    if settings:
        lines.append(Line(settings, "Settings"))
    return Step(
        name="codec",
        title=f"Codec {plain(name, 60)}",
        lines=lines,
        facts={"codec": name, "bytes_in": before, "bytes_out": after},
    )


def _failed(title: str, given: Bytes, text: str, error: RefbrowserError) -> Step:
    before = len(given)
    lines = [Line(counted_plain(before, "byte"), "Given"), Line(error.message, "Failed")]
    if text:
        lines.append(Line(text, "Settings"))
    likely = looks_like(bytes(given[:LOOKED_AT]))
    if likely and not title.endswith(likely):
        lines.append(Line(f"the bytes begin like {likely}", "Hint"))
    return Step(
        name="codec",
        title=title,
        state=StepState.FAULT,
        lines=lines,
        facts={"bytes_in": before, "error": error.message},
    )


def looks_like(head: bytes) -> str:
    """Return what bytes begin like, as people call it; empty where nothing is known."""
    if codec := begins_like(head):
        return codec
    kind = file_kind(head)
    if kind is FileKind.PAGE:
        return "a web page: some servers send one instead of data"
    return "" if kind in (FileKind.UNKNOWN, FileKind.EMPTY) else plain(kind)


def _elements_text(pipeline: CodecPipeline) -> str:
    shape = " × ".join(map(str, pipeline.shape)) or "one element"
    return f"{shape} of type {plain(pipeline.dtype)}"


def _elements_step(pipeline: CodecPipeline, size: int) -> Step:
    lines = [Line(f"{counted_plain(size, 'byte')} → {_elements_text(pipeline)}", "Reads as")]
    if pipeline.axes != tuple(range(len(pipeline.axes))):
        order = ", ".join(map(str, pipeline.axes))
        lines.append(Line(f"axes are in the order {order}, slowest first", "Layout"))
    return Step(
        name="elements",
        title="The elements of the chunk",
        lines=lines,
        facts={"bytes_in": size, "shape": list(pipeline.shape), "dtype": str(pipeline.dtype)},
    )


def element_offset(pipeline: CodecPipeline, inside: tuple[int, ...]) -> int:
    """Return where in the decoded bytes of a chunk an element begins."""
    number = 0
    for axis in pipeline.axes:
        number = number * pipeline.shape[axis] + inside[axis]
    return number * pipeline.dtype.itemsize


def window_around(offset: int, itemsize: int, size: int) -> range:
    """Return the bytes to show around an element, beginning at a round number."""
    first = max(0, (offset - AROUND) // 8 * 8)
    return range(first, min(size, offset + itemsize + AROUND))


def element_block(data: bytes, window: range, offset: int, itemsize: int) -> HexBlock:
    """Return the bytes of a window with those of the element marked."""
    at = offset - window.start
    return HexBlock("Bytes around the element", data, window.start, range(at, at + itemsize))


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
    lines = [Line(f"{counted_plain(size, 'byte')}, not compressed; only some of them were read", "Size")]
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
        lines.append(Line("according to the index this inner chunk is not stored", "Stored"))
        opened.steps.append(_index_step(pipeline, StepState.WARNING, lines))
        opened.missing_inner = coords
        return
    found = inner.columns.reference(0)
    assert isinstance(found, ByteRange)
    lines.append(
        Line(f"{counted_plain(found.length, 'byte')} from byte {found.offset} of the file", "Stored")
    )
    opened.steps.append(_index_step(pipeline, StepState.OK, lines))
    next_one = _open_shard if inner.pipeline.shard is not None else _open_whole
    next_one(opened, _inner_specs(specs), inner.pipeline, found, within, source)


def _inner_specs(specs: Specs) -> Specs:
    """Return the codecs of the inner chunks, as metadata names them: those before the shard are theirs."""
    at = next((place for place, spec in enumerate(specs) if spec.name == "sharding_indexed"), None)
    if at is None:
        return ()
    return (*specs[:at], *specs_in(Settings(specs[at].name, specs[at].configuration), "codecs"))


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
        Line(f"{counted_plain(layout.index_size, 'byte')} at its {where}", "Index"),
    ]
    return Step(
        name="shard",
        title="The shard",
        state=state,
        lines=first + lines,
        facts={"inner_chunks": layout.grid.size, "index_size": layout.index_size},
    )
