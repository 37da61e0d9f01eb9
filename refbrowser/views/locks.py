"""What is shown of files that are not those of the lock: then and now, and how many they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refbrowser.io.identity import moment_of
from refbrowser.io.locks.lock import Mark, Stale, text_of
from refbrowser.views.words import one_line
from refbrowser.words import count_text

#: Files that are listed at once.
LISTED = 2_000
#: Files that one line names.
_NAMED = 2


@dataclass(frozen=True, slots=True)
class StaleRow:
    """One file.

    Attributes
    ----------
    url
        As the document spells it.
    lines
        Then and now: name, side, and size, ETag and time as text.
    differing
        Which of size, ETag and time are others now.
    """

    url: str
    lines: tuple[tuple[str, str, tuple[str, str, str]], tuple[str, str, tuple[str, str, str]]]
    differing: tuple[int, ...]


def stale_rows(stale: Iterable[Stale]) -> list[StaleRow]:
    """Return the rows of stale files, at most `LISTED`."""
    return [_row(each) for each in [*stale][:LISTED]]


def _row(stale: Stale) -> StaleRow:
    seen, entry = stale.seen, stale.entry
    moment = moment_of(seen)
    then = (count_text(entry.size), one_line(entry.etag or ""), _time(entry.modified))
    total = "" if seen.total is None else count_text(seen.total)
    now = (total, one_line(seen.etag or ""), _time(None if moment is None else text_of(moment)))
    differing = tuple(
        at for at, (one, other) in enumerate(zip(then, now, strict=True)) if other and one != other
    )
    why = _SHORT.get(stale.mark, "")
    return StaleRow(stale.url, ((one_line(stale.url), "then", then), (why, "now", now)), differing)


def _time(text: str | None) -> str:
    """Return a time of RFC 3339 in few characters: to the second, as the rest is in the message."""
    return (
        "" if text is None else one_line(text[:19].replace("T", " ") + " UTC" if text.endswith("Z") else text)
    )


#: What differs where values tell nobody anything.
_SHORT = {
    Mark.HEAD: "other first bytes",
    Mark.TAIL: "other last bytes",
    Mark.WHOLE: "other bytes",
    Mark.UNKNOWN: "not compared",
}


def _short(stale: Stale) -> str:
    return _SHORT.get(stale.mark) or one_line(stale.difference)


def stale_words(stale: Sequence[Stale], done: str = "shown") -> str:
    """Return one sentence about all stale files, whose values are shown or written; empty for none."""
    if not stale:
        return ""
    named = "; ".join(f"{one_line(each.url)} ({_short(each)})" for each in stale[:_NAMED])
    more = len(stale) - _NAMED
    rest = f"; and {count_text(more)} more" if more > 0 else ""
    if len(stale) == 1:
        return f"1 file differs from the lock, and what is {done} of it may be wrong: {named}"
    files = f"{count_text(len(stale))} files differ from the lock"
    return f"{files}, and what is {done} of them may be wrong: {named}{rest}"
