"""What an audit found, held against an edited document: what went with the edits is left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from refbrowser.engine.audit.audit_result import AuditResult, Grouping, joined_fix
from refbrowser.engine.audit.audit_run import set_findings
from refbrowser.engine.findings.chunk_table import ChunkMarks, ChunkTable, Ints, coords_of
from refbrowser.engine.reading.chunk_log import marks_of
from refbrowser.errors import Place
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import RANGE_PAST_END, URL_DEAD, kind_of
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

#: Seconds in which it is looked which files an edited document uses.
_SECONDS = 10.0


def followed(result: AuditResult, before: Dataset, now: Dataset, control: JobControl) -> AuditResult:
    """Return what is left of the result of an audit after edits; nothing is read for it.

    What needs no reading is looked for anew. What was asked or read stays as long as the document leads
    there: of a file as long as a chunk uses it, of a chunk as long as its reference is the same.

    Parameters
    ----------
    before, now
        The dataset that was audited, and as it is now.
    """
    following = _Following(before, now)
    marks, grouping, asked = ChunkMarks(), Grouping(), Grouping()
    told: set[tuple[str, int | None]] = set()
    for finding in set_findings(now, control, marks):
        grouping.add(finding)
        told.add((finding.code, finding.place.rule))
    for finding in (each for group in result.asked for each in group.findings):
        control.check()
        kept = following.finding(finding)
        if kept is not None and (
            finding.place.rule is None or (finding.code, finding.place.rule) not in told
        ):
            grouping.add(kept)
            asked.add(kept)
    following.keep_marks(result, marks)
    return replace(
        result,
        groups=grouping.groups(),
        asked=asked.groups(),
        marks=marks,
        read=dict(following.read(result)),
        states=_states(result, {code for code, _ in told}),
        is_edited=result.level.asks,
    )


def _states(result: AuditResult, told: Collection[str]) -> dict[str, str]:
    """Return how files are: none is too short any more where nothing tells of one."""
    past = RANGE_PAST_END.code
    if past in told:
        return result.states
    return {url: "" if code == past else code for url, code in result.states.items()}


def fix_all(dataset: Dataset, result: AuditResult, code: str, control: JobControl) -> tuple[object, int]:
    """Return one edit that repairs all of one code, also what groups do not keep, and of how many places.

    The edit is None where nothing of it can be repaired.
    """
    found = [each for each in set_findings(dataset, control, ChunkMarks()) if kind_of(each).code == code]
    found += [each for group in result.asked if group.code == code for each in group.findings]
    fixed = [each for each in found if each.fix is not None]
    title = f"Fix: {kind_of(fixed[0]).title}" if fixed else ""
    return joined_fix(dataset.document, fixed, title), sum(each.count for each in fixed)


class _Following:
    """Which chunks are led to as before, and which files are used."""

    def __init__(self, before: Dataset, now: Dataset) -> None:
        self._before, self._now = before, now

    def finding(self, finding: Finding) -> Finding | None:
        """Return what is left of something that was found by asking or reading."""
        place = finding.place
        if kind_of(finding).level == "stat" and place.url:
            count, key, path = self._use_of(place.url)
            if not count:
                return None
            return replace(
                finding, count=count, place=replace(place, key=key, path=path, line=None, column=None)
            )
        if finding.what == URL_DEAD and not place.url and finding.fix is not None:
            # A template or rule that names files which are not there.
            from refbrowser.engine.audit.wrong_texts import followed_text

            return followed_text(finding, self._before.document, self._now.document, self._count_of)
        if place.key is None:
            return finding if self._is_same_rule(place) else None
        node = self._now.hierarchy.find(place.path or place.key.rpartition("/")[0])
        if not isinstance(node, ArrayNode) or not node.has_manifest:
            return None
        grid = node.manifest.grid_shape
        coords = node.chunk_keys.decode(place.key[len(node.key_prefix) :], len(grid))
        if coords is None or any(at >= size for at, size in zip(coords, grid, strict=True)):
            return None
        return finding if self._same(node.path, np.array([coords], np.int64).reshape(1, -1)).all() else None

    def _is_same_rule(self, place: Place) -> bool:
        """Tell whether the field of a rule that a place names is as it was; true of other places."""
        if place.rule is None or place.field is None:
            return True
        before, now = self._before.document.rules, self._now.document.rules
        if place.rule >= min(len(before), len(now)):
            return False
        name = place.field
        return bool(before[place.rule].members.get(name) == now[place.rule].members.get(name))

    def keep_marks(self, result: AuditResult, marks: ChunkMarks) -> None:
        """Add the marks of chunks that asking and reading gave, where these are led to as before."""
        # That a range of a local file ends past its end is found without asking; each chunk is marked later.
        codes = {group.code for group in result.asked} | {RANGE_PAST_END.code}
        for path in result.marks.paths:
            for code, coords in result.marks.of(path).items():
                same = self._same(path, coords) if code in codes else np.zeros(len(coords), bool)
                if same.any():
                    marks.add(path, code, coords[same])

    def read(self, result: AuditResult) -> Iterator[tuple[str, list[Ints]]]:
        """Yield the arrays of which chunks were read that are led to as before, with these."""
        for path, parts in result.read.items():
            node = self._before.hierarchy.find(path)
            if isinstance(node, ArrayNode) and node.has_manifest:
                numbers = np.concatenate(parts)
                yield path, [numbers[self._same(path, coords_of(numbers, node.manifest.grid_shape))]]

    def _same(self, path: str, coords: Ints) -> npt.NDArray[np.bool_]:
        """Tell which chunks of an array have the reference that they had."""
        old, new = self._before.hierarchy.find(path), self._now.hierarchy.find(path)
        nothing = np.zeros(len(coords), bool)
        if not (isinstance(old, ArrayNode) and isinstance(new, ArrayNode)):
            return nothing
        if not (old.has_manifest and new.has_manifest and old.manifest.grid_shape == new.manifest.grid_shape):
            return nothing
        same: npt.NDArray[np.bool_] = marks_of(old.manifest.columns(coords)) == marks_of(
            new.manifest.columns(coords)
        )
        return same

    def _use_of(self, url: str) -> tuple[int, str | None, str | None]:
        """Return how many chunks lie in a file now, key and array of the first."""
        table, counts = self._uses
        number = self._numbers.get(url)
        count = 0 if number is None else int(counts[number])
        if number is None or not count:
            # What is no file of chunks, as a stream itself, stays.
            is_place = url in self._now.document.places.values()
            return (1 if is_place else 0), None, None
        row = int(np.flatnonzero(table.url == number)[0])
        owner = table.owners[table.owner[row]]
        return count, owner.key(int(table.number[row])), owner.node.path

    def _count_of(self, is_meant: Callable[[str], bool]) -> int:
        """Return how many chunks lie in files whose URLs are meant."""
        table, counts = self._uses
        return sum(int(counts[number]) for number, url in enumerate(table.urls) if is_meant(url))

    @cached_property
    def _uses(self) -> tuple[ChunkTable, Ints]:
        table = ChunkTable.of(self._now.document, self._now.hierarchy, SearchTime(seconds=_SECONDS))
        return table, np.bincount(table.url, minlength=len(table.urls))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {url: number for number, url in enumerate(self._uses[0].urls)}
