"""Combining as the window asks for it. Imported inside tasks: it loads the engine."""

from __future__ import annotations

import os
from dataclasses import dataclass

from refbrowser.app.controller.shared_session import SharedSession
from refbrowser.app.controller.work import Opened, folding_of, rebuilt, state_of
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.engine.dataset import Dataset
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.combine import CombineReport
from refbrowser.exporting.combining.file_set import FileSet
from refbrowser.io.origins import local_path
from refbrowser.references.document.fold import FoldReferences
from refbrowser.references.document.history import History
from refbrowser.tools.make.combine_order import CombineOrder
from refbrowser.tools.make.combining import look, settled, unwritten, written
from refbrowser.views.words import one_line
from refbrowser.words import count_text


@dataclass(frozen=True, slots=True)
class Made:
    """What became of files, in words; the document, where it is in no file."""

    text: str
    opened: Opened | None = None


def carry_out(order: CombineOrder, kept: FileSet | None, shared: SharedSession, control: TaskControl) -> Made:
    """Combine files into a document, which is written where a target is named.

    Parameters
    ----------
    shared
        What the document is read with.

    Raises
    ------
    RefbrowserError
        A difference stands against it, or the document cannot be written.
    """
    path = local_path(order.target)
    if order.target and path is not None and os.path.lexists(os.path.expanduser(path)) and not order.force:
        message, advice = (
            "the document exists already",
            "Choose another name, or tick the box that replaces it",
        )
        raise RefbrowserError(ErrorKind.IO, message, advice=advice)
    # What it is was found out by looking.
    found = settled(look(order, kept, control), order.request())
    if order.target:
        return Made(_words_of(written(found, control)))
    dataset, report = unwritten(found, order.name, shared.get(), control)
    return Made(
        f"{_words_of(report)} It is not saved yet: Save asks where.", _opened(order, dataset, control)
    )


def _opened(order: CombineOrder, dataset: Dataset, control: TaskControl) -> Opened:
    """Return a dataset as it is shown; that it was folded is a step which can be undone."""
    history = History(dataset.document)
    # Nothing of it is on the disk.
    history.mark_gone()
    state = state_of(dataset, None)
    if order.fold:
        folding = folding_of(dataset.document, control, rules=True)
        if folding.is_smaller:
            history.take(FoldReferences(), folding.after)
            state = rebuilt(dataset, folding.after, dataset.document, control)
    return Opened(history, state, None)


def _words_of(report: CombineReport) -> str:
    sizes = ", ".join(f"{one_line(name)} {count_text(size)}" for name, size in report.sizes.items())
    unread = f", {count_text(report.unread)} cannot be read" if report.unread else ""
    lines = [
        f"{count_text(report.files)} files as one{': ' if sizes else ''}{sizes}; "
        f"{count_text(report.references)} references. {count_text(report.compared)} chunks read through it "
        f"are those of the files{unread}."
    ]
    lines += [f"Not kept: {one_line(each)}" for each in report.losses[:3]]
    return "\n".join(lines)
