"""Rows of nested arrays: the buffers that they are made from."""

from __future__ import annotations

from typing import Any

from refbrowser.engine.nested.planning import buffer_parts, reference_of
from refbrowser.model.nested import BufferPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline
from refbrowser.views.explain.explanation import Line, Step, StepState
from refbrowser.views.explain.texts import bytes_text, counted, plain

#: Buffers that are listed.
_LISTED = 20


def rows_of(node: ArrayNode, coords: tuple[int, ...], inside: tuple[int, ...] | None) -> tuple[int, int]:
    """Return the rows of a tile, or the one that is asked about."""
    assert node.grid is not None
    if not node.shape:
        return 0, 1
    start = coords[0] * node.grid.chunk_shape[0]
    if inside is not None:
        return start + inside[0], start + inside[0] + 1
    return start, min(start + node.grid.chunk_shape[0], node.shape[0])


def buffers_step(node: ArrayNode, start: int, stop: int) -> Step:
    """Return which buffers give rows from `start` to `stop`; nothing is read."""
    assert node.nested is not None
    found = buffer_parts(node.nested, start, stop)
    lines = [Line(_told(part), plain(part.buffer.name)) for part in found[:_LISTED]]
    if len(found) > _LISTED:
        lines.append(Line(f"and {counted(len(found) - _LISTED, 'buffer')} more", "Not listed"))
    return Step(
        name="buffers",
        title="What the rows are made from",
        state=StepState.OK,
        lines=[
            Line(node.type_name, "Type of a row"),
            *(lines or [Line("no buffer has any of them", "Contents")]),
        ],
        facts={"rows": [start, stop], "buffers": [_facts(part) for part in found[:_LISTED]]},
    )


def _told(part: BufferPart) -> str:
    buffer = part.buffer
    codecs = f", decoded with {', '.join(buffer.codecs)}" if buffer.codecs else ""
    what = f"at most elements {part.start} to {part.stop} of {buffer.count}, {buffer.dtype}"
    return f"{what}: {bytes_text(part.nbytes)}{codecs}; {_where(part)}"


def _where(part: BufferPart) -> str:
    reference = reference_of(part)
    if isinstance(reference, Inline):
        return "they stand in the document"
    url = plain(getattr(reference, "url", ""))
    if isinstance(reference, ByteRange):
        return f"{bytes_text(reference.length)} from byte {reference.offset} of {url}"
    return f"all of {url}"


def _facts(part: BufferPart) -> dict[str, Any]:
    reference = reference_of(part)
    facts: dict[str, Any] = {
        "name": part.buffer.name,
        "dtype": str(part.buffer.dtype),
        "elements": [part.start, part.stop],
        "codecs": list(part.buffer.codecs),
    }
    if not isinstance(reference, Inline):
        facts["url"] = getattr(reference, "url", "")
    if isinstance(reference, ByteRange):
        facts |= {"start": reference.offset, "stop": reference.offset + reference.length}
    return facts
