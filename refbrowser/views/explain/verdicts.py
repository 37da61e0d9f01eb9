"""The sentences that explanations come to: plain words first, for a person who asks why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.views.explain.explanation import Link, LinkKind, StepState, VerdictKind
from refbrowser.views.explain.meaning import Meaning
from refbrowser.views.explain.place import PERMISSIONS
from refbrowser.views.explain.texts import plain

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
    stands = f"{fill} stands for no data" if has_fill else f"{fill}, which stands for no data"
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
