"""What is told of own chunks: how many there will be before they are made, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.mismatches import Mismatch
from refbrowser.exporting.combining.own_chunks import LaidArray, OwnChunks, counted
from refbrowser.exporting.combining.properties import ScannedSource
from refbrowser.limits import LIMITS
from refbrowser.words import size_text

#: Files whose chunks tell how well an array is compressed.
_SAMPLED = 50


def own_note(laid: LaidArray, files: Sequence[ScannedSource]) -> tuple[Mismatch, int]:
    """Return what is told of an array with own chunks before they are made, and their bytes, about."""
    array, found = laid.array, counted(laid)
    size = round(found.elements * (_per_element(laid, files) or array.first.itemsize))
    chunks = f"{found.chunks:,} of {found.of:,} chunks become own chunks, about {size_text(size)}"
    odd = sum(map(array.is_odd, array.told))
    what = f"{odd} of {len(array.files)} files are stored otherwise" if odd else "chunks of files do not meet"
    message = f"{array.path}: {what}: {chunks}; the others stay references"
    return Mismatch(
        kind="own chunks", path=array.path, name="own chunks", message=message, is_blocking=False
    ), size


def _per_element(laid: LaidArray, files: Sequence[ScannedSource]) -> float:
    """Return the stored bytes of an element in files that store it as most do; 0 where that is not known."""
    size = elements = 0
    array = laid.array
    step = max(1, len(array.files) // _SAMPLED)
    for number, told, at in list(zip(array.files, array.told, array.numbers, strict=True))[::step]:
        if array.is_odd(told):
            continue
        chunks = files[number].chunks
        begin = sum(chunks.counts[:at])
        lengths = chunks.length[begin : begin + chunks.counts[at]]
        known = lengths[lengths > 0]
        size += int(known.sum())
        elements += len(known) * prod(told.chunks)
    return size / elements if elements else 0.0


def size_question(size: int) -> RefbrowserError | None:
    """Return the error of many own chunks, which a no becomes; None of few."""
    if size <= LIMITS.own_chunks_question:
        return None
    message = (
        f"about {size_text(size)} of own chunks would be written, more than "
        f"{size_text(LIMITS.own_chunks_question)} (own_chunks_question)"
    )
    return RefbrowserError(ErrorKind.BUDGET, message, advice="give --yes, or --split eras, which writes none")


def check_rounded(own: OwnChunks, request: Combination) -> None:
    """Raise `E_META` where numbers are others than in their files, and nobody accepted that."""
    if not own.rounded or request.accepts("rounding", own.path):
        return
    name = own.path.rpartition("/")[2]
    message = (
        f"{own.rounded:,} values of {quoted(own.path)} would be rounded when they are stored as in most "
        f"files, by {own.error:.3g} at most"
    )
    advice = (
        f"--split eras keeps them as they are, in a group of their own; --accept rounding:{name} rounds them"
    )
    raise RefbrowserError(ErrorKind.META, message, Place(path=own.path), advice)


def own_lines(found: Sequence[OwnChunks]) -> Iterator[str]:
    """Yield what became of own chunks."""
    for each in found:
        values = f"values rounded by {each.error:.3g} at most" if each.rounded else "all values are the same"
        chunks = f"{each.chunks:,} of {each.of:,} chunks are own chunks, {size_text(each.size)}"
        yield f"{each.path}: {chunks}; {values}"
