"""Rows of the document's text as they are typed over, and what is wrong with them before they are applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.references.text.json_text import JsonError, parse
from refbrowser.views.editing.typed_input import Edited, fault
from refbrowser.views.source.row_edit import EditedLine, EditedRows

if TYPE_CHECKING:
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document

#: What a part of a text is put into to be parsed alone: nothing, an object, a list.
_AROUND = ((b"", b""), (b"{", b"}"), (b"[", b"]"))


@dataclass(frozen=True, slots=True)
class TextDraft:
    """Rows of the text as they are typed over; their place is the byte at which they begin.

    Attributes
    ----------
    rows
        As the document has them.
    typed
        What is typed.
    title
        What the history calls the edit.
    """

    rows: EditedRows
    typed: str
    title: str

    @property
    def is_changed(self) -> bool:
        """Whether something else is typed than the document has."""
        return self.typed != self.rows.text

    def words(self, at: int) -> str:
        """Return what is being edited."""
        return "the text in Source"

    def edit(self, at: int, edited: Edited) -> Edit:
        """Return the edit, see `Draft.edit`."""
        wrong = self.fault()
        if wrong is not None:
            raise fault(f"{self.words(at)}: {wrong.message}", "text", (wrong.character, wrong.character + 1))
        if not self.fits(edited.document):
            raise fault(f"{self.words(at)}: the document has changed there", "text")
        return self.rows.patch(self.typed, self.title)

    def fits(self, document: Document) -> bool:
        """Tell whether a document still has what is typed over where it was."""
        from refbrowser.views.source.source_text import text_of

        own = document.own_text
        return own is not None and text_of(own).read(self.rows.start, self.rows.stop) == self.rows.data

    def fault(self) -> TypedFault | None:
        """Return why what is typed is no JSON, where that can be told without all of the text."""
        around = _around(self.rows.text)
        return None if around is None else _fault(self.typed, *around)

    def mended(self, pause: Callable[[], None]) -> tuple[str, str] | None:
        """Return what is typed as JSON, and what is done for it in words; None where that is not certain."""
        from refbrowser.references.text.mending import MendKind, mended

        around = _around(self.rows.text)
        if around is None:
            return None
        before, behind = around
        body, tail = _without_comma(self.typed)
        made = mended(before + body.encode("utf-8", "surrogatepass") + behind, pause)
        if made is None or MendKind.CUT in made.counts:
            return None
        text = made.data[len(before) : len(made.data) - len(behind)].decode("utf-8", "surrogatepass") + tail
        return (text, made.words) if _fault(text, *around) is None else None

    def to_json(self, at: int) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        lines = [[line.text, line.body.decode(), line.tail.decode()] for line in self.rows.lines]
        return {
            "title": self.title,
            "typed": self.typed,
            "stop": self.rows.stop,
            "laid_out": self.rows.is_laid_out,
            "lines": lines,
        }

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> TextDraft | None:
        """Return what `to_json` gave this value of; None where the document has something else there."""
        lines = tuple(
            EditedLine(str(text), str(body).encode(), str(tail).encode(), None)
            for text, body, tail in value["lines"]
        )
        rows = EditedRows(int(at), int(value["stop"]), lines, bool(value["laid_out"]))
        draft = cls(rows, str(value["typed"]), str(value["title"]))
        return draft if draft.fits(document) else None


def whole_fault(text: str) -> TypedFault | None:
    """Return why a whole text is no JSON."""
    return _fault(text, b"", b"")


def whole_mended(text: str, pause: Callable[[], None]) -> tuple[str, str] | None:
    """Return a whole text as JSON, and what is done for it in words; None where that is not certain."""
    from refbrowser.references.text.mending import mended

    made = mended(text.encode("utf-8", "surrogatepass"), pause)
    if made is None:
        return None
    whole = made.data.decode("utf-8", "surrogatepass")
    return (whole, made.words) if whole_fault(whole) is None else None


@dataclass(frozen=True, slots=True)
class TypedFault:
    """Why a text is no JSON, and the character at which that shows."""

    message: str
    character: int


def _without_comma(text: str) -> tuple[str, str]:
    """Return a part of a text without the comma behind it, and that comma."""
    body = text.rstrip()
    return (body[:-1], body[-1] + text[len(body) :]) if body.endswith(",") else (text, "")


def _around(text: str) -> tuple[bytes, bytes] | None:
    """Return what makes JSON of a part of a text; None where nothing does."""
    body = text if _fault(text, b"", b"") is None else _without_comma(text)[0]
    return next((around for around in _AROUND if _fault(body, *around) is None), None)


def _fault(text: str, before: bytes, behind: bytes) -> TypedFault | None:
    body = _without_comma(text)[0] if before else text
    data = body.encode("utf-8", "surrogatepass")
    try:
        parse(before + data + behind)
    except JsonError as error:
        at = max(0, min(error.position - len(before), len(data)))
        return TypedFault(error.message, len(data[:at].decode("utf-8", "replace")))
    return None
