"""How the view on the screen would be read: the requests of a plan, as numbers and as bytes of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.io.plan import AUTOMATIC, LOCAL, TO_THE_END, Link, PlanChoice
from refbrowser.model.reference import ReferenceKind
from refbrowser.tools.bytes.report.byte_runs import Ints, Runs
from refbrowser.words import count_text, size_text, time_text

if TYPE_CHECKING:
    from refbrowser.engine.reading.reader import Needed, ReadPlan
    from refbrowser.engine.session import Session
    from refbrowser.io.access.access import Access
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.model.selection import Selection

#: Where the stop of a whole file of unknown size is drawn: behind all bytes.
_END = 1 << 62
#: What sliders choose from: bytes of a gap, bytes of a block, connections. 0 bytes: no gap is read over.
GAPS = (0, *(1 << power for power in range(10, 28)))
BLOCKS = tuple(1 << power for power in range(14, 28))
CONNECTIONS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclass(frozen=True, slots=True, eq=False)
class ViewNeeds:
    """What is read for one selection: kept, so that it is planned anew at once.

    Attributes
    ----------
    path
        Of the array.
    urls
        The files that it is read from.
    """

    path: str
    needed: Needed
    urls: tuple[str, ...]

    @classmethod
    def of(cls, session: Session, node: ArrayNode, access: Access, selection: Selection) -> ViewNeeds:
        """Return what a selection needs; nothing is read.

        Raises
        ------
        RefbrowserError
            The array is not readable, or the selection touches too many chunks to look at.
        """
        needed = session.needs(node, access, selection)
        columns = needed.columns
        has_url = (columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE)
        # In the order in which they are met.
        numbers, first = np.unique(columns.url[has_url], return_index=True)
        order = np.argsort(first)
        return cls(node.path, needed, tuple(columns.urls[number] for number in numbers[order].tolist()))

    def used(self, url: str) -> Runs:
        """Return the bytes of a file that are needed."""
        columns = self.needed.columns
        numbers = [number for number, text in enumerate(columns.urls) if text == url]
        is_mine = np.isin(columns.url, numbers)
        whole = is_mine & (columns.kind == ReferenceKind.WHOLE)
        if whole.any():
            return Runs.of(np.zeros(1, np.int64), np.full(1, _END))
        rows = np.flatnonzero(is_mine & (columns.kind == ReferenceKind.RANGE))
        start, size = columns.offset[rows], columns.length[rows]
        good = (start >= 0) & (size > 0) & (size < _END)
        return Runs.of(start[good], start[good] + size[good])


@dataclass(frozen=True, slots=True, eq=False)
class LivePlan:
    """A plan for the view.

    Attributes
    ----------
    plan
        Of all files.
    choice
        What was tried in the place of what the links say.
    start, stop
        The requests in the file that is shown, rising.
    link
        Of that file, as it is known.
    """

    plan: ReadPlan
    choice: PlanChoice
    start: Ints
    stop: Ints
    link: Link

    @classmethod
    def of(
        cls, needs: ViewNeeds, session: Session, access: Access, url: str, choice: PlanChoice = AUTOMATIC
    ) -> LivePlan:
        """Plan the reading of a view; nothing is read, and nothing reads so."""
        plan = needs.needed.planned(session.fetcher, access, choice)
        ranges = plan.ranges
        mine = np.isin(ranges.request_url, [number for number, text in enumerate(ranges.urls) if text == url])
        start, stop = ranges.request_start[mine], ranges.request_stop[mine]
        order = np.argsort(start, kind="stable")
        stop = np.where(stop == TO_THE_END, _END, stop)
        link = session.fetcher.links([url], access)[0] if url else LOCAL
        return cls(plan, choice, start[order], stop[order], link)

    @property
    def runs(self) -> Runs:
        """The bytes of the file that are requested."""
        return Runs.of(self.start, self.stop)

    @property
    def requested_bytes(self) -> int:
        """Bytes of all requests, but those of whole files of unknown size."""
        return self.plan.useful_bytes + self.plan.wasted_bytes

    @property
    def gap(self) -> int:
        """The widest gap that is read over."""
        ranges = self.plan.ranges
        if not len(ranges.rows):
            return 0
        first = np.zeros(len(ranges.rows) + 1, bool)
        first[ranges.rows_of[:-1]] = True
        reach = ranges.cut_start + ranges.cut_length
        gap = np.where(first[1:-1], 0, ranges.cut_start[1:] - reach[:-1])
        return int(gap.max(initial=0))

    @property
    def block(self) -> int:
        """Bytes of the longest request whose size is known."""
        ranges = self.plan.ranges
        sizes = np.where(ranges.request_stop == TO_THE_END, 0, ranges.request_stop - ranges.request_start)
        return int(sizes.max(initial=0))

    @property
    def connections(self) -> int:
        """Connections that are used to the host of the file."""
        count = self.plan.ranges.request_count
        link = self.choice.link(self.link)
        return min(link.connections(self.requested_bytes, count), max(count, 1))

    def words(self) -> Iterator[tuple[str, str]]:
        """Yield what is told of the plan: a name and a value each."""
        plan = self.plan
        count = plan.ranges.request_count
        here = len(self.start)
        elsewhere = f" ({count_text(here)} in this file)" if here != count else ""
        yield "Requests", f"{count_text(count)}{elsewhere}"
        yield "Used", size_text(plan.useful_bytes)
        share = plan.wasted_bytes / self.requested_bytes if self.requested_bytes else 0.0
        yield "Wasted", f"{size_text(plan.wasted_bytes)} ({share:.0%})"
        yield "Time", seconds_words(plan.seconds, plan.ranges.unknown_sizes)


def seconds_words(seconds: float, unknown_sizes: int = 0) -> str:
    """Return a time that was predicted, and that it lacks whole files whose sizes are not known."""
    if 0 < seconds < 1e-3:
        text = "under 1 ms"
    elif seconds < 0.0995:
        text = f"{seconds * 1e3:.2g} ms"
    else:
        text = f"{seconds:.2g} s" if seconds < 99.5 else time_text(seconds)
    if not unknown_sizes:
        return text
    return f"{text} and more" if seconds else "not known"


def link_words(link: Link) -> str:
    """Return a link in words, and whether it was measured."""
    if link.host == "" and link.latency == 0:
        return "a file on this machine, assumed 2 GB/s"
    rates = f"{size_text(int(link.per_connection))}/s a connection, {size_text(int(link.total))}/s in all"
    known = "measured" if link.is_measured else "not measured yet, assumed"
    return f"{known}: {link.latency * 1e3:.0f} ms, {rates}"
