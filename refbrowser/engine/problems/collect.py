"""Gathers the problems of an opened document: findings of `refbrowser check`, chunks that failed, fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.chunk_log import marks_of
from refbrowser.engine.collecting import collected_later
from refbrowser.engine.problems.keys import codec_findings, key_findings
from refbrowser.engine.problems.problem import Fix, Origin, Problem, Problems, Remedy, Spot
from refbrowser.engine.problems.ranges import range_findings
from refbrowser.errors import ErrorKind, Finding, Place, RefbrowserError, Severity, quoted
from refbrowser.formats.zarr.metadata_json import NOT_FINITE
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.checks.positions import as_known, in_refs
from refbrowser.references.checks.rule_checks import all_findings
from refbrowser.references.document.consolidated import CONSOLIDATED, HOLDS_NOT_FINITE
from refbrowser.references.rules.rule_search import SearchTime

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access import Access, Want
    from refbrowser.model.nodes import Hierarchy
    from refbrowser.references.document.document import Document


def failures_of(dataset: Dataset) -> list[RefbrowserError]:
    """Return why chunks, and members of archives, failed.

    Chunks whose reference was edited since, or that are gone, are left out.
    """
    found = []
    for path, log in dataset.session.chunk_log.arrays(dataset.access.memory):
        failures = log.failures()
        node: Any = dataset.hierarchy.find(path)
        if not failures or not isinstance(node, ArrayNode) or not node.has_manifest:
            continue
        manifest = node.manifest
        grid = manifest.grid_shape
        inside = [
            failure
            for failure in failures
            if len(failure[0]) == len(grid)
            and all(at < size for at, size in zip(failure[0], grid, strict=True))
        ]
        coords = np.array([failure[0] for failure in inside], np.int64).reshape(len(inside), len(grid))
        marks = marks_of(manifest.columns(coords)).tolist()
        found += [error for (_, mark, error), now in zip(inside, marks, strict=True) if mark == now]
    told = {_where(error) for error in found}
    damaged = dataset.access.memory.archives.damaged
    return [*found, *(error for error in damaged if _where(error) not in told)]


def _where(error: RefbrowserError) -> tuple[object, ...]:
    return error.place.url, error.place.start, error.message


def turns_of(dataset: Dataset) -> int:
    """Return a number that changes whenever `failures_of` may give something else; quick."""
    memory = dataset.access.memory
    reads = sum(log.turns for _path, log in dataset.session.chunk_log.arrays(memory))
    return reads + len(memory.archives.damaged)


#: Seconds that are spent on files, rows and URLs that arithmetic does not decide.
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class DatasetFindings:
    """What was found.

    Attributes
    ----------
    document
        Of what the document says: its text, templates, rules, references.
    structure
        Of what it describes: groups and arrays, their metadata and keys.
    """

    document: tuple[Finding, ...]
    structure: tuple[Finding, ...]

    @property
    def all(self) -> list[Finding]:
        """All of them, those of the document first."""
        return [*self.document, *self.structure]


def dataset_findings(
    document: Document,
    hierarchy: Hierarchy | None,
    access: Access | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> DatasetFindings:
    """Return everything that is wrong with a dataset, as far as it is known without reading data.

    Of a store that was listed, what the listing told is among it. Searches are bounded; what they leave
    open is told as not decided.

    Parameters
    ----------
    hierarchy
        What the document describes; None where that is not known.
    access
        What the document may read: the sizes of local files are asked for. None to look at no file.
    cancelled
        Asked now and then; what is left is then not looked at.
    """
    with collected_later():
        of_document = tuple(as_known(document, _of_document(document, hierarchy, access, cancelled)))
    structure: list[Finding] = []
    if hierarchy is not None:
        told = _Told(of_document)
        more = [each for each in hierarchy.problems if not told.has(each)]
        structure += in_refs(document, [*more, *codec_findings(hierarchy)])
    store = document.store
    if store is not None and store.facts.listing is not None:
        structure += store.facts.listing.findings
    return DatasetFindings(of_document, tuple(structure))


def _of_document(
    document: Document,
    hierarchy: Hierarchy | None,
    access: Access | None,
    cancelled: Callable[[], bool],
) -> Iterator[Finding]:
    yield from all_findings(document, cancelled)
    left = SearchTime(cancelled, _SECONDS)
    # Of a store and of other files each reference was made here.
    if not document.rules_are_made:
        yield from range_findings(document, access, left)
    if hierarchy is not None:
        yield from key_findings(document, hierarchy, left)


class _Told:
    """What the findings of a document say about each key."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._of_keys: dict[str, tuple[set[str], set[ErrorKind]]] = {}
        for finding in findings:
            if finding.place.key is not None:
                messages, kinds = self._of_keys.setdefault(finding.place.key, (set(), set()))
                messages.add(finding.message)
                kinds.add(finding.kind)

    def has(self, finding: Finding) -> bool:
        """Tell whether a finding of the structure is one of them in other words."""
        key = finding.place.key
        if key is None or key not in self._of_keys:
            return False
        messages, kinds = self._of_keys[key]
        if finding.message in messages:
            return True
        if finding.message.endswith(NOT_FINITE) and HOLDS_NOT_FINITE in messages:
            return True
        # Metadata that is no JSON has no second fault; what contradicts consolidated metadata is told once.
        is_consolidated = key.rpartition("/")[2] == CONSOLIDATED
        return (finding.kind is ErrorKind.JSON and ErrorKind.JSON in kinds) or (
            is_consolidated and ErrorKind.META in kinds
        )


#: Kinds of a failed read that another beginning of the URL may repair.
_OF_URLS = (ErrorKind.SOURCE, ErrorKind.IO, ErrorKind.PROTOCOL, ErrorKind.UNSAFE)


def collect(
    document: Document,
    hierarchy: Hierarchy | None = None,
    wants: Iterable[Want] = (),
    failures: Iterable[RefbrowserError] = (),
    cancelled: Callable[[], bool] = lambda: False,
    access: Access | None = None,
) -> Problems:
    """Return everything that is wrong with an opened document; nothing is read for it.

    Parameters
    ----------
    hierarchy
        Of the document, with its own findings.
    wants
        What the document wants to read.
    failures
        Errors of chunks that could not be read so far.
    cancelled
        Asked now and then; what is left is then not looked at.
    access
        What the document may read: the sizes of local files are asked for. None to look at no file.
    """
    findings = dataset_findings(document, hierarchy, access, cancelled)
    found = [_of_finding(finding, Origin.DOCUMENT, hierarchy) for finding in findings.document]
    found += [_of_finding(finding, Origin.STRUCTURE, hierarchy) for finding in findings.structure]
    found += _of_failures(failures, hierarchy)
    found += [_of_want(want) for want in wants if not want.allowed]
    return Problems.of(found)


def _of_finding(finding: Finding, origin: Origin, hierarchy: Hierarchy | None) -> Problem:
    return Problem(
        severity=finding.severity,
        kind=finding.kind,
        message=finding.message,
        origin=origin,
        spot=_spot(finding.place, hierarchy),
        place=finding.place,
        advice=finding.advice,
        count=finding.count,
        fix=_fix(finding, origin),
    )


def _spot(place: Place, hierarchy: Hierarchy | None) -> Spot:
    """Return the row of the tree that a place belongs to."""
    if place.rule is not None:
        return "rule", place.rule
    parts = (place.pointer or "").split("/")
    if place.key is None and len(parts) > 2 and parts[1] == "templates":
        return "template", parts[2].replace("~1", "/").replace("~0", "~")
    if place.key is None and len(parts) > 2 and parts[1] == "gen" and parts[2].isdecimal():
        return "rule", int(parts[2])
    if place.key is not None:
        return _node_of(place.key, hierarchy)
    if place.path is not None and hierarchy is not None:
        return _spot_of_node(place.path, hierarchy)
    return "document", ""


def _node_of(key: str, hierarchy: Hierarchy | None) -> Spot:
    """Return the array or group that a key belongs to; the document where there is none."""
    parts = key.split("/")[:-1]
    for depth in range(len(parts), 0, -1):
        spot = _spot_of_node("/".join(parts[:depth]), hierarchy)
        if spot[0] != "document":
            return spot
    return _spot_of_node("/", hierarchy)


def _spot_of_node(path: str, hierarchy: Hierarchy | None) -> Spot:
    node = None if hierarchy is None else hierarchy.find(path)
    if node is None:
        return "document", ""
    if hasattr(node, "groups"):
        # The root group is the document's own row.
        return ("group", node.path) if node.path != "/" else ("document", "")
    return "array", node.path


def _fix(finding: Finding, origin: Origin) -> Fix | None:
    """Return what one click does: the finding's own edit, else to remove an entry that cannot be read."""
    if finding.fix is not None:
        return Fix(Remedy.EDIT, finding.fix.title, finding.fix)
    place = finding.place
    if finding.severity is not Severity.FAULT or place.key is None or place.rule is not None:
        return None
    if finding.kind in (ErrorKind.PROTOCOL, ErrorKind.UNSAFE) and place.url:
        return _prefix_fix(place.url)
    if origin is Origin.DOCUMENT and finding.kind in (ErrorKind.REF, ErrorKind.ENCODING):
        from refbrowser.references.edits.edits import RemoveReference

        edit = RemoveReference(place.key)
        return Fix(Remedy.EDIT, edit.title, edit)
    return None


def _prefix_fix(url: str) -> Fix:
    return Fix(Remedy.PREFIX, "Replace the beginning of URLs…", text=url.rpartition("/")[0] + "/")


def _of_failures(failures: Iterable[RefbrowserError], hierarchy: Hierarchy | None) -> Iterator[Problem]:
    """Yield one problem for each array and cause, with how many chunks share it."""
    groups: dict[tuple[Spot, ErrorKind, str], list[RefbrowserError]] = {}
    for error in failures:
        place = error.place
        spot = _node_of(place.key, hierarchy) if place.key is not None else _spot(place, hierarchy)
        groups.setdefault((spot, error.kind, error.message), []).append(error)
    for (spot, kind, message), errors in groups.items():
        place = errors[0].place
        fix = _prefix_fix(place.url) if kind in _OF_URLS and place.url else None
        yield Problem(
            severity=Severity.FAULT, kind=kind, message=message, origin=Origin.READING, spot=spot,
            place=place, advice=errors[0].advice, count=len(errors), fix=fix,
        )  # fmt: skip


def _of_want(want: Want) -> Problem:
    name = str(want.origin) if want.origin is not None else f"{want.pattern}…"
    references = f"{want.count:,} reference{'' if want.count == 1 else 's'}".replace(",", " ")
    return Problem(
        severity=Severity.WARNING,
        kind=ErrorKind.BLOCKED,
        message=f"reading from {quoted(name)} needs permission ({references})",
        origin=Origin.PERMISSION,
        spot=("document", ""),
        place=Place(url=name),
        fix=Fix(Remedy.PERMISSIONS, "Permissions…"),
    )
