"""References of many files: what files are, which documents an order makes, and making them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from refbrowser.engine.compute import HERE
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.making.made_references import (
    Made,
    MakeReport,
    MakeRequest,
    make,
    sources_of,
    tasks_of,
)
from refbrowser.exporting.option_fields import chosen_options
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.registry import form_named, title_of
from refbrowser.io.origins import ConnectionSettings, Origin, local_path
from refbrowser.views.compute_places import ComputeChoice
from refbrowser.views.hierarchy import detail_text
from refbrowser.words import count_text, counted_spaced, plural

#: Variables of a file that are listed with why they cannot be referenced, at most.
LISTED = 200

#: Kinds of damage of a file that are told, at most.
_TOLD = 5

Settings = Mapping[Origin, ConnectionSettings]


@dataclass(frozen=True, slots=True)
class MakeOrder:
    """What the user asks for.

    Attributes
    ----------
    sources
        Paths and URLs of files.
    target
        The folder of the documents, or the document of a single file.
    options
        Those that something is said of, by name, in the words of the command line.
    compute
        Where it runs.
    settings
        How to connect, per origin.
    """

    sources: tuple[str, ...]
    target: str
    format: str
    force: bool
    resume: bool
    skip_bad: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    compute: ComputeChoice = field(default_factory=ComputeChoice)
    settings: Settings = field(default_factory=dict)

    def request(self) -> MakeRequest:
        """Return it as the engine takes it.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: there is no target, or an option cannot be read.
        """
        if not self.target:
            raise RefbrowserError(ErrorKind.USAGE, "there is no folder for the documents")
        options = chosen_options(form_named(self.format), self.options, self.target)
        assert isinstance(options, ReferenceOptions)
        return MakeRequest(
            sources=self.sources,
            target=os.path.expanduser(self.target),
            format=self.format,
            options=options,
            force=self.force,
            resume=self.resume,
            skip_bad=self.skip_bad,
            settings=self.settings,
        )


# What is made


@dataclass(frozen=True, slots=True)
class MakePlan:
    """The documents that an order makes, and how many of them are there already."""

    targets: tuple[str, ...]
    there: int

    @property
    def text(self) -> str:
        """What is made, in words."""
        first, count = self.targets[0], len(self.targets)
        lines = [f"Makes {first}" + (f" and {count_text(count - 1)} more." if count > 1 else ".")]
        if self.there:
            lines.append(
                f"{count_text(self.there)} of these {plural(self.there, 'is', 'are')} there already."
            )
        return "\n".join(lines)


def plan_of(order: MakeOrder) -> MakePlan:
    """Return what an order makes; no file is opened.

    Raises
    ------
    RefbrowserError
        It cannot be made; `E_IO`: documents are there and nothing was said about them.
    """
    targets = tuple(task.target for task in tasks_of(order.request()))
    there = sum(map(os.path.lexists, targets))
    if there and not (order.force or order.resume):
        some = plural(len(targets), "the document exists", f"{count_text(there)} of the documents exist")
        raise RefbrowserError(
            ErrorKind.IO,
            f"{some} already",
            advice="Choose another place, or tick the box that replaces or keeps them",
        )
    return MakePlan(targets, there)


def carry_out(order: MakeOrder, control: JobControl, send: Callable[[Any], None]) -> MakeReport:
    """Carry out an order; each file with its document, or its error, is sent as a pair."""

    def done(source: str, answer: Made | BaseException) -> None:
        send((source, answer))

    return make(order.request(), control, order.compute.compute(), done)


def made_text(made: Made) -> str:
    """Return what became of one file, in words."""
    if made.was_there:
        return "left: newer than its file"
    chunks = f"{counted_spaced(made.compared, 'chunk')} compared, equal"
    unread = f"{count_text(made.unread)} chunks cannot be read, " if made.unread else ""
    references = counted_spaced(made.references, "reference")
    alone = f" ({count_text(made.alone)} by our own reader only)" if made.alone else ""
    return f"{references}; {unread}{chunks}{alone}"


def report_text(report: MakeReport) -> str:
    """Return what became of all files, in words."""
    made = [each for each in report.made if not each.was_there]
    documents = counted_spaced(len(made), "document")
    compared = sum(each.compared for each in made)
    lines = [
        f"Done: {documents} made. {count_text(compared)} chunks read through them are those of the files."
    ]
    if kept := len(report.made) - len(made):
        lines.append(f"{count_text(kept)} left as {plural(kept, 'it is', 'they are')}: newer than the file.")
    if lossy := sum(bool(each.losses) for each in made):
        lines.append(f"Not all of {count_text(lossy)} could be kept: the rows of these files say what.")
    if report.left_out:
        files = plural(len(report.left_out), "file is", "files are")
        lines.append(f"{count_text(len(report.left_out))} {files} left out: references cannot describe them.")
    return "\n".join(lines)


# Looking at files


@dataclass(frozen=True, slots=True)
class Hindered:
    """A variable that cannot be referenced: its path, its shape and type, and why."""

    path: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What one file is.

    Attributes
    ----------
    kind
        Its format, in words.
    variables, hindered
        How many there are, and how many of them cannot be referenced.
    listed
        The first of these.
    damage
        What is damaged in it, in words; empty where nothing is.
    error
        Why it cannot be opened.
    """

    source: str
    kind: str = ""
    variables: int = 0
    hindered: int = 0
    listed: tuple[Hindered, ...] = ()
    damage: str = ""
    error: BaseException | None = None


def look_at_files(
    texts: Iterable[str],
    more: Iterable[str],
    settings: Settings,
    control: JobControl,
    send: Callable[[Any], None],
) -> None:
    """Send what texts name (a list of paths and URLs), then `SourceFacts` of each, and of `more`.

    Raises
    ------
    RefbrowserError
        A list of files cannot be read.
    """
    found = sources_of(texts, settings, control.token)
    send(found)
    sources = list(dict.fromkeys((*more, *found)))
    with HERE.open(control.token) as executor:
        looked = executor.run(lambda source: _facts_of(source, settings, control), sources, control.token)
        for number, (source, facts) in enumerate(looked):
            if isinstance(facts, BaseException):
                # Not of the file: those are among the facts.
                raise facts
            send(facts)
            control.progress(number + 1, len(sources), note=os.path.basename(source))


def _facts_of(source: str, settings: Settings, control: JobControl) -> SourceFacts:
    try:
        if (path := local_path(source)) is not None and not os.path.exists(path):
            raise RefbrowserError(ErrorKind.IO, "there is no such file")
        with open_dataset(OpenRequest(source, settings=settings), JobControl(control.token)) as dataset:
            return _of_dataset(source, dataset)
    except (RefbrowserError, OSError) as error:
        return SourceFacts(source, error=error.with_traceback(None))


def _of_dataset(source: str, dataset: Dataset) -> SourceFacts:
    listed: list[Hindered] = []
    hindered = variables = 0
    for path, array in dataset.arrays.items():
        node = array.node
        variables += 1
        why = node.not_referencable or ("" if node.error is None else str(node.error))
        if why:
            hindered += 1
            if len(listed) < LISTED:
                listed.append(Hindered(path, detail_text(node), why))
    damage = "; ".join(each.message for each in dataset.damage[:_TOLD])
    return SourceFacts(source, title_of(dataset.document.format), variables, hindered, tuple(listed), damage)
