"""Gathers the findings of an opened document: findings of `refbrowser check`, chunks that failed, fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.engine.findings.dataset_findings import findings_at_hand
from refbrowser.engine.findings.listed_finding import (
    FindingList,
    FindingOrigin,
    Fix,
    ListedFinding,
    Spot,
)
from refbrowser.engine.locking import prefixes_of
from refbrowser.engine.reading.chunk_log import marks_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.findings.finding import Finding, Remedy
from refbrowser.findings.kinds import kind_of
from refbrowser.model.nodes import ArrayNode
from refbrowser.words import counted, counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.access.access import Access, Want
    from refbrowser.io.locks.lock import Stale
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
    stale = 0 if memory.locked is None else memory.locked.turns
    return reads + len(memory.archives.damaged) + stale


#: Kinds of a failed read that another beginning of the URL may repair.
_OF_URLS = (ErrorKind.SOURCE, ErrorKind.IO, ErrorKind.PROTOCOL, ErrorKind.UNSAFE)


def collect(
    document: Document,
    hierarchy: Hierarchy | None = None,
    wants: Iterable[Want] = (),
    failures: Iterable[RefbrowserError] = (),
    cancelled: Callable[[], bool] = lambda: False,
    access: Access | None = None,
    audited: Iterable[Finding] = (),
) -> FindingList:
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
    audited
        What an audit found by asking and reading.
    """
    findings = findings_at_hand(document, hierarchy, access, cancelled)
    found = [listed_finding(finding, FindingOrigin.DOCUMENT, hierarchy) for finding in findings.document]
    found += [listed_finding(finding, FindingOrigin.STRUCTURE, hierarchy) for finding in findings.structure]
    of_audit = [listed_finding(finding, FindingOrigin.AUDIT, hierarchy) for finding in audited]
    # What a view could not read, either: the audit tells of how many chunks, the document in its own words.
    told = {(each.spot, each.kind, each.message) for each in of_audit}
    faults = (each for each in found if each.severity is Severity.FAULT and each.place.key is not None)
    keys = {(each.place.key, each.kind) for each in faults}
    of_reads = _of_failures(
        (error for error in failures if (error.place.key, error.kind) not in keys), hierarchy
    )
    found += [each for each in of_reads if (each.spot, each.kind, each.message) not in told]
    found += of_audit
    found += _of_lock(document, hierarchy, access)
    found += [_of_want(want) for want in wants if not want.allowed]
    return FindingList.of(found)


def listed_finding(finding: Finding, origin: FindingOrigin, hierarchy: Hierarchy | None) -> ListedFinding:
    """Return a finding as a line of the list of findings, with the row of the tree that it belongs to."""
    return ListedFinding(
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


def _fix(finding: Finding, origin: FindingOrigin) -> Fix | None:
    """Return what one click does: the finding's own edit, else to remove an entry that cannot be read."""
    if finding.fix is not None:
        return Fix(Remedy.EDIT, finding.fix.title, finding.fix)
    place = finding.place
    if origin is FindingOrigin.AUDIT and place.url and kind_of(finding).remedy is Remedy.PREFIX:
        return _prefix_fix(place.url)
    if finding.severity is not Severity.FAULT or place.key is None or place.rule is not None:
        return None
    if finding.kind in (ErrorKind.PROTOCOL, ErrorKind.UNSAFE) and place.url:
        return _prefix_fix(place.url)
    if origin is FindingOrigin.DOCUMENT and finding.kind in (ErrorKind.REF, ErrorKind.ENCODING):
        from refbrowser.references.edits.edits import RemoveReference

        edit = RemoveReference(place.key)
        return Fix(Remedy.EDIT, edit.title, edit)
    return None


def _prefix_fix(url: str) -> Fix:
    return Fix(Remedy.PREFIX, "Replace the beginning of URLs…", text=url.rpartition("/")[0] + "/")


def _of_failures(failures: Iterable[RefbrowserError], hierarchy: Hierarchy | None) -> Iterator[ListedFinding]:
    """Yield one finding for each array and cause, with how many chunks share it."""
    groups: dict[tuple[Spot, ErrorKind, str], list[RefbrowserError]] = {}
    for error in failures:
        place = error.place
        spot = _node_of(place.key, hierarchy) if place.key is not None else _spot(place, hierarchy)
        groups.setdefault((spot, error.kind, error.message), []).append(error)
    for (spot, kind, message), errors in groups.items():
        place = errors[0].place
        fix = _prefix_fix(place.url) if kind in _OF_URLS and place.url else None
        yield ListedFinding(
            severity=Severity.FAULT, kind=kind, message=message, origin=FindingOrigin.READING, spot=spot,
            place=place, advice=errors[0].advice, count=len(errors), fix=fix,
        )  # fmt: skip


def _of_lock(
    document: Document, hierarchy: Hierarchy | None, access: Access | None
) -> Iterator[ListedFinding]:
    """Yield a finding for each array of which files are not those of the lock, as far as was found so far."""
    locked = None if access is None else access.memory.locked
    stale = {} if locked is None else {each.url: each for each in locked.stale.values()}
    if not stale:
        return
    told: set[str] = set()
    for prefix, urls in prefixes_of(document, frozenset(stale)).items():
        first = stale[min(urls)]
        more = len(urls) - 1
        others = "" if not more else f"; and {counted_plain(more, 'more file')}"
        told |= urls
        yield _stale_finding(first, _node_of(f"{prefix}0", hierarchy), f"{first.message}{others}")
    for url in sorted(stale.keys() - told):
        # Of metadata, or of what was edited since.
        yield _stale_finding(stale[url], ("document", ""), stale[url].message)


def _stale_finding(stale: Stale, spot: Spot, message: str) -> ListedFinding:
    finding = stale.finding()
    fix = Fix(Remedy.ACCEPT, "Accept the new state…", text=stale.url)
    return ListedFinding(
        severity=finding.severity, kind=finding.kind, message=message, origin=FindingOrigin.LOCK, spot=spot,
        place=replace(finding.place, path=str(spot[1]) or None), advice=stale.error().advice, fix=fix,
    )  # fmt: skip


def _of_want(want: Want) -> ListedFinding:
    name = want.package or (f"{want.pattern}…" if want.origin is None else str(want.origin))
    what = "decoding with the package" if want.package else "reading from"
    count = counted(want.count, "array" if want.package else "reference").replace(",", " ")
    return ListedFinding(
        severity=Severity.WARNING,
        kind=ErrorKind.BLOCKED,
        message=f"{what} {quoted(name)} needs permission ({count})",
        origin=FindingOrigin.PERMISSION,
        spot=("document", ""),
        place=Place() if want.package else Place(url=name),
        fix=Fix(Remedy.PERMISSIONS, "Permissions…"),
    )
