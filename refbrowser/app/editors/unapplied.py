"""Apply everything that is typed in the editors of a document as one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.typed import Edited, Refused, Typed
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document


@dataclass(frozen=True, slots=True)
class _Made:
    """One edit of all that is valid, the document with it, what was applied, and what is not valid."""

    edit: Any
    document: Document
    applied: tuple[Typed, ...]
    refused: tuple[Refused, ...]


def apply_typed(
    opened: OpenDocument,
    done: Callable[[tuple[Typed, ...], tuple[Refused, ...]], object],
    failed: Callable[[BaseException], None],
) -> None:
    """Make one step of the history of all that is typed and valid; `done` gets that, and what is not.

    Where the document changes meanwhile it is tried again.
    """
    drafts = drafts_of(opened)
    typed, before, dataset, history = drafts.all(), opened.document, opened.dataset, opened.history
    if not typed or before is None or dataset is None or history is None:
        done((), ())
        return

    def make(control: TaskControl) -> _Made:
        return _made(Edited(before, dataset, control.token), typed)

    def made(result: _Made) -> None:
        if opened.history is not history or opened.document is not before:
            apply_typed(opened, done, failed)
            return
        for one in result.applied:
            # First: what the step renames would else be kept for when that is undone.
            drafts.drop(one)
        if result.document is not before:
            opened.take_step(result.edit, result.document)
        drafts.applied.emit(result.applied)
        done(result.applied, result.refused)

    title = f"Apply what is typed in {opened.title}"
    opened.tasks.run(opened.owner("typed"), title, make, made, failed)


def _made(edited: Edited, typed: Sequence[Typed]) -> _Made:
    from refbrowser.references.edits.edits import Compound

    edits: list[Any] = []
    applied: list[Typed] = []
    left = list(typed)
    refused: list[Refused] = []
    while left:
        refused, before = [], len(applied)
        for one in left:
            try:
                edit = one.draft.edit(one.at, edited)
                edited = replace(edited, document=edited.document.apply(edit))
            except RefbrowserError as error:
                refused.append(Refused(one, error))
                continue
            edits.append(edit)
            applied.append(one)
        left = [each.typed for each in refused]
        if len(applied) == before:
            break
        # Again: what was applied may be what the others name.
    edit = edits[0] if len(edits) == 1 else Compound("Apply all that was typed", tuple(edits))
    return _Made(edit, edited.document, tuple(applied), tuple(refused))
