"""The next row of a preview that the edit changes, or the one before."""

from __future__ import annotations

import time
from collections.abc import Callable

from refbrowser.app.editors.preview_source import Mark, PreviewSource
from refbrowser.views.words import count_text

#: Rows that are made at once.
PAGE = 64
#: A search ends after so long, in seconds, and says how far it came.
SECONDS = 5.0


def next_change(
    source: PreviewSource, row: int, step: int, pause: Callable[[], None] = lambda: None
) -> int | str:
    """Return the first changed or new row after `row` (`step` 1) or before it (-1), or that there is none.

    `pause` is called often, and may raise to end the work.
    """
    end = time.monotonic() + SECONDS
    looked = 0
    at = row + step
    while 0 <= at < source.count:
        start = at if step > 0 else max(0, at - PAGE + 1)
        stop = min(at + PAGE, source.count) if step > 0 else at + 1
        rows = source.rows(start, stop)
        for found in rows if step > 0 else reversed(rows):
            if found.mark & (Mark.CHANGED | Mark.NEW):
                return found.number
        looked += len(rows)
        at = stop if step > 0 else start - 1
        pause()
        if time.monotonic() > end:
            where = "next" if step > 0 else "last"
            return f"no change in the {where} {count_text(looked)} rows; the rest was not looked at"
    return "no change after this row" if step > 0 else "no change before this row"
