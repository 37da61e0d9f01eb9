"""Opening an NcML as the dataset that it puts together, where that takes neither a permission nor long."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import dataset_of
from refbrowser.engine.session import Session
from refbrowser.errors import ErrorKind, Place, RefbrowserError, Severity, quoted
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import gather, plan_of
from refbrowser.exporting.combining.combined import combined_document
from refbrowser.exporting.combining.combined_proof import CombinedProof
from refbrowser.exporting.combining.led_sources import with_lead
from refbrowser.exporting.combining.plan import Plan, blocked
from refbrowser.findings.finding import Finding
from refbrowser.formats.format import Opened, Opening
from refbrowser.formats.lead import Lead, is_led
from refbrowser.formats.leads.leading import advice_of, lead_named
from refbrowser.formats.named_bytes import named_bytes
from refbrowser.formats.sniffing import (
    HEAD,
    FileKind,
    NotReferencesError,
    NotThisError,
    file_kind,
    found_in_file,
)
from refbrowser.io.cancel import CancelToken
from refbrowser.io.fetching.name_patterns import is_pattern
from refbrowser.io.origins import local_path
from refbrowser.limits import LIMITS
from refbrowser.references.content.origins import Fact, FileOrigin
from refbrowser.references.document.manifest import ManifestDocument

_FORMAT = "ncml"


@dataclass(frozen=True)
class NcmlOrigin(FileOrigin):
    """The NcML that a document was made from (`DocumentOrigin`).

    Attributes
    ----------
    place
        What the URLs of the files that it puts together begin with.
    files
        How many these are.
    """

    place: str = ""
    files: int = 0

    def holds(self, path: str) -> bool:
        """Return whether a path is that of the folder of the files: these are part of what was opened."""
        return path == self.place

    def told(self) -> Sequence[Fact]:
        """Return how many files it puts together."""
        return (Fact("Files", self.files),)


def open_named_ncml(opening: Opening) -> Opened:
    """Open the NcML at a path or URL as the dataset that it puts together, compared with some of its files.

    Raises
    ------
    RefbrowserError
        `NotReferencesError`: it is not opened by itself, with what it names: a permission is needed, there
        are many files, or they do not fit together. `NotThisError`: it is no NcML. Else it cannot be read.
    """
    with named_bytes(opening) as named:
        head = bytes(named.source.read(0, HEAD))
        url, access, identity = named.url, named.access, named.identity
    if file_kind(head) is not FileKind.NCML or not is_led([opening.path]):
        raise NotThisError(ErrorKind.FORMAT, f"{quoted(opening.path)} is no NcML")
    try:
        lead = lead_named(opening, FileKind.NCML)
    except RefbrowserError as why:
        # What is said of files that name others tells it.
        raise NotThisError.of(why) from why
    if lead is None or not lead.sources:
        raise NotThisError(ErrorKind.FORMAT, f"{quoted(opening.path)} names no files")
    try:
        for each in lead.sources:
            # Not before that is permitted folders are looked through.
            access.check(access.locate(each.url))
            _check_scan(each.url, opening.token)
        made, plan, unsaid = _made(opening)
    except RefbrowserError as why:
        raise _left(opening.path, head, lead, why) from why
    origin = NcmlOrigin(url, _FORMAT, made.place, len(plan.files))
    document = replace(made, origin=origin, notes=(*made.notes, *_notes(plan, unsaid, opening.path)))
    proof = CombinedProof(plan)
    with Session() as session:
        combined = dataset_of(opening.path, document, access, session, JobControl(opening.token))
        proof.check(combined, proof.some(), opening.token)
    return Opened(document, access, identity)


def _check_scan(url: str, token: CancelToken) -> None:
    """Raise where folders are to be looked through that are large, linked or not of this machine."""
    path = local_path(url)
    if not is_pattern(url) or (path is not None and os.path.exists(path)):
        return
    if path is None:
        raise RefbrowserError(ErrorKind.BUDGET, "it has folders of a server looked through")
    folder = os.path.dirname(path)
    if os.path.basename(folder) == "**":
        folder = os.path.dirname(folder)
    if is_pattern(folder):
        # Each level of such a name has the folders of all levels above it.
        raise RefbrowserError(ErrorKind.BUDGET, "it has folders looked through that a pattern names")
    is_deep, left = "**" in path, LIMITS.lead_scanned
    for above, folders, names in os.walk(folder):
        token.check()
        left -= len(folders) + len(names)
        if left < 0:
            message = f"its folders have more than {LIMITS.lead_scanned} entries (lead_scanned)"
            raise RefbrowserError(ErrorKind.BUDGET, message)
        if not is_deep:
            return
        # A pattern follows them.
        if any(os.path.islink(os.path.join(above, each)) for each in folders):
            raise RefbrowserError(ErrorKind.BUDGET, "a link to a folder is among what it has looked through")


def _made(opening: Opening) -> tuple[ManifestDocument, Plan, tuple[str, ...]]:
    """Return the document of all files, its plan, and what the NcML says and is not followed."""
    control = JobControl(opening.token, lambda said: opening.progress(**{"done": 0, **said}))
    asked = Combination(
        sources=(opening.path,), target="", allow=tuple(map(str, opening.allow)), settings=opening.settings
    )
    request, unsaid = with_lead(asked, control)
    if any(is_led([each]) for each in request.sources):
        raise RefbrowserError(ErrorKind.FORMAT, "it names other NcML")
    if len(request.sources) > LIMITS.lead_opened:
        message = f"it names {len(request.sources)} files, more than {LIMITS.lead_opened} (lead_opened)"
        raise RefbrowserError(ErrorKind.BUDGET, message)
    plan = plan_of(gather(request, control), request)
    if plan.blocking:
        raise blocked(plan)
    proof = CombinedProof(plan)
    made = combined_document(
        plan,
        JobControl(opening.token),
        name=opening.path,
        opening=lambda source: replace(proof.opening(source), allow=request.allow),
    )
    for file in plan.files:
        file.chunks.forget()
    return made, plan, unsaid


def _left(path: str, head: bytes, lead: Lead, why: RefbrowserError) -> NotReferencesError:
    """Return the error of an NcML that is not opened by itself, with what it names."""
    advice = ". ".join(filter(None, (why.advice, advice_of(FileKind.NCML, lead, path))))
    message = f"the NcML is not opened by itself: {why.message}"
    error = RefbrowserError(why.kind, message, Place(document=path), advice)
    return NotReferencesError(error, replace(found_in_file(head), lead=replace(lead, why=why.message)))


def _notes(plan: Plan, unsaid: Sequence[str], path: str) -> Iterator[Finding]:
    """Yield what is told of the files, and what the NcML says and is not followed."""
    lost = dict.fromkeys(loss for file in plan.files for loss in file.losses)
    told = (*(f"not followed: {each}" for each in unsaid), *(each.message for each in plan.mismatches), *lost)
    for message in told:
        yield Finding(
            severity=Severity.WARNING, kind=ErrorKind.META, message=message, place=Place(document=path)
        )
