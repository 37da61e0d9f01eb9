"""Two texts as one, with the markers of conflicts that git writes where they differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

#: Lines between the first and the last that differ, of which it is looked which ones are the same.
_ALIKE = 4_000


def marked(ours: bytes, theirs: bytes, name: str) -> Iterator[bytes]:
    """Yield two texts as one: what both have once, what differs between the markers of a conflict."""
    mine, other = (text.splitlines(keepends=True) for text in (ours, theirs))
    start = _same_at_start(mine, other)
    end = _same_at_start(mine[start:][::-1], other[start:][::-1])
    middle, other_middle = mine[start : len(mine) - end], other[start : len(other) - end]
    yield from mine[:start]
    for is_same, one, two in _blocks(middle, other_middle):
        if is_same:
            yield from one
            continue
        yield f"<<<<<<< {name} (ours)\n".encode("utf-8", "surrogateescape")
        yield from _ended(one)
        yield b"=======\n"
        yield from _ended(two)
        yield f">>>>>>> {name} (theirs)\n".encode("utf-8", "surrogateescape")
    yield from mine[len(mine) - end :]


def _same_at_start(mine: Sequence[bytes], other: Sequence[bytes]) -> int:
    pairs = enumerate(zip(mine, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(mine), len(other)))


def _blocks(
    mine: Sequence[bytes], other: Sequence[bytes]
) -> Iterator[tuple[bool, Sequence[bytes], Sequence[bytes]]]:
    if not mine and not other:
        return
    if max(len(mine), len(other)) > _ALIKE:
        yield False, mine, other
        return
    for tag, a, b, c, d in difflib.SequenceMatcher(None, mine, other, autojunk=False).get_opcodes():
        yield tag == "equal", mine[a:b], other[c:d]


def _ended(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Yield lines of which the last one has an end, too: a marker begins a line."""
    yield from lines
    if lines and not lines[-1].endswith(b"\n"):
        yield b"\n"
