"""The sentences that explanations come to, and where a key points: plain words for a person who asks why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.engine.findings.listed_finding import FindingOrigin, ListedFinding
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.findings.finding import Remedy
from refbrowser.io.access.access import Access, Location, storage_url
from refbrowser.io.identity import moment_of
from refbrowser.io.locks.lock import text_of
from refbrowser.io.origins import Origin, is_below
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.tools.explain.report.explanation import (
    Explanation,
    Line,
    Link,
    LinkKind,
    Step,
    StepState,
    VerdictKind,
    plain,
)
from refbrowser.tools.explain.report.meaning import Meaning
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset


PERMISSIONS = Link(LinkKind.PERMISSIONS, "Review permissions…")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reference points.

    Attributes
    ----------
    error
        Why it can never be read from this document; None where it can.
    allowed
        Whether it may be read now.
    """

    step: Step
    origin: Origin | None = None
    error: RefbrowserError | None = None
    allowed: bool = False


def find_place(access: Access, reference: ByteRange | WholeFile) -> Place:
    """Return where a reference points and whether it may be read; nothing is read."""
    lines = [Line(plain(reference.url), "URL")]
    facts: dict[str, Any] = {"url": reference.url}
    try:
        location = access.locate(reference.url)
    except RefbrowserError as error:
        lines.append(Line(error.message, "Refused"))
        facts |= {"permission": "never", "error": error.message}
        title = "Where the bytes are"
        step = Step(name="place", title=title, state=StepState.FAULT, lines=lines, facts=facts)
        return Place(step, error=error)
    if location.url != reference.url:
        lines.append(Line(plain(location.url), "Resolved to"))
    lines.append(Line(_range_text(reference), "Range"))
    allowed = access.permits(location)
    lines.append(Line(_permission_text(access, location, allowed), "Permission"))
    facts |= {
        "resolved": location.url,
        "origin": str(location.origin),
        "permission": "given" if allowed else "needed",
    }
    if isinstance(reference, ByteRange):
        facts |= {"start": reference.offset, "stop": reference.offset + reference.length}
    step = Step(
        name="place",
        title="Where the bytes are",
        state=StepState.OK if allowed else StepState.WARNING,
        lines=lines,
        facts=facts,
        links=() if allowed else (PERMISSIONS,),
    )
    return Place(step, location.origin, allowed=allowed)


def _range_text(reference: ByteRange | WholeFile) -> str:
    if isinstance(reference, WholeFile):
        return "the whole file"
    stop = reference.offset + reference.length
    return f"{counted_plain(reference.length, 'byte')}, from {reference.offset} up to {stop}"


def _permission_text(access: Access, location: Location, allowed: bool) -> str:
    origin = location.origin
    if not allowed:
        return f"needed: this document may not read from {plain(origin)} yet"
    if origin.scheme == "file" and not access.from_network and is_below(origin.folder, access.base):
        return "given: the file is below the folder of the document"
    return f"given: this document may read from {plain(origin)}"


RETRY = Link(LinkKind.RETRY, "Try again")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an explanation comes to: its sentence, and what can be done."""

    kind: VerdictKind
    text: str
    state: StepState = StepState.OK
    links: tuple[Link, ...] = ()


def of_value(meaning: Meaning, decoded: bool) -> Verdict:
    """Return the verdict on an element whose stored value is known."""
    if meaning.kind is VerdictKind.VALUE:
        if not decoded:
            return Verdict(meaning.kind, f"This element shows {meaning.stored} as it is stored, CF being off")
        return Verdict(meaning.kind, f"This element is {meaning.shown}")
    cause = f"the value stored for it, {meaning.stored}, {meaning.cause}"
    return Verdict(meaning.kind, _empty(cause, meaning.stored, decoded), StepState.WARNING)


def of_missing(what: str, meaning: Meaning, has_fill: bool, decoded: bool) -> Verdict:
    """Return the verdict on an element of a chunk that is missing.

    Parameters
    ----------
    what
        The chunk: ``chunk z/0.1``.
    has_fill
        Whether the metadata gives a fill value.
    """
    fill = (
        f"its fill value {meaning.stored}"
        if has_fill
        else f"without a fill value it is undefined, and reads as {meaning.stored}"
    )
    if meaning.kind is VerdictKind.VALUE:
        shown = meaning.shown if decoded else meaning.stored
        reads = f"{fill} is shown" if has_fill else fill
        text = f"This element reads as {shown} because {what} is missing: {reads}"
        return Verdict(VerdictKind.MISSING, text, StepState.WARNING)
    stands = f"{fill} means no data" if has_fill else f"{fill}, which means no data"
    text = _empty(f"{what} is missing: {stands}", meaning.stored, decoded)
    return Verdict(VerdictKind.MISSING, text, StepState.WARNING)


def _empty(because: str, stored: str, decoded: bool) -> str:
    if decoded:
        return f"This element is empty because {because}"
    return f"This element shows {stored}, CF being off; with CF it is empty because {because}"


def of_faulty(subject: str, error: RefbrowserError) -> Verdict:
    """Return the verdict on a key whose entry is faulty."""
    text = f"{subject} cannot be read because its reference is faulty: {error.message}"
    return Verdict(VerdictKind.FAULTY, text, StepState.FAULT)


def of_lost(subject: str, error: RefbrowserError, links: Sequence[Link]) -> Verdict:
    """Return the verdict on a key that what is faulty may have given."""
    cause = f"gen rule {error.place.rule}" if error.place.rule is not None else "a part of the document"
    text = f"{subject} cannot be read: {cause} may give its reference, and is faulty: {error.message}"
    return Verdict(VerdictKind.FAULTY, text, StepState.FAULT, tuple(links))


def of_undecided(subject: str, rule: int) -> Verdict:
    """Return the verdict on a key that a rule may give."""
    text = f"Whether there is a reference for {subject} is not known: gen rule {rule} is too hard to search"
    return Verdict(VerdictKind.UNDECIDED, text, StepState.FAULT)


def of_unreadable(path: str, error: RefbrowserError) -> Verdict:
    """Return the verdict on an array whose metadata cannot be used."""
    text = f"No element of {plain(path)} can be read: {error.message}"
    link = Link(LinkKind.ATTRIBUTES, "Show the metadata", path)
    return Verdict(VerdictKind.UNREADABLE, text, StepState.FAULT, (link,))


def of_blocked(subject: str, origin: str) -> Verdict:
    """Return the verdict on bytes that need a permission; they were not asked for."""
    text = f"{subject} was not read: reading from {plain(origin)} needs your permission"
    return Verdict(VerdictKind.BLOCKED, text, StepState.WARNING, (PERMISSIONS,))


def of_read_error(subject: str, error: RefbrowserError) -> Verdict:
    """Return the verdict on bytes that could not be had."""
    if error.kind is ErrorKind.BLOCKED:
        text = f"{subject} could not be read: {error.message}"
        return Verdict(VerdictKind.BLOCKED, text, StepState.WARNING, (PERMISSIONS,))
    text = f"{subject} could not be read: {error.message}"
    return Verdict(VerdictKind.FAILED_READ, text, StepState.FAULT, (RETRY,))


def of_damaged(subject: str, error: RefbrowserError) -> Verdict:
    """Return the verdict on values that a damaged source has lost: trying again is of no use."""
    return Verdict(VerdictKind.FAILED_READ, f"{subject} is lost: {error.message}", StepState.FAULT)


def of_decode_error(subject: str, error: RefbrowserError) -> Verdict:
    """Return the verdict on bytes that came and cannot be decoded."""
    text = f"{subject} was read and could not be decoded: {error.message}"
    return Verdict(VerdictKind.FAILED_DECODE, text, StepState.FAULT, (RETRY,))


def of_not_read(subject: str) -> Verdict:
    """Return the verdict where nothing was asked for."""
    return Verdict(VerdictKind.NOT_READ, f"{subject} can be read; pointing at it reads nothing")


def held_against_lock(access: Access, url: str, verdict: Verdict) -> tuple[Step | None, Verdict]:
    """Return what the lock of the document says of a file, and the verdict with that; nothing is read.

    Nothing where there is no lock.
    """
    locked = access.memory.locked
    spelled = storage_url(url)
    if locked is None:
        return None, verdict
    try:
        place = access.locate(spelled).url
    except RefbrowserError:
        return None, verdict
    entry, stale = locked.entry(spelled), locked.stale_at(place)
    facts: dict[str, Any] = {"url": spelled}
    if entry is None:
        line = Line("the file is not in the lock, so it cannot be verified", "Compared")
        return Step(name="lock", title=_LOCK, state=StepState.WARNING, lines=[line], facts=facts), verdict
    lines = [Line(f"{counted_plain(entry.size, 'byte')}{_marks_text(entry.etag, entry.modified)}", "Locked")]
    made = [each for each in (entry.at or locked.lock.at, entry.by or locked.lock.by) if each]
    lines += [Line(plain(", by ".join(made)), "Written")] if made else []
    if stale is None:
        same = locked.is_same(place)
        told = "the file matches the lock" if same else "not checked yet: nothing of the file was read"
        doubt = locked.doubt_at(place)
        if doubt is not None:
            told = f"not confirmed: its size and ends match the lock, but {doubt.difference}"
            lines.append(Line(plain(told), "Compared"))
            facts |= {"state": "not confirmed", "mark": str(doubt.mark), "then": doubt.then, "now": doubt.now}
            accept = Link(LinkKind.ACCEPT, "Accept the new state…", spelled)
            kind = StepState.WARNING
            step = Step(name="lock", title=_LOCK, state=kind, lines=lines, facts=facts, links=(accept,))
            return step, verdict
        if locked.is_same_by_bytes(place):
            told += ", by its first and last bytes alone: its ETag or time differs, or is not known"
        lines.append(Line(told, "Compared"))
        facts["state"] = "same" if same else "not compared"
        return Step(name="lock", title=_LOCK, lines=lines, facts=facts), verdict
    now = stale.seen
    size = "size not known" if now.total is None else counted_plain(now.total, "byte")
    moment = moment_of(now)
    lines.append(Line(f"{size}{_marks_text(now.etag, None if moment is None else text_of(moment))}", "Now"))
    lines.append(Line(stale.message, "Compared"))
    facts |= {"state": "stale", "mark": str(stale.mark), "then": stale.then, "now": stale.now}
    accept = Link(LinkKind.ACCEPT, "Accept the new state…", spelled)
    step = Step(name="lock", title=_LOCK, state=StepState.WARNING, lines=lines, facts=facts, links=(accept,))
    if verdict.state is StepState.FAULT:
        return step, Verdict(verdict.kind, verdict.text, verdict.state, (*verdict.links, accept))
    text = f"{verdict.text}; that may be wrong: {stale.message}"
    return step, Verdict(VerdictKind.STALE, text, StepState.WARNING, (*verdict.links, accept))


_LOCK = "Lock"


def _marks_text(etag: str | None, modified: str | None) -> str:
    marks = [f"ETag {plain(etag, 120)}"] if etag else []
    marks += [f"changed {plain(modified, 60)}"] if modified else []
    return "".join(f", {each}" for each in marks)


#: Names of metadata documents, in the order in which they are looked for below a node.
_METADATA = ("zarr.json", ".zarray", ".zgroup", ".zattrs")
_ORIGINS = {
    FindingOrigin.DOCUMENT: "the document itself",
    FindingOrigin.STRUCTURE: "groups and arrays, as their metadata give them",
    FindingOrigin.READING: "a chunk that was read",
    FindingOrigin.LOCK: "the lock beside the document",
    FindingOrigin.PERMISSION: "what the document wants to read",
    FindingOrigin.AUDIT: "an audit, which asked for files and read chunks",
}


def explain_finding(finding: ListedFinding) -> Explanation:
    """Return what a finding of a document says that could not be opened."""
    verdict = of_finding(finding)
    return Explanation(
        subject=plain(finding.where),
        verdict=verdict.text,
        kind=verdict.kind,
        state=verdict.state,
        steps=(finding_step(finding),),
        links=verdict.links,
    )


def finding_step(finding: ListedFinding) -> Step:
    """Return the step that tells what is wrong, and where."""
    place = finding.place
    lines = [Line(plain(finding.message), "Problem"), Line(plain(finding.where), "Where")]
    if finding.line is not None:
        column = f", column {place.column}" if place.column is not None else ""
        lines.append(Line(f"line {finding.line}{column} of the document", "Line"))
    if place.pointer:
        lines.append(Line(plain(place.pointer), "JSON pointer"))
    if place.url and place.url != finding.where:
        lines.append(Line(plain(place.url), "URL"))
    if finding.count > 1:
        lines.append(Line(f"{counted_plain(finding.count, 'place')} share it; this is the first", "Count"))
    lines.append(Line(_ORIGINS[finding.origin], "Found in"))
    lines += [Line(plain(finding.advice), "What to do")] if finding.advice else []
    return Step(
        name="problem",
        title="The problem",
        state=_state(finding),
        lines=lines,
        facts={"kind": str(finding.kind), "message": finding.message, "where": finding.where},
        links=_links(finding),
    )


def finding_key(dataset: Dataset, finding: ListedFinding) -> str | None:
    """Return the key in which a finding shows; None where it shows in none."""
    place, (kind, name) = finding.place, finding.spot
    if place.rule is not None and place.row is not None and place.rule < len(dataset.document.rules):
        rule = dataset.document.rules[place.rule]
        if 0 <= place.row < rule.count:
            key = rule.row(place.row).key
            return key if isinstance(key, str) else place.key
    if place.key is not None:
        return place.key
    if kind in ("array", "group"):
        return _metadata_key(dataset, str(name))
    return None


def of_finding(finding: ListedFinding) -> Verdict:
    """Return the verdict where no key tells more."""
    kind = VerdictKind.BLOCKED if finding.origin is FindingOrigin.PERMISSION else VerdictKind.FINDING
    text = plain(finding.message)
    return Verdict(kind, text[:1].upper() + text[1:], _state(finding), tuple(_links(finding)))


def _metadata_key(dataset: Dataset, path: str) -> str | None:
    prefix = f"{path.strip('/')}/" if path.strip("/") else ""
    for name in _METADATA:
        try:
            found: Any = dataset.document.expansion.reference(prefix + name)
        except RefbrowserError:
            return prefix + name
        if found is not None:
            return prefix + name
    return None


def _state(finding: ListedFinding) -> StepState:
    return StepState.FAULT if finding.is_fault else StepState.WARNING


def _links(finding: ListedFinding) -> list[Link]:
    kind, name = finding.spot
    if finding.origin is FindingOrigin.PERMISSION:
        return [PERMISSIONS]
    if finding.fix is not None and finding.fix.remedy is Remedy.ACCEPT:
        return [Link(LinkKind.ACCEPT, finding.fix.title, finding.fix.text)]
    if kind == "rule":
        return [Link(LinkKind.RULE, f"Edit gen rule {name}", name)]
    if kind == "template":
        return [Link(LinkKind.TEMPLATE, f"Edit template {plain(name, 40)}", name)]
    if kind == "array":
        return [Link(LinkKind.ATTRIBUTES, "Show the metadata", name)]
    return []
