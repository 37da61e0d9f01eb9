"""What the states of files tell: gone, moved, refused, too short for the ranges that lead into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from refbrowser.engine.audit.audit_tasks import FileState
from refbrowser.engine.findings.chunk_table import ChunkMarks, ChunkTable, Ints, stored_sizes
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding, FindingKind
from refbrowser.findings.kinds import (
    IDENTITY_CHANGED,
    LENGTH_UNDECODABLE,
    RANGE_PAST_END,
    STALE_FILE,
    URL_CREDENTIALS,
    URL_DEAD,
    URL_MOVED,
    URL_NO_RANGES,
    URL_UNREACHABLE,
    URL_UNREADABLE,
    kind_of,
)
from refbrowser.io.origins import scheme_of
from refbrowser.limits import LIMITS
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.audit.near_files import NearFiles
    from refbrowser.engine.audit.wrong_texts import WrongText
    from refbrowser.engine.dataset import Dataset
    from refbrowser.references.content.content import Edit

#: Entries that the fix of one finding changes, and files for which it is tried what text leads elsewhere.
_FIXED, _TRIED = 10_000, 100


class StateFindings:
    """Makes findings of the states of files."""

    def __init__(self, dataset: Dataset, table: ChunkTable, marks: ChunkMarks) -> None:
        self._dataset, self._table, self._marks = dataset, table, marks
        self._known_sizes: dict[int, tuple[int | None, int, int]] = {}
        self._numbers = {url: number for number, url in enumerate(table.urls)}
        self._tried = 0

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        """Rows of the table by file, and where those of each file begin."""
        order = np.argsort(self._table.url, kind="stable")
        return order, np.searchsorted(self._table.url[order], np.arange(len(self._table.urls) + 1))

    @cached_property
    def _reach(self) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Of each file the end of the last range in it, and whether it is read whole."""
        table, count = self._table, len(self._table.urls)
        ends = np.zeros(count, np.int64)
        np.maximum.at(ends, table.url, table.offset + np.maximum(table.length, 0))
        whole = np.zeros(count, bool)
        whole[table.url[table.length < 0]] = True
        return ends, whole

    def _is_plain(self, state: FileState) -> bool:
        """Tell whether a file is there as it should be: of most nothing else is to be asked."""
        if state.message or state.moved_to or state.ranges is False or state.total is None:
            return False
        number = self._numbers.get(state.url)
        if number is None:
            return True
        ends, whole = self._reach
        return bool(ends[number] <= state.total and not whole[number])

    def rows(self, url: str) -> Ints:
        """Return the rows of the table that lead into a file."""
        number = self._numbers.get(url)
        if number is None:
            return np.zeros(0, np.int64)
        order, starts = self._order
        return np.sort(order[starts[number] : starts[number + 1]])

    def of(self, state: FileState) -> Iterator[Finding]:
        """Yield what the state of a file tells."""
        if self._is_plain(state):
            return
        rows = self.rows(state.url)
        yield from self._of_answer(state, rows)
        if state.total is not None:
            yield from self._of_size(state, rows)

    def is_short(self, state: FileState) -> bool:
        """Tell whether ranges end past the end of a file."""
        number = self._numbers.get(state.url)
        return number is not None and state.total is not None and bool(self._reach[0][number] > state.total)

    def is_gone(self, state: FileState) -> bool:
        """Tell whether a file is not there that may be told of with others: a text may name all of them."""
        return bool(state.message) and scheme_of(state.url) in (None, "file") and _kind(state) is URL_DEAD

    def of_gone(self, states: Sequence[FileState]) -> Iterator[Finding]:
        """Yield what files that are gone tell together: texts that name them, and each that is left."""
        # Most documents have no dead files.
        from refbrowser.engine.audit.wrong_texts import WrongTexts

        told: set[str] = set()
        texts = WrongTexts(self._dataset, self._table, self.rows, self._near)
        found = texts.of([state.url for state in states])
        for text in found:
            rows = np.concatenate([self.rows(url) for url in text.urls])
            self._mark(rows, URL_DEAD)
            told.update(text.urls)
            yield text.finding(max(1, len(rows)))
        for state in states:
            if state.url not in told:
                yield from self.of(state)
        if found:
            yield from self._hidden(found)

    def _hidden(self, texts: Sequence[WrongText]) -> Iterator[Finding]:
        """Yield rules that are shifted as well, as the ends of files tell once their names are right."""
        from refbrowser.engine.findings.range_findings import range_findings
        from refbrowser.references.rules.rule_search import SearchTime

        document, access = self._dataset.document, self._dataset.access
        corrected = document
        try:
            for text in texts:
                corrected = corrected.apply(text.edit)
        except RefbrowserError:
            return  # Each of them is right for itself.
        told = {each.place.rule for each in range_findings(document, access, SearchTime()) if each.fix}
        for each in range_findings(corrected, access, SearchTime()):
            if each.fix is not None and each.place.rule not in told:
                yield replace(each, place=replace(each.place, line=None, column=None))

    def at_chunks(self, finding: Finding) -> Finding:
        """Return what was found of a file with the chunks that lie in it, which are marked."""
        rows = self.rows(finding.place.url or "")
        if not len(rows):
            return finding
        state = FileState(finding.place.url or "")
        at = self._finding(state, rows, kind_of(finding), finding.message)
        return replace(finding, place=replace(at.place, start=None, stop=None), count=at.count)

    def _of_answer(self, state: FileState, rows: Ints) -> Iterator[Finding]:
        if state.message:
            kind, advice, fix = _kind(state), state.advice, None
            if kind is URL_DEAD and scheme_of(state.url) in (None, "file"):
                advice = self._near.advice(state.url) or advice
                place = self._near.named(state.url)
                if place is not None and self._may_hold(place, rows):
                    fix = self._led_to(place, rows)
            found = self._finding(state, rows, kind, state.message, advice, fix, Severity.FAULT)
            yield replace(found, kind=ErrorKind(state.kind))
            return
        if state.moved_to:
            message = f"the server redirects to {quoted(state.moved_to)}"
            fix = self._led_to(state.moved_to, rows)
            yield self._finding(state, rows, URL_MOVED, message, "use the new URL", fix)
        if state.ranges is False and (self._table.length[rows] >= 0).any():
            is_lost = state.total is None or state.total > LIMITS.http_cut
            message = "the server does not serve ranges: the file is read whole for each of them"
            if is_lost:
                message = "the server does not serve ranges, and the file is too large to be read whole"
            advice = "copy the file to a server that serves ranges"
            severity = Severity.FAULT if is_lost else None
            yield self._finding(state, rows, URL_NO_RANGES, message, advice, severity=severity)

    def _may_hold(self, place: str, rows: Ints) -> bool:
        """Tell whether a file near the document may be the one that rows lead into, by its size."""
        from refbrowser.engine.audit.near_files import may_hold

        return may_hold(self._near.size(place), self._table, rows)

    def _of_size(self, state: FileState, rows: Ints) -> Iterator[Finding]:
        """Hold ranges, and whole files, against the size of the file."""
        table, total = self._table, state.total
        assert total is not None
        stop = table.offset[rows] + table.length[rows]
        past = rows[(table.length[rows] >= 0) & (stop > total)]
        if len(past):
            if scheme_of(state.url) in (None, "file") and not self._dataset.access.from_network:
                # Of local files these were found without asking; each chunk is marked now.
                self._mark(past, RANGE_PAST_END)
            else:
                end = int((table.offset[past] + table.length[past]).max())
                message = f"ranges end past the end of the file, which has {total} bytes: up to byte {end}"
                yield self._finding(state, past, RANGE_PAST_END, message)
        whole = rows[table.length[rows] < 0]
        for owner, some in self._by_owner(whole):
            exact, most, least = self._sizes(owner)
            if total == exact or (exact is None and least <= total <= most):
                continue
            wanted = f"exactly {exact}" if exact is not None else f"{least} to {most}"
            message = f"the file has {total} bytes, a stored chunk of the array has {wanted}"
            yield self._finding(state, some, LENGTH_UNDECODABLE, message)

    def _sizes(self, owner: int) -> tuple[int | None, int, int]:
        if owner not in self._known_sizes:
            self._known_sizes[owner] = stored_sizes(self._table.owners[owner].node)
        return self._known_sizes[owner]

    def _by_owner(self, rows: Ints) -> Iterator[tuple[int, Ints]]:
        owners = self._table.owner[rows]
        for owner in dict.fromkeys(owners.tolist()):
            yield owner, rows[owners == owner]

    def _finding(
        self,
        state: FileState,
        rows: Ints,
        kind: FindingKind,
        message: str,
        advice: str = "",
        fix: Edit | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        table = self._table
        key = path = start = stop = None
        self._mark(rows, kind)
        if len(rows):
            row = int(rows[0])
            first = table.owners[table.owner[row]]
            key, path = first.key(int(table.number[row])), first.node.path
            if table.length[row] >= 0:
                start = int(table.offset[row])
                stop = start + int(table.length[row])
        place = Place(
            document=self._dataset.document.name, key=key, path=path, url=state.url, start=start, stop=stop
        )
        return kind.finding(
            message, place, severity=severity, advice=advice, count=max(1, len(rows)), fix=fix
        )

    @cached_property
    def _near(self) -> NearFiles:
        # Most documents have no dead files.
        from refbrowser.engine.audit.near_files import NearFiles

        return NearFiles(self._dataset.access)

    def _mark(self, rows: Ints, kind: FindingKind) -> None:
        for owner, some in self._by_owner(rows):
            each = self._table.owners[owner]
            self._marks.add(each.node.path, kind.code, each.coords(self._table.number[some]))

    def _led_to(self, url: str, rows: Ints) -> Edit | None:
        """Return the edit that takes a new URL over; None where the document cannot say it."""
        from refbrowser.references.edits.edits import Compound, document_renders
        from refbrowser.references.edits.many_edits import SetReferences

        document, table = self._dataset.document, self._table
        if document.rules_are_made or not 0 < len(rows) <= _FIXED or document_renders(url):
            return None
        title = f"Point {counted_plain(len(rows), 'reference')} to {url}"
        values: list[tuple[str, Any]] = []
        for row in rows.tolist():
            key = table.owners[table.owner[row]].key(int(table.number[row]))
            if document.refs.find_slot(key) is None:
                move = self._moved(table.urls[table.url[row]], url)
                return None if move is None else Compound(title, (move,))
            span = [] if table.length[row] < 0 else [int(table.offset[row]), int(table.length[row])]
            values.append((key, [url, *span]))
        return Compound(title, (SetReferences(tuple(values)),))

    def _moved(self, old: str, new: str) -> Any:
        """Return the edit that leads to another place what rules, among others, lead into a file."""
        from refbrowser.references.edits.url_moves import MoveUrls

        move = MoveUrls(old, new, is_whole=True)
        self._tried += 1
        if self._tried > _TRIED:
            return None
        try:
            self._dataset.document.apply(move)
        except RefbrowserError:
            return None
        return move


def _kind(state: FileState) -> FindingKind:
    if state.is_absent or state.status in (404, 410):
        return URL_DEAD
    if state.status in (401, 403) or "refuses to" in state.message:
        return URL_CREDENTIALS
    if state.is_stale:
        return STALE_FILE
    if "changed while" in state.message:
        return IDENTITY_CHANGED
    if state.kind in (str(ErrorKind.PROTOCOL), str(ErrorKind.UNSAFE)):
        return URL_UNREADABLE
    if state.kind == str(ErrorKind.IO):
        return URL_DEAD if "no such file" in state.message else URL_UNREACHABLE
    return URL_UNREACHABLE
