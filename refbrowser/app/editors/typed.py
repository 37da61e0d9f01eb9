"""What is typed in any editor and not applied: what all of it has in common, and one step made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.tasks import TaskControl
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.document import ReferenceDocument


class DraftKind(StrEnum):
    """What is being edited."""

    RULE = "rule"
    TEMPLATE = "template"
    REFERENCE = "reference"
    METADATA = "metadata"
    ATTRIBUTE = "attribute"
    KEY = "key"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Edited:
    """What typing is made an edit of, on a worker thread: the document as it is, and its dataset."""

    document: ReferenceDocument
    dataset: Dataset
    token: CancelToken


class Draft(Protocol):
    """What is typed in one place. `at` is that place: a number, a name, a key, of JSON's types."""

    @property
    def is_changed(self) -> bool:
        """Whether it is something else than the document has."""
        ...

    def words(self, at: Any) -> str:
        """Return what is being edited, as ``gen rule 0``."""
        ...

    def edit(self, at: Any, edited: Edited) -> Any:
        """Return the edit of `references.edits` that it stands for.

        Raises
        ------
        RefbrowserError
            It is not valid: the place names the `field`, and the `span` of its text.
        """
        ...

    def to_json(self, at: Any) -> dict[str, Any]:
        """Return it as a value of JSON's types, for the journal; its class reads it with `from_json`."""
        ...


@dataclass(frozen=True, slots=True)
class Typed:
    """A draft and its place."""

    kind: DraftKind
    at: Any
    draft: Draft

    @property
    def words(self) -> str:
        """What is being edited."""
        return self.draft.words(self.at)

    def to_json(self) -> dict[str, Any]:
        """Return it as a value of JSON's types."""
        draft = self.draft.to_json(self.at)
        return {"kind": self.kind.value, "at": self.at, "words": self.words, "draft": draft}


@dataclass(frozen=True, slots=True)
class Refused:
    """Typing that is not valid, and why."""

    typed: Typed
    error: RefbrowserError


@dataclass(frozen=True, slots=True)
class _Made:
    """One edit of all that is valid, the document with it, what was applied, and what is not valid."""

    edit: Any
    document: ReferenceDocument
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
    from refbrowser.app.editors.drafts import drafts_of

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
    from refbrowser.references.edits import Compound

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


def fault(message: str, field: str, span: tuple[int, int] | None = None) -> RefbrowserError:
    """Return the error that a field of an editor is not valid."""
    from refbrowser.errors import ErrorKind, Place

    advice = "Correct it in the editor, or reset it there."
    return RefbrowserError(ErrorKind.USAGE, message, Place(field=field, span=span), advice)


def named(typed: Sequence[Typed]) -> str:
    """Return in words what was typed: the first few by name."""
    words = [one.words for one in typed]
    if len(words) > 3:
        return f"{', '.join(words[:2])} and {len(words) - 2} more"
    return " and ".join(words) if len(words) < 3 else f"{words[0]}, {words[1]} and {words[2]}"
