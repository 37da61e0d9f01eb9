"""The steps from the bytes of a chunk to its elements, each with its sizes, up to the one that fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from refbrowser.codecs.base import Bytes, as_bytes
from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.table import begins_like
from refbrowser.errors import RefbrowserError
from refbrowser.formats.sniffing import FileKind, file_kind
from refbrowser.model.nodes import CodecSpec
from refbrowser.views.explain.explanation import HexBlock, Line, Step, StepState
from refbrowser.views.explain.texts import bytes_text, plain, settings_text

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
    lines = [Line(bytes_text(len(data)) + (f" {where}" if where else ""), "Size")]
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
        steps.append(_passed(stage.name, before, len(buffer), text))
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


def _passed(name: str, before: int, after: int, settings: str) -> Step:
    lines = [Line(f"{before} → {bytes_text(after)}", "Decodes")]
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
    lines = [Line(bytes_text(before), "Given"), Line(error.message, "Failed")]
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
        return "a web page: servers send them in the place of data"
    return "" if kind in (FileKind.UNKNOWN, FileKind.EMPTY) else plain(kind)


def _elements_text(pipeline: CodecPipeline) -> str:
    shape = " × ".join(map(str, pipeline.shape)) or "one element"
    return f"{shape} of type {plain(pipeline.dtype)}"


def _elements_step(pipeline: CodecPipeline, size: int) -> Step:
    lines = [Line(f"{bytes_text(size)} → {_elements_text(pipeline)}", "Reads as")]
    if pipeline.axes != tuple(range(len(pipeline.axes))):
        order = ", ".join(map(str, pipeline.axes))
        lines.append(Line(f"axes lie in the order {order}, the slowest first", "Layout"))
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
