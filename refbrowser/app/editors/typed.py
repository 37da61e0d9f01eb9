"""What is typed in any editor and not applied: what all of it has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset
    from refbrowser.io.cancel import CancelToken
    from refbrowser.references.document.document import Document


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

    document: Document
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
