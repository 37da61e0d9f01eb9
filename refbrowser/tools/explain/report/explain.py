"""Explaining one element or one key: from the question, step by step, to a verdict.

At most the one chunk is read, with the permission that there is; without it nothing is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import sub
from typing import TYPE_CHECKING, Any

import numpy as np

from refbrowser.codecs.pipeline import CodecPipeline
from refbrowser.codecs.sharding import filled
from refbrowser.engine.dataset import damage_of
from refbrowser.errors import ErrorKind, Place, RefbrowserError, quoted
from refbrowser.findings.finding import Finding
from refbrowser.formats.option_fields import option
from refbrowser.formats.zarr.keys import ChunkKey, KeyClassifier, MetadataKey, StrayKey
from refbrowser.io.cancel import CancelToken
from refbrowser.limits import LIMITS
from refbrowser.model.nodes import ArrayNode, Hierarchy
from refbrowser.model.reference import ByteRange, Inline, Reference, WholeFile, columns_of
from refbrowser.model.selection import SelectionError
from refbrowser.tools.explain.report import verdicts
from refbrowser.tools.explain.report.assembled_elements import (
    assembly_of,
    buffers_step,
    element_at,
    place_of,
    rows_of,
)
from refbrowser.tools.explain.report.chunk import Opened, bytes_step, open_chunk
from refbrowser.tools.explain.report.entry import entry_step, find_occurrences, missing_step
from refbrowser.tools.explain.report.explanation import (
    Explanation,
    Line,
    Link,
    LinkKind,
    Step,
    StepState,
    VerdictKind,
    exact_text,
    plain,
)
from refbrowser.tools.explain.report.meaning import Meaning, contents_step, document_step, meaning_of
from refbrowser.tools.explain.report.source import Source
from refbrowser.tools.explain.report.verdicts import (
    Verdict,
    find_place,
    finding_key,
    finding_step,
    of_finding,
)
from refbrowser.views.plot.resolution import named_node
from refbrowser.views.plot.slicing import dimension_names
from refbrowser.words import counted_plain

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.findings.listed_finding import ListedFinding


def index_of(text: str) -> tuple[int, ...]:
    """Return the integers of ``0,12,-1``; none of empty text.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: it is something else.
    """
    try:
        return tuple(int(part) for part in text.split(",")) if text.strip() else ()
    except ValueError:
        raise RefbrowserError(ErrorKind.USAGE, f"{quoted(text)} is not integers and commas") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An element of an array, a key, or a finding.

    Attributes
    ----------
    key
        None where an element is asked about.
    array, index
        Path of the array, and the element's index along each dimension.
    places
        What each index stands for (a date, a latitude), where that is known; empty texts else.
    decoded
        Whether the view shows values under the CF conventions.
    read
        Whether the chunk may be read; else only what is known without it is told.
    seen
        The stored element as a view has it already, a numpy scalar.
    pending
        What an edit that is not applied would make of the key; empty where there is none.
    finding
        Asked about in the place of an element or a key.
    """

    key: str | None = None
    array: str = field(
        default="", metadata=option("--array ARRAY", "path of the array whose element is explained")
    )
    index: tuple[int, ...] = field(
        default=(),
        metadata=option("--index INDEX", "of the element, for example 0,12,-1", parse=index_of),
    )
    places: tuple[str, ...] = ()
    decoded: bool = True
    read: bool = True
    seen: Any = None
    pending: str = ""
    finding: ListedFinding | None = None

    def __str__(self) -> str:
        if self.finding is not None:
            return self.finding.where
        if self.key is not None:
            return self.key
        return f"{self.array} [{', '.join(map(str, self.index))}]"

    def node(self, hierarchy: Hierarchy) -> ArrayNode:
        """Return the array of the element that is asked about.

        Raises
        ------
        RefbrowserError
            `USAGE`: there is no such array, or no such element in it (then an `IndexError`, too).
        """
        node = hierarchy.find(self.array)
        if not isinstance(node, ArrayNode):
            raise RefbrowserError(ErrorKind.USAGE, f"there is no array {quoted(self.array)}")
        if node.error is None:
            inside = all(0 <= at < size for at, size in zip(self.index, node.shape, strict=False))
            if len(self.index) != len(node.shape) or not inside:
                shape = " × ".join(map(str, node.shape)) or "no dimensions"
                message = f"there is no element {list(self.index)}: the shape is {shape}"
                raise SelectionError(ErrorKind.USAGE, message, Place(path=node.path))
        return node


#: Places of a damaged source that are told.
_DAMAGE_TOLD = 5


def explain(dataset: Dataset, question: Question, token: CancelToken | None = None) -> Explanation:
    """Return why an element, or a key, of a dataset shows as it does, or what a finding of it is about.

    Raises
    ------
    RefbrowserError
        `USAGE`: there is no such array or element.
    """
    return _Explaining(dataset, question, token or CancelToken()).explained()


class _Explaining:
    """One explanation being made: steps are added until there is a verdict."""

    def __init__(self, dataset: Dataset, question: Question, token: CancelToken) -> None:
        self.dataset = dataset
        self.question = question
        self._asked = plain(question)
        self.token = token
        self.steps: list[Step] = []
        self.node: ArrayNode | None = None
        self.coords: tuple[int, ...] = ()
        self.inside: tuple[int, ...] | None = None
        self.key = question.key or ""
        #: Of its reference, where that has one.
        self.url = ""

    def explained(self) -> Explanation:
        """Return the explanation."""
        verdict = self._held_against_lock(self._verdict())
        if self.node is not None and (damage := damage_of(self.dataset, (self.node.path,))):
            self.steps.append(_damage_step(damage))
        return Explanation(
            subject=self._asked,
            verdict=verdict.text,
            kind=verdict.kind,
            state=verdict.state,
            steps=tuple(self.steps),
            links=verdict.links + self._key_links(),
        )

    def _held_against_lock(self, verdict: Verdict) -> Verdict:
        """Add what the lock says of the file, behind where the bytes are, and return the verdict with it."""
        if not self.url:
            return verdict
        step, verdict = verdicts.held_against_lock(self.dataset.access, self.url, verdict)
        if step is not None:
            told = [at for at, each in enumerate(self.steps) if each.name in ("place", "answer")]
            self.steps.insert(told[-1] + 1 if told else len(self.steps), step)
        return verdict

    def _key_links(self) -> tuple[Link, ...]:
        # What is assembled from messages has no key of its own.
        node = self.node
        is_made = node is not None and node.is_made
        return (Link(LinkKind.KEY, "Go to the key", self.key),) if self.key and not is_made else ()

    # What is asked about

    def _verdict(self) -> Verdict:
        question = self.question
        if question.finding is not None:
            return self._of_finding(question.finding)
        if question.key is None:
            return self._of_element()
        if question.pending:
            self.steps.append(_pending_step(question.pending))
        return self._of_key(question.key)

    def _of_finding(self, finding: ListedFinding) -> Verdict:
        """Explain the key in which a finding shows; the finding itself where there is none."""
        self.steps.append(finding_step(finding))
        key = finding_key(self.dataset, finding)
        if key is None:
            return of_finding(finding)
        self.key = key
        self.question = replace(self.question, key=key)
        verdict = self._of_key(key)
        # A warning may be about a key that reads well: then the warning is the answer.
        return of_finding(finding) if verdict.state is StepState.OK else verdict

    def _of_element(self) -> Verdict:
        node = self.question.node(self.dataset.hierarchy)
        self.node = node
        if node.error is not None or not node.has_manifest:
            return self._unreadable(node)
        index = self.question.index
        self.coords = node.grid.chunk_of(index)
        self.inside = tuple(map(sub, index, node.grid.origin(self.coords)))
        self.key = node.manifest.key(self.coords)
        self.steps += [self._element_step(node), self._chunk_step(node)]
        return self._of_chunk(node)

    def _of_key(self, key: str) -> Verdict:
        role = KeyClassifier(self.dataset.hierarchy).classify(key)
        if isinstance(role, ChunkKey):
            self.node, self.coords = role.node, role.coords
            self.steps.append(self._chunk_step(role.node))
            return self._of_chunk(role.node)
        self.steps.append(_role_step(key, role))
        return self._of_document(key, role)

    def _element_step(self, node: ArrayNode) -> Step:
        names = dimension_names(named_node(self.dataset.hierarchy, node))
        places = self.question.places or ("",) * len(names)
        lines = [Line(plain(node.path), "Array")]
        for name, at, place, size in zip(names, self.question.index, places, node.shape, strict=True):
            stands = f" ({plain(place, 80)})" if place else ""
            lines.append(Line(f"{at} of {size}{stands}", plain(name, 60)))
        facts = {"array": node.path, "index": list(self.question.index)}
        return Step(name="element", title="The element", lines=lines, facts=facts)

    def _chunk_step(self, node: ArrayNode) -> Step:
        key = node.manifest.key(self.coords) if node.has_manifest else self.key
        self.key = key
        grid = " × ".join(map(str, node.grid.grid_shape)) or "one chunk"
        shape = " × ".join(map(str, node.grid.stored_shape(self.coords))) or "one element"
        lines = [
            Line(plain(key), "Key"),
            Line(f"{list(self.coords)} in a grid of {grid}", "Chunk"),
            Line(shape, "Chunk shape"),
        ]
        if self.inside is not None:
            lines.append(Line(f"{list(self.inside)}", "Element in it"))
        facts = {"key": key, "array": node.path, "chunk": list(self.coords)}
        if self.inside is not None:
            facts["inside"] = list(self.inside)
        return Step(name="key", title="The chunk", lines=lines, facts=facts)

    @property
    def _subject(self) -> str:
        """What the verdict is about, at the beginning of a sentence."""
        if self.question.key is None:
            return "This element"
        return f"Chunk {plain(self.key)}" if self.node is not None else f"Key {plain(self.key)}"

    def _unreadable(self, node: ArrayNode) -> Verdict:
        error = node.error or node.unreadable
        assert error is not None
        lines = [Line(error.message)] + ([Line(plain(error.advice), "What to do")] if error.advice else [])
        self.steps.append(
            Step(
                name="array",
                title="The array",
                state=StepState.FAULT,
                lines=lines,
                facts={"array": node.path, "error": error.message},
                links=[Link(LinkKind.ATTRIBUTES, "Show the metadata", node.path)],
            )
        )
        return verdicts.of_unreadable(node.path, error)

    # Its reference

    def _entry(self) -> tuple[Reference | None, Verdict | None]:
        """Add the step of the entry; return what it refers to, or why that ends the explanation."""
        entries = find_occurrences(self.dataset.document, self.key, lambda: self.token.cancelled)
        self.token.check()
        if entries.counting is None:
            self.steps.append(missing_step(self.dataset.document, entries))
            if entries.is_open:
                return None, verdicts.of_undecided(self._subject.lower(), entries.undecided[0][0])
            if entries.lost is not None:
                return None, verdicts.of_lost(self._subject, entries.lost, self.steps[-1].links)
            return None, None
        self.steps.append(entry_step(self.dataset.document, self.key, entries))
        found = entries.counting.found
        if isinstance(found, ByteRange | WholeFile):
            self.url = found.url
        if isinstance(found, RefbrowserError):
            links = tuple(self.steps[-1].links[:1])
            verdict = verdicts.of_faulty(self._subject, found)
            return None, Verdict(verdict.kind, verdict.text, verdict.state, links)
        return found, None

    def _may_read(self, reference: Reference) -> Verdict | None:
        """Add the step of the place; return why nothing is read."""
        if isinstance(reference, ByteRange | WholeFile):
            place = find_place(self.dataset.access, reference)
            self.steps.append(place.step)
            if place.error is not None:
                return verdicts.of_read_error(self._subject, place.error)
            if not place.allowed:
                return verdicts.of_blocked(self._subject, str(place.origin))
            if not self.question.read:
                return verdicts.of_not_read(self._subject)
        return None

    # A chunk

    def _of_chunk(self, node: ArrayNode) -> Verdict:
        if node.assembled is not None:
            return self._of_assembled(node)
        if node.nested is not None:
            return self._of_rows(node)
        reference, verdict = self._entry()
        if verdict is not None:
            return verdict
        if reference is None:
            return self._missing(node, f"chunk {plain(self.key)}")
        verdict = self._may_read(reference)
        if verdict is not None:
            if verdict.kind is VerdictKind.NOT_READ and self.question.seen is not None:
                return self._valued(node, self.question.seen)
            return verdict
        try:
            pipeline = CodecPipeline.for_array(node, node.grid.stored_shape(self.coords))
        except RefbrowserError as error:
            self.steps.append(
                Step(name="codec", title="The codecs", state=StepState.FAULT, lines=[Line(error.message)])
            )
            return verdicts.of_unreadable(node.path, error)
        source = Source(self.dataset.session, self.dataset.access, self.key, self.token)
        opened = open_chunk(node, pipeline, reference, self.inside, source)
        self.steps += opened.steps
        return self._of_opened(node, opened, reference)

    def _of_assembled(self, node: ArrayNode) -> Verdict:
        """Explain what is assembled from any number of ranges."""
        assembly = assembly_of(node, self.coords, self.inside)
        self.steps.append(assembly.step)
        if not assembly.pieces:
            is_whole = self.inside is None
            return self._missing(node, f"tile {plain(self.key)}" if is_whole else "a message with it")
        if assembly.error is not None:
            subject = self._subject if self.inside is not None else f"Some of {plain(self.key)}"
            return verdicts.of_damaged(subject, assembly.error)
        place = place_of(self.dataset, assembly)
        if place is not None:
            self.steps.append(place.step)
            if place.error is not None:
                return verdicts.of_read_error(self._subject, place.error)
            if not place.allowed:
                return verdicts.of_blocked(self._subject, str(place.origin))
        if self.inside is None:
            text = f"{self._subject} is assembled from {counted_plain(len(assembly.seen), 'piece')}"
            return Verdict(VerdictKind.READABLE, text)
        return self._element(node)

    def _of_rows(self, node: ArrayNode) -> Verdict:
        """Explain rows of nested values."""
        start, stop = rows_of(node, self.coords, self.inside)
        self.steps.append(buffers_step(node, start, stop))
        if self.inside is None:
            text = f"{self._subject} is made from buffers: rows {start} to {stop}"
            return Verdict(VerdictKind.READABLE, text)
        return self._element(node)

    def _element(self, node: ArrayNode) -> Verdict:
        """Return the verdict on one element that is made from any number of ranges."""
        if not self.question.read:
            seen = self.question.seen
            return verdicts.of_not_read(self._subject) if seen is None else self._valued(node, seen)
        try:
            element = element_at(self.dataset, node, self.question.index, self.token)
        except RefbrowserError as error:
            return verdicts.of_decode_error(self._subject, error)
        return self._valued(node, element)

    def _of_opened(self, node: ArrayNode, opened: Opened, reference: Reference) -> Verdict:
        if self.dataset.access.is_missing(opened.read_error) and isinstance(reference, WholeFile):
            return self._missing(node, f"chunk {plain(self.key)}")
        if opened.read_error is not None:
            return verdicts.of_read_error(self._subject, opened.read_error)
        if opened.decode_error is not None:
            return verdicts.of_decode_error(self._subject, opened.decode_error)
        if opened.missing_inner is not None:
            what = f"inner chunk {list(opened.missing_inner)} of shard {plain(self.key)}"
            return self._missing(node, what)
        if self.inside is not None:
            return self._valued(node, opened.element)
        if opened.values is None:
            return Verdict(VerdictKind.READABLE, f"{self._subject} can be read")
        step = contents_step(node, self.coords, opened.values)
        self.steps.append(step)
        return _readable(self._subject, step)

    def _valued(self, node: ArrayNode, element: object) -> Verdict:
        meaning = meaning_of(node, element)
        self.steps.append(meaning.step)
        return verdicts.of_value(meaning, self.question.decoded)

    def _missing(self, node: ArrayNode, what: str) -> Verdict:
        """Return the verdict on a chunk that is missing: what is shown instead."""
        if node.dtype is None:
            return Verdict(VerdictKind.MISSING, f"{_capital(what)} is missing", StepState.WARNING)
        element = filled((), node.dtype, node.fill_value)[()]
        meaning = meaning_of(node, element)
        self.steps += [_fill_step(node, meaning), meaning.step]
        if self.inside is not None:
            return verdicts.of_missing(what, meaning, node.fill_value is not None, self.question.decoded)
        means = f"{meaning.shown}" if meaning.kind is VerdictKind.VALUE else "which means no data"
        shown = "" if means == meaning.stored else f", {means}"
        fill = "its fill value " if node.fill_value is not None else ""
        text = f"{_capital(what)} is missing: every element of it reads as {fill}{meaning.stored}{shown}"
        return Verdict(VerdictKind.MISSING, text, StepState.WARNING)

    # Keys that are no chunks

    def _of_document(self, key: str, role: MetadataKey | StrayKey) -> Verdict:
        reference, verdict = self._entry()
        if verdict is not None:
            return verdict
        if reference is None:
            stray = isinstance(role, StrayKey) and role.node is not None
            why = f": {_stray_reason(key, role)}" if isinstance(role, StrayKey) and stray else ""
            text = f"There is no key {plain(key)}{why}"
            return Verdict(VerdictKind.NO_KEY, text, StepState.FAULT)
        verdict = self._may_read(reference)
        if verdict is not None:
            return verdict
        if isinstance(role, StrayKey) and not isinstance(reference, Inline):
            # Its size may be anything, and nothing is decoded: where it points to says enough.
            return _stray(key, role)
        source = Source(self.dataset.session, self.dataset.access, key, self.token)
        # Metadata of more bytes was not read when the document was opened either.
        (data,) = source.fetch(columns_of([reference]), LIMITS.inline_value)
        step = source.step()
        self.steps += [] if step is None else [step]
        if isinstance(data, RefbrowserError):
            return verdicts.of_read_error(self._subject, data)
        inline = isinstance(reference, Inline)
        self.steps.append(bytes_step(data, "in the document itself" if inline else ""))
        if isinstance(role, StrayKey):
            return _stray(key, role)
        self.steps.append(document_step(data))
        return self._of_metadata(key, role)

    def _of_metadata(self, key: str, role: MetadataKey) -> Verdict:
        node = self.dataset.hierarchy.find(role.path)
        kind = "array" if isinstance(node, ArrayNode) else "group"
        if self.steps[-1].state is StepState.FAULT:
            text = f"{plain(key)} is metadata of the {kind} {plain(role.path)}, and it is not JSON"
            return Verdict(VerdictKind.METADATA, text, StepState.FAULT)
        if node is not None and node.error is not None:
            text = f"{plain(key)} is metadata of the {kind} {plain(role.path)}, which cannot be used: "
            return Verdict(VerdictKind.METADATA, text + node.error.message, StepState.FAULT)
        if node is None:
            text = f"{plain(key)} is metadata, and nothing is found at {plain(role.path)}"
            return Verdict(VerdictKind.METADATA, text, StepState.WARNING)
        text = f"{plain(key)} is metadata of the {kind} {plain(role.path)}, not a chunk"
        return Verdict(VerdictKind.METADATA, text)


def _damage_step(damage: Sequence[Finding]) -> Step:
    """Return the step that tells what of the source is damaged, and may concern the array."""
    lines = [Line(plain(str(found.error()), 400), "Damaged") for found in damage[:_DAMAGE_TOLD]]
    if len(damage) > _DAMAGE_TOLD:
        lines.append(Line(f"and {counted_plain(len(damage) - _DAMAGE_TOLD, 'more place')}", "Not listed"))
    lines.append(Line("values from before the damage may have been replaced in it", "Note"))
    return Step(
        name="damage",
        title="The source is damaged",
        state=StepState.WARNING,
        lines=lines,
        facts={"damage": [found.message for found in damage[:_DAMAGE_TOLD]]},
    )


def _pending_step(pending: str) -> Step:
    lines = [
        Line(plain(pending), "Would be"),
        Line("it is not applied yet: the steps below describe the document as it is now", "Note"),
    ]
    return Step(
        name="pending",
        title="The current edit",
        state=StepState.WARNING,
        lines=lines,
        facts={"pending": pending},
    )


def _role_step(key: str, role: MetadataKey | StrayKey) -> Step:
    if isinstance(role, MetadataKey):
        lines = [Line(plain(key), "Key"), Line(f"metadata of {plain(role.path)}", "Role")]
        return Step(name="key", title="The key", lines=lines, facts={"key": key, "role": "metadata"})
    lines = [Line(plain(key), "Key"), Line(_stray_reason(key, role), "Role")]
    return Step(
        name="key", title="The key", state=StepState.WARNING, lines=lines, facts={"key": key, "role": "stray"}
    )


def _stray_reason(key: str, role: StrayKey) -> str:
    node = role.node
    if node is None:
        return "it belongs to no array"
    if not node.has_grid:
        return f"the array {plain(node.path)} has no chunks"
    coords = node.chunk_keys.decode(key.removeprefix(node.key_prefix), node.grid.ndim)
    grid = " × ".join(map(str, node.grid.grid_shape)) or "1"
    if coords is not None:
        return f"chunk {list(coords)} is outside the grid of {plain(node.path)}, which is {grid} chunks"
    example = node.chunk_keys.encode((0,) * node.grid.ndim)
    return f"it is not a chunk key of {plain(node.path)}, whose keys look like {plain(example)}"


def _stray(key: str, role: StrayKey) -> Verdict:
    text = f"{plain(key)} is never read: {_stray_reason(key, role)}"
    return Verdict(VerdictKind.STRAY, text, StepState.WARNING)


def _fill_step(node: ArrayNode, meaning: Meaning) -> Step:
    if node.fill_value is None:
        zero = exact_text(_zero(node))
        text = f"the metadata gives no fill value: the elements are undefined, and {zero} is read"
    else:
        text = f"the fill_value of the array, {meaning.stored}"
    return Step(
        name="fill",
        title="What replaces the chunk",
        state=StepState.WARNING,
        lines=[Line(text, "Reads as")],
        facts={"fill_value": None if node.fill_value is None else exact_text(node.fill_value)},
    )


def _zero(node: ArrayNode) -> object:
    return filled((), node.dtype or np.dtype("u1"), None)[()]


def _readable(subject: str, step: Step) -> Verdict:
    elements, empty = step.facts["elements"], step.facts.get("without_value", 0)
    if elements and empty == elements:
        text = (
            f"{subject} can be read, and holds no value: all {counted_plain(elements, 'element')} are "
            "marked as missing"
        )
        return Verdict(VerdictKind.READABLE, text, StepState.WARNING)
    without = f", {empty} of them without a value" if empty else ""
    return Verdict(
        VerdictKind.READABLE, f"{subject} can be read: {counted_plain(elements, 'element')}{without}"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
