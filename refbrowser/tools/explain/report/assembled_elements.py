"""Elements put together from messages or buffers: which give them, and which one counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.nested.row_parts import buffer_parts, reference_of
from refbrowser.engine.reading.pieces import layers_of
from refbrowser.errors import RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.model.grid import ChunkPart
from refbrowser.model.nested import BufferPart
from refbrowser.model.nodes import ArrayNode
from refbrowser.model.reference import ByteRange, Inline, WholeFile
from refbrowser.model.selection import Selection
from refbrowser.model.values import SourcePiece
from refbrowser.tools.explain.report.explanation import Line, Step, StepState, plain
from refbrowser.tools.explain.report.verdicts import Place, find_place
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


#: Pieces of one chunk that are listed.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Assembly:
    """What gives the elements of a chunk, or one of them.

    Attributes
    ----------
    pieces
        In the order in which they are laid down; none where the chunk, or the element, is missing.
    seen
        Those of them of which anything is seen.
    """

    step: Step
    pieces: Sequence[SourcePiece]
    seen: Sequence[SourcePiece]

    @property
    def error(self) -> RefbrowserError | None:
        """Why something of it is lost; None where nothing is."""
        return next((piece.error for piece in self.seen if piece.error is not None), None)


def assembly_of(node: ArrayNode, coords: tuple[int, ...], inside: tuple[int, ...] | None) -> Assembly:
    """Return what gives a chunk, or the element at `inside` of it; nothing is read.

    Raises
    ------
    RefbrowserError
        The pieces cannot be told.
    """
    extent = node.grid.extent(coords)
    taken = tuple(map(slice, extent)) if inside is None else tuple(slice(at, at + 1) for at in inside)
    target = tuple(slice(part.stop - (part.start or 0)) for part in taken)
    frame = tuple(slice(0, part.stop) for part in target)
    part = ChunkPart(
        coords, tuple(slice(each.start or 0, each.stop) for each in taken), frame, inside is None
    )
    pieces = list(node.pieces(part))
    seen = [pieces[at] for at in layers_of(pieces, frame).seen] if pieces else []
    return Assembly(_step(pieces, seen, inside is not None), pieces, seen)


def place_of(dataset: Dataset, assembly: Assembly) -> Place | None:
    """Return where the bytes of the piece that counts lie; None where they stand in a header."""
    reference = assembly.seen[-1].reference
    return find_place(dataset.access, reference) if isinstance(reference, ByteRange | WholeFile) else None


def element_at(dataset: Dataset, node: ArrayNode, index: tuple[int, ...], token: CancelToken) -> Any:
    """Return one element, read.

    Raises
    ------
    RefbrowserError
        It cannot be read or decoded.
    """
    selection = Selection(tuple(range(at, at + 1) for at in index), frozenset(range(len(index))))
    values = dataset.session.read(node, dataset.access, selection, cancel=token)
    return values.item() if values.dtype == np.dtype(object) else values[()]


def _step(pieces: Sequence[SourcePiece], seen: Sequence[SourcePiece], is_element: bool) -> Step:
    shown = {id(piece) for piece in seen}
    lines = [_line(piece, id(piece) in shown) for piece in pieces[-_LISTED:]]
    if len(pieces) > _LISTED:
        lines.insert(
            0, Line(f"and {counted_plain(len(pieces) - _LISTED, 'piece')} before these", "Not listed")
        )
    if not pieces:
        lines = [Line("no message supplies it", "Contents")]
    elif is_element and len(pieces) > 1:
        lines.append(Line(f"{plain(seen[-1].name)}: later ones win", "Counts"))
    return Step(
        name="assembly",
        title="What it is assembled from",
        state=_state(pieces, seen),
        lines=lines,
        facts={"pieces": [_facts(piece, id(piece) in shown) for piece in pieces[-_LISTED:]]},
    )


def _state(pieces: Sequence[SourcePiece], seen: Sequence[SourcePiece]) -> StepState:
    if any(piece.error is not None for piece in seen):
        return StepState.FAULT
    return StepState.OK if pieces else StepState.WARNING


def _line(piece: SourcePiece, is_seen: bool) -> Line:
    if piece.error is not None:
        place = piece.error.place
        where = "" if place.start is None else f"; bytes {place.start} to {place.stop or 'the end'}"
        replaced = "" if is_seen else "; replaced by later ones"
        return Line(f"lost: {plain(piece.error.message, 400)}{where}{replaced}", plain(piece.name))
    reference = piece.reference
    if isinstance(reference, ByteRange):
        where = f"{counted_plain(reference.length, 'byte')} from byte {reference.offset}"
    elif isinstance(reference, Inline):
        where = counted_plain(len(reference.data), "byte")
    else:
        where = "asked for"
    how = "elements one after the other" if piece.raw is not None else "decoded as a whole"
    return Line(f"{where}, {how}{'' if is_seen else '; replaced by later ones'}", plain(piece.name))


def _facts(piece: SourcePiece, is_seen: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": piece.name, "seen": is_seen}
    if piece.error is not None:
        place = piece.error.place
        return facts | {
            "error": piece.error.message,
            "url": place.url,
            "start": place.start,
            "stop": place.stop,
        }
    if isinstance(piece.reference, ByteRange | WholeFile):
        facts["url"] = piece.reference.url
    if isinstance(piece.reference, ByteRange):
        facts |= {"start": piece.reference.offset, "stop": piece.reference.offset + piece.reference.length}
    return facts


#: Buffers that are listed.
_LISTED_ROWS = 20


def rows_of(node: ArrayNode, coords: tuple[int, ...], inside: tuple[int, ...] | None) -> tuple[int, int]:
    """Return the rows of a chunk, or the one that is asked about."""
    if not node.shape:
        return 0, 1
    start = coords[0] * node.grid.regular.chunk_shape[0]
    if inside is not None:
        return start + inside[0], start + inside[0] + 1
    return start, min(start + node.grid.regular.chunk_shape[0], node.shape[0])


def buffers_step(node: ArrayNode, start: int, stop: int) -> Step:
    """Return which buffers give rows from `start` to `stop`; nothing is read."""
    found = buffer_parts(node.rows, start, stop)
    lines = [Line(_told(part), plain(part.buffer.name)) for part in found[:_LISTED_ROWS]]
    if len(found) > _LISTED_ROWS:
        lines.append(Line(f"and {counted_plain(len(found) - _LISTED_ROWS, 'buffer')} more", "Not listed"))
    return Step(
        name="buffers",
        title="What the rows are made from",
        state=StepState.OK,
        lines=[
            Line(node.type.name, "Type of a row"),
            *(lines or [Line("no buffer has any of them", "Contents")]),
        ],
        facts={"rows": [start, stop], "buffers": [_row_facts(part) for part in found[:_LISTED_ROWS]]},
    )


def _told(part: BufferPart) -> str:
    buffer = part.buffer
    codecs = f", decoded with {', '.join(buffer.codecs)}" if buffer.codecs else ""
    what = f"at most elements {part.start} to {part.stop} of {buffer.count}, {buffer.dtype}"
    return f"{what}: {counted_plain(part.nbytes, 'byte')}{codecs}; {_where(part)}"


def _where(part: BufferPart) -> str:
    reference = reference_of(part)
    if isinstance(reference, Inline):
        return "they are in the document"
    url = plain(getattr(reference, "url", ""))
    if isinstance(reference, ByteRange):
        return f"{counted_plain(reference.length, 'byte')} from byte {reference.offset} of {url}"
    return f"all of {url}"


def _row_facts(part: BufferPart) -> dict[str, Any]:
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
