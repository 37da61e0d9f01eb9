"""The step that tells where the bytes lie, and whether they may be read from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refbrowser.errors import RefbrowserError
from refbrowser.io.access import Access, Location
from refbrowser.io.origins import Origin, is_below
from refbrowser.model.reference import ByteRange, WholeFile
from refbrowser.views.explain.explanation import Line, Link, LinkKind, Step, StepState
from refbrowser.views.explain.texts import bytes_text, plain

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
    return f"{bytes_text(reference.length)}, from {reference.offset} up to {stop}"


def _permission_text(access: Access, location: Location, allowed: bool) -> str:
    origin = location.origin
    if not allowed:
        return f"needed: this document may not read from {plain(origin)} yet"
    if origin.scheme == "file" and not access.from_network and is_below(origin.folder, access.base):
        return "given: the file is below the folder of the document"
    return f"given: this document may read from {plain(origin)}"
