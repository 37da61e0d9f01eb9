"""Where an expectation comes from: words, a file, the file beside the document, or another document."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from refbrowser.engine.expectations.chunk_holding import ExpectedChunks, hold_chunks
from refbrowser.engine.expectations.expect_beside import expect_beside, read_expect
from refbrowser.engine.expectations.file_holding import hold_listing, hold_references
from refbrowser.engine.expectations.holding import Held, hold_axes
from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.findings.finding import Finding
from refbrowser.findings.kinds import EXPECTATION_INVALID
from refbrowser.io.cancel import CancelToken
from refbrowser.io.origins import local_path, scheme_of
from refbrowser.references.document.document import ReferenceDocument
from refbrowser.references.expectations.expectation import Expectation
from refbrowser.references.text.json_text import JsonError, read_value

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.engine.jobs import JobControl

#: A state of the same repository that is held against.
_STATE = re.compile(r"(?P<kind>branch|tag|snapshot)=(?P<name>[^\s:=]+)")


@dataclass(frozen=True, slots=True)
class ExpectationSources:
    """An expectation as it was asked for, before anything else is opened.

    Attributes
    ----------
    expectation
        What words and files say.
    others
        Paths of documents of which each chunk is expected, and how they are opened.
    fault
        Why the file beside the document cannot be used.
    """

    expectation: Expectation = field(default_factory=Expectation)
    others: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    fault: Finding | None = None

    def __bool__(self) -> bool:
        return bool(self.expectation or self.others or self.fault)


def expectation_sources(
    dataset: Dataset, texts: Sequence[str], late: str = "", *, asks: bool = True
) -> ExpectationSources:
    """Return what should be in a dataset.

    Parameters
    ----------
    texts
        Words, JSON, files, paths of other documents, ``branch=NAME``; what stands beside the document where
        there are none.
    late
        Another time that all may be late; empty for what it says itself.
    asks
        Whether a server is asked for the file beside a document that lies there.

    Raises
    ------
    RefbrowserError
        `E_USAGE`: words that say nothing; a file cannot be read or is none.
    """
    expectation, others = Expectation(), list[tuple[str, tuple[tuple[str, str], ...]]]()
    if not texts and (asks or scheme_of(dataset.path) is None):
        try:
            expectation = _beside(dataset)
        except RefbrowserError as error:
            message = f"what is said beside the document is not used: {error.message}"
            fault = EXPECTATION_INVALID.finding(message, error.place, error=error.kind)
            return ExpectationSources(fault=fault)
    for text in texts:
        state = _STATE.fullmatch(text.strip())
        if state is not None:
            others.append((dataset.path, ((state["kind"], state["name"]),)))
        elif text.lstrip().startswith("{"):
            expectation = _joined(expectation, _of_json(text))
        elif _is_path(text):
            said = _of_file(text)
            if said is None:
                others.append((text, ()))
            else:
                expectation = _joined(expectation, said)
        else:
            expectation = _joined(expectation, Expectation.parse([text]))
    if late:
        expectation = expectation.with_late(late)
    return ExpectationSources(expectation, tuple(others))


def _joined(one: Expectation, other: Expectation) -> Expectation:
    """Return both; of two that have rules those of the other one."""
    return Expectation((*one.axes, *other.axes), other.rules or one.rules)


def _of_json(text: str) -> Expectation:
    """Return what the member ``expect`` of a file says that is given by itself."""
    try:
        said, _ = read_value(text.encode())
    except JsonError as error:
        raise RefbrowserError(error.kind, f"byte {error.position}: {error.message}") from None
    if not isinstance(said, dict):
        raise RefbrowserError(ErrorKind.SCHEMA, "what is expected is not a JSON object")
    return Expectation.from_json(said)


def _is_path(text: str) -> bool:
    return scheme_of(text) is not None or text.endswith(".json") or os.path.exists(text)


def _of_file(text: str) -> Expectation | None:
    """Return what a file says that lies beside a document; None where it is no such file."""
    path = local_path(text)
    if path is None or not path.endswith(".json"):
        return None
    try:
        said = read_expect(path)[0].expect
    except RefbrowserError:
        # What it is then is told by opening it.
        return None
    return None if said is None else Expectation.from_json(said)


def _beside(dataset: Dataset) -> Expectation:
    fetcher = dataset.session.fetcher
    file = expect_beside(dataset.path, dataset.access, lambda: fetcher, CancelToken())
    return Expectation() if file is None or file.expect is None else Expectation.from_json(file.expect)


def expectation_findings(
    dataset: Dataset, sources: ExpectationSources, held: Held, control: JobControl, now: datetime, *,
    lists: bool,
) -> Iterator[Finding]:  # fmt: skip
    """Hold a dataset against what should be in it; yield what differs.

    Parameters
    ----------
    lists
        Whether the places of files are listed, too: else nothing but the coordinates of times is read.
    """
    if sources.fault is not None:
        yield sources.fault
    expectation = sources.expectation
    control.stage("comparing with what is expected")
    yield from hold_axes(dataset, expectation, held, control, now)
    for axis in expectation.axes:
        if axis.files:
            yield from hold_references(dataset.document, axis, held, control, now)
            if lists:
                yield from hold_listing(_base(dataset.path), dataset.access, axis, held, control, now)
    if expectation.rules is not None:
        text = json.dumps(expectation.rules).encode()
        document = ReferenceDocument.read([text], name="what is expected")
        yield from hold_chunks(dataset, ExpectedChunks(document), held, control)
    for path, options in sources.others:
        with _opened(path, dict(options), control) as other:
            yield from hold_chunks(dataset, other, held, control)


def _base(path: str) -> str:
    """Return the folder of a document, with a ``/`` at its end; empty for the current one."""
    head, slash, _ = path.partition("?")[0].rstrip("/").rpartition("/")
    return head + slash


@contextmanager
def _opened(path: str, options: dict[str, str], control: JobControl) -> Iterator[ExpectedChunks]:
    from refbrowser.engine.opening import OpenRequest, open_dataset

    try:
        with open_dataset(OpenRequest(path, options=options), control) as dataset:
            is_described = any(node.path != "/" for node in dataset.hierarchy.walk())
            yield ExpectedChunks(dataset.document, dataset.hierarchy if is_described else None)
    except RefbrowserError as error:
        raise error.at(Place(document=path)) if not error.place.document else error from None
