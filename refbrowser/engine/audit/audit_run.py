"""An audit that runs: what it finds comes one by one, and is gathered as the result."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from refbrowser.engine.audit.audit_plan import AuditPlan, BlockedOrigin, ChosenChunks, Level
from refbrowser.engine.audit.audit_result import AuditResult, Grouping
from refbrowser.engine.audit.audit_tasks import AuditTask, FileState, Outcome, TaskAnswer, answers, together
from refbrowser.engine.audit.reader_notes import reader_notes
from refbrowser.engine.audit.state_findings import StateFindings
from refbrowser.engine.compute import HERE, Compute, check_workers
from refbrowser.engine.declarations.array_facts import deviations_of
from refbrowser.engine.expectations.expectation_sources import expectation_findings
from refbrowser.engine.expectations.holding import Held
from refbrowser.engine.findings.chunk_table import coords_of, stored_sizes
from refbrowser.engine.findings.dataset_findings import dataset_findings
from refbrowser.engine.frozen_dataset import why_here
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.reading.garbage_collection import collected_later
from refbrowser.engine.store_listing import list_store
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import (
    CHUNK_OUTSIDE_GRID,
    CHUNK_UNREADABLE,
    DECLARATIONS_INVALID,
    FILE_GONE,
    FILE_UNDECIDED,
    KEY_NO_CHUNK,
    KINDS,
    LENGTH_UNDECODABLE,
    NOT_AS_DECLARED,
    NUMBER_IMPOSSIBLE,
    RANGE_OFF_BY_ONE,
    RANGE_PAST_END,
    STALE_FILE,
    URL_CREDENTIALS,
    URL_DEAD,
    URL_EMPTY,
    URL_UNREACHABLE,
    URL_UNREADABLE,
    kind_of,
)
from refbrowser.formats.registry import facet
from refbrowser.io.identity import ObjectIdentity
from refbrowser.model.listing import flat_index
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.content.finding_places import in_refs
from refbrowser.references.declarations.declared_arrays import Declarations

if TYPE_CHECKING:
    from refbrowser.engine.audit.audit_journal import AuditJournal
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.findings.chunk_table import ChunkMarks

#: Faults that are told before chunks are read: these fail for the same reason then.
_KNOWN_BEFORE = (
    RANGE_PAST_END, LENGTH_UNDECODABLE, URL_DEAD, URL_CREDENTIALS, URL_UNREACHABLE, URL_UNREADABLE, URL_EMPTY,
    NUMBER_IMPOSSIBLE,
)  # fmt: skip
#: Files that one task asks about: many, as they wait for a server together; of more than these, no answer
#: would be taken while they are gone through.
_URLS = 500


def set_findings(dataset: Dataset, control: JobControl, marks: ChunkMarks) -> Iterator[Finding]:
    """Yield what is found without reading: what `refbrowser check` tells; the chunks are marked."""
    control.stage("looking at the document")
    if dataset.document.store is not None:
        list_store(dataset, control)
    found = dataset_findings(
        dataset.document, dataset.hierarchy, dataset.access, lambda: control.token.cancelled, marks
    )
    control.check()
    findings = found.all
    look = facet(dataset.document, "check")
    if look is not None:
        findings += look(dataset, control)
    for finding in findings:
        _mark_key(dataset, finding, marks)
        yield finding


def _mark_key(dataset: Dataset, finding: Finding, marks: ChunkMarks) -> None:
    """Mark the chunk that a finding names by its key, where the finding marks none itself."""
    key = finding.place.key
    if key is None or finding.what in (None, CHUNK_OUTSIDE_GRID, KEY_NO_CHUNK):
        return
    node = dataset.hierarchy.find(key.rpartition("/")[0])
    if not isinstance(node, ArrayNode) or not node.has_manifest:
        return
    coords = node.chunk_keys.decode(key[len(node.key_prefix) :], len(node.manifest.grid_shape))
    inside = coords is not None and all(
        at < size for at, size in zip(coords, node.manifest.grid_shape, strict=True)
    )
    marked = marks.of(node.path).get(finding.code)
    here = None if coords is None else np.array([coords], np.int64).reshape(1, -1)
    if inside and here is not None and not (marked is not None and (marked == here).all(axis=1).any()):
        marks.add(node.path, finding.code, here)


def declared_findings(dataset: Dataset, declared: Declarations | RefbrowserError) -> Iterator[Finding]:
    """Yield where arrays are otherwise than declared, or why nothing is held against what is declared."""
    if isinstance(declared, RefbrowserError):
        yield DECLARATIONS_INVALID.finding(declared.message, declared.place)
        return
    for path, deviation in deviations_of(declared, dataset):
        yield NOT_AS_DECLARED.finding(deviation.words, Place(path=path))


def worst_code(findings: Sequence[Finding]) -> str:
    """Return the code of the first fault among findings, else of the first; empty where there are none."""
    worst = next((each for each in findings if each.severity is Severity.FAULT), None)
    return kind_of(worst or findings[0]).code if findings else ""


class AuditRun:
    """Carries out a plan once.

    Parameters
    ----------
    plan
        As `plan_audit` made it of the same dataset.
    compute
        Where files are asked about and chunks are read.
    now
        By when it is due what should be there; when the audit began where it is None.
    """

    def __init__(
        self,
        dataset: Dataset,
        plan: AuditPlan,
        compute: Compute = HERE,
        now: datetime | None = None,
    ) -> None:
        self._dataset, self._plan, self._compute = dataset, plan, compute
        self._now = now or datetime.now(UTC)
        self._grouping, self._asked = Grouping(), Grouping()
        self._result = AuditResult(plan.request.level, blocked=plan.cost.blocked)
        self._held = Held(self._result.marks)
        self._known: dict[str, ObjectIdentity] = {}
        #: Files that could not be asked about: chunks of them are told with them.
        self._dead: set[str] = set()
        #: Files that are not there: they are told once all were asked about, as one text may name them.
        self._gone: list[FileState] = []
        #: Chunks with faults that were known before any was read, by array and code: numbers in C order.
        self._told: dict[tuple[str, str], frozenset[int]] = {}
        self._began = time.monotonic()

    def result(self) -> AuditResult:
        """Return what was found so far, as it stands; complete once `findings` has ended."""
        result = self._result
        return replace(
            result,
            groups=self._grouping.groups(),
            asked=self._asked.groups(),
            marks=result.marks.copy(),
            expected=tuple(self._held.results),
            states=dict(result.states),
            read={path: list(parts) for path, parts in result.read.items()},
            seconds=time.monotonic() - self._began,
        )

    def findings(self, control: JobControl | None = None) -> Generator[Finding, None, None]:
        """Look, and yield each finding as it comes; what needs no reading first.

        Raises
        ------
        RefbrowserError
            `E_SOURCE`: there is nobody left who works on it.
        Cancelled
            The control's token was cancelled; what was found is kept for going on.
        """
        control = control or JobControl()
        for finding in set_findings(self._dataset, control, self._result.marks):
            self._grouping.add(finding)
            yield finding
        for finding in declared_findings(self._dataset, self._plan.declared):
            self._grouping.add(finding)
            yield finding
        self._result.notes = reader_notes(self._dataset.document)
        for finding in self._of_expectation(control):
            self._keep(finding)
            yield finding
        try:
            for finding in self._beyond_set(control):
                self._keep(finding)
                yield finding
        finally:
            # What an audit that ended early knows of files it tells without looking further.
            for finding in (each for state in self._gone for each in self._states.of(state)):
                self._keep(finding)
        self._result.is_complete = True

    def _keep(self, finding: Finding) -> None:
        self._grouping.add(finding)
        self._asked.add(finding)

    def _beyond_set(self, control: JobControl) -> Iterator[Finding]:
        if self._plan.locked:
            yield from self._of_lock(control)
        if self._plan.request.level.asks:
            yield from self._of_journal(control)

    def _of_expectation(self, control: JobControl) -> Iterator[Finding]:
        """Yield what differs from what should be there; what may not be looked at is no part of it."""
        plan = self._plan
        if not plan.expected:
            return
        lists = plan.request.level.asks
        found = expectation_findings(
            self._dataset, plan.expected, self._held, control, self._now, lists=lists
        )
        for finding in found:
            if finding.kind is ErrorKind.BLOCKED:
                self._block(FileState(finding.place.url or "", advice=finding.advice))
            else:
                yield finding

    def _of_lock(self, control: JobControl) -> Iterator[Finding]:
        """Yield what comparing files with the lock tells, but what asking for their state tells as well."""
        from refbrowser.engine.audit.lock_comparing import whole_findings, with_whole
        from refbrowser.engine.locking import lock_findings

        dataset, watch = self._dataset, self._dataset.access.memory.locked
        assert watch is not None
        control.stage("comparing files with the lock")
        fetcher = dataset.session.fetcher
        urls, found = self._plan.locked, list[Iterator[Finding]]()
        if self._plan.request.level is Level.FULL:
            found.append(whole_findings(urls, watch.lock, dataset.access, fetcher, control))
            whole = {*with_whole(urls, watch.lock)}
            urls = tuple(url for url in urls if url not in whole)
        found.append(lock_findings(urls, watch.lock, dataset.access, fetcher, control))
        for finding in chain.from_iterable(found):
            if finding.kind is ErrorKind.BLOCKED:
                self._block(FileState(finding.place.url or "", advice=finding.advice))
            elif not (self._plan.request.level.asks and finding.what in (FILE_GONE, FILE_UNDECIDED)):
                yield from in_refs(dataset.document, [self._states.at_chunks(finding)])

    def _of_journal(self, control: JobControl) -> Iterator[Finding]:
        # What reads nothing has nothing to go on with.
        from refbrowser.engine.audit.audit_journal import AuditJournal

        journal = AuditJournal(self._dataset, self._plan, resume=self._plan.request.resume)
        with closing(journal):
            yield from self._of_tasks(journal, control)
            journal.is_done = True

    # What is asked and read

    def _of_tasks(self, journal: AuditJournal, control: JobControl) -> Iterator[Finding]:
        compute = HERE if why_here(self._dataset) else self._compute
        memory = self._dataset.access.memory
        before = set(memory.warnings)
        with collected_later(), compute.open(control.token) as executor:
            check_workers(executor)
            for tasks in (self._stat_tasks, self._read_tasks):
                for task in tasks():
                    if task.number in journal.known:
                        yield from self._taken(task, journal.known[task.number], control)
                waiting = (task for task in tasks() if task.number not in journal.known)
                with closing(answers(self._dataset, executor, waiting, control.token)) as ended:
                    for task, answer in ended:
                        control.check()
                        if isinstance(answer, BaseException):
                            # It costs this task alone, unless nobody is left or it was cancelled.
                            answer = _failed(task, answer)
                        else:
                            journal.add(task.number, answer)
                        yield from self._taken(task, answer, control)
                yield from self._of_gone()
        # What was noted of what this process read: entity tags that vary, checksums that are odd.
        yield from (warning for warning in memory.warnings if warning not in before)

    def _of_gone(self) -> Iterator[Finding]:
        """Yield what the files tell that are not there."""
        gone, self._gone = self._gone, []
        if gone:
            yield from in_refs(self._dataset.document, list(self._states.of_gone(gone)))

    def _stat_tasks(self) -> Iterator[AuditTask]:
        plan = self._plan
        urls = [*(plan.table.urls[number] for number in plan.urls), *plan.others]
        for number, start in enumerate(range(0, len(urls), _URLS)):
            yield AuditTask(number, urls=tuple(urls[start : start + _URLS]))

    def _read_tasks(self) -> Iterator[AuditTask]:
        number = -(-(len(self._plan.urls) + len(self._plan.others)) // _URLS)
        for chosen in self._plan.chosen:
            size = together(chosen.node)
            for start in range(0, len(chosen.numbers), size):
                numbers = tuple(chosen.numbers[start : start + size].tolist())
                yield AuditTask(
                    number, path=chosen.path, numbers=numbers, known=self._known_of(chosen, numbers),
                    bounds=self._plan.bounds_of(chosen.path),
                )  # fmt: skip
                number += 1

    def _known_of(self, chosen: ChosenChunks, numbers: tuple[int, ...]) -> dict[str, ObjectIdentity]:
        """Return the states of the files that chunks lie in, as they were told."""
        if not self._known:
            return {}
        columns = chosen.node.manifest.columns(coords_of(np.array(numbers, np.int64), chosen.grid_shape))
        used = {columns.urls[number] for number in set(columns.url.tolist()) if number >= 0}
        return {url: self._known[url] for url in used if url in self._known}

    def _taken(self, task: AuditTask, answer: TaskAnswer, control: JobControl) -> Iterator[Finding]:
        """Yield what the answer of a task tells, and count it."""
        result = self._result
        result.urls += len(answer.states)
        result.chunks += answer.chunks
        result.size += answer.size
        result.requests += answer.requests
        if task.numbers:
            result.read.setdefault(task.path, []).append(np.array(task.numbers, np.int64))
        found: list[Finding] = []
        for state in answer.states:
            if state.kind == ErrorKind.BLOCKED:
                self._block(state)
                continue
            if state.total is not None or state.etag is not None:
                self._known[state.url] = state.identity
            elif state.message:
                self._dead.add(state.url)
            if self._states.is_gone(state):
                self._gone.append(state)
                result.states[state.url] = URL_DEAD.code
                continue
            told = list(self._states.of(state))
            # Of local files it was told before any was asked about.
            short = RANGE_PAST_END.code if self._states.is_short(state) else ""
            result.states[state.url] = worst_code(told) or short
            # What is stale was told by comparing with the lock, where that was asked for.
            found += (each for each in told if not (self._plan.locked and each.what == STALE_FILE))
        if answer.blocked:
            self._block(FileState(task.path))
        outcomes = map(self._of_outcome, answer.outcomes)
        found += [finding for finding in outcomes if finding is not None]
        if found:
            # To find where entries stand in the text takes long: it is done once for all of them.
            yield from in_refs(self._dataset.document, found)
        cost = self._plan.cost
        control.progress(
            min(result.urls + result.chunks, cost.urls + cost.chunks), cost.urls + cost.chunks,
            read_bytes=result.size, requests=result.requests,
        )  # fmt: skip

    def _block(self, state: FileState) -> None:
        """Note a place that may not be looked at, which the plan did not know, as where a redirect leads."""
        blocked = BlockedOrigin(
            state.message or state.url, 1, len(self._states.rows(state.url)), state.advice
        )
        if all(each.origin != blocked.origin for each in self._result.blocked):
            self._result.blocked = (*self._result.blocked, blocked)

    def _of_outcome(self, outcome: Outcome) -> Finding | None:
        node = self._dataset.hierarchy.find(outcome.path)
        assert isinstance(node, ArrayNode)
        key, manifest = None, node.manifest if node.has_manifest else None
        if outcome.severity == Severity.FAULT and manifest is not None:
            left = self._untold(node, outcome)
            if outcome.numbers and not left:
                return None
            outcome = replace(outcome, numbers=left)
        url = self._spelled(outcome.url)
        if outcome.url and url in self._dead:
            # Of its file it is known already that it cannot be read.
            return None
        if manifest is not None and outcome.numbers:
            coords = coords_of(np.array(outcome.numbers, np.int64), manifest.grid_shape)
            self._result.marks.add(node.path, outcome.code, coords)
            key = manifest.key(tuple(coords[0].tolist()))
        place = Place(
            document=self._dataset.document.name, key=key, path=node.path, url=url or None,
            start=outcome.start, stop=outcome.stop,
        )  # fmt: skip
        return Finding(
            severity=Severity(outcome.severity),
            kind=ErrorKind(outcome.kind),
            message=outcome.message,
            place=place,
            advice=outcome.advice,
            count=max(1, len(outcome.numbers)),
            what=KINDS[outcome.code],
        )

    def _untold(self, node: ArrayNode, outcome: Outcome) -> tuple[int, ...]:
        """Return those of the chunks of a fault of which none was told before they were read."""
        key = node.path, outcome.code
        if key not in self._told:
            known = {outcome.code, *(kind.code for kind in _KNOWN_BEFORE)}
            if stored_sizes(node)[0] is not None:
                # Its length alone tells that it cannot be decoded; of compressed ones that is a guess.
                known.add(RANGE_OFF_BY_ONE.code)
            grid, marks = node.manifest.grid_shape, self._result.marks.of(node.path)
            found = [flat_index(coords, grid) for code, coords in marks.items() if code in known]
            self._told[key] = frozenset(np.concatenate(found).tolist() if found else ())
        return tuple(number for number in outcome.numbers if number not in self._told[key])

    def _spelled(self, url: str) -> str:
        """Return how the document spells the URL of an object, where it was asked about."""
        return self._spellings.get(url, url)

    @cached_property
    def _spellings(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for number in self._plan.urls:
            url = self._plan.table.urls[number]
            with suppress(RefbrowserError):
                found.setdefault(self._dataset.access.locate(url).url, url)
        return found

    @cached_property
    def _states(self) -> StateFindings:
        return StateFindings(self._dataset, self._plan.table, self._result.marks)


def _failed(task: AuditTask, error: BaseException) -> TaskAnswer:
    """Return what a task that ended with an error tells; what ends all of them is raised."""
    if not isinstance(error, RefbrowserError) or (
        error.kind is ErrorKind.SOURCE and error.__cause__ is not None
    ):
        raise error
    if task.urls:
        told = (str(error.kind), error.message, error.advice)
        return TaskAnswer(tuple(FileState(url, None, None, None, *told) for url in task.urls))
    outcome = Outcome(
        CHUNK_UNREADABLE.code, str(Severity.FAULT), str(error.kind), error.message, error.advice,
        task.path, task.numbers,
    )  # fmt: skip
    return TaskAnswer(outcomes=(outcome,))
