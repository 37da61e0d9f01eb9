"""Finds a text in another one of any size, portion by portion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

#: Places that are found at most.
FOUND = 100_000
#: Bytes that are looked at together.
_PORTION = 1 << 18


def find_bytes(
    portions: Iterable[bytes], wanted: bytes, *, any_case: bool, pause: Callable[[], None] = lambda: None
) -> Iterator[list[int]]:
    """Yield the places where some bytes stand, those of a portion together; `FOUND` in all at most.

    Parameters
    ----------
    any_case
        Whether ASCII letters are the same in either case.
    pause
        Called for each portion; may raise to end the work.
    """
    wanted = wanted.lower() if any_case else wanted
    if not wanted:
        return
    before, base, left = b"", 0, FOUND
    for portion in portions:
        for cut in range(0, len(portion), _PORTION):
            pause()
            some = portion[cut : cut + _PORTION]
            data = before + (some.lower() if any_case else some)
            places = _places(data, wanted, base, left)
            left -= len(places)
            if places:
                yield places
            if not left:
                return
            kept = min(len(wanted) - 1, len(data))
            # What is found twice, as it reaches into what is kept, was found whole before.
            base += len(data) - kept
            before = data[len(data) - kept :]


def _places(data: bytes, wanted: bytes, base: int, most: int) -> list[int]:
    places: list[int] = []
    at = data.find(wanted)
    while at >= 0 and len(places) < most:
        places.append(base + at)
        at = data.find(wanted, at + len(wanted))
    return places
