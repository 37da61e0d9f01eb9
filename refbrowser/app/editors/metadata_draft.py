"""A metadata document as it stands in the editor: text that need not be JSON yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refbrowser.app.editors.typed import Edited, fault
from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.references.document.document import Document
    from refbrowser.references.edits.edits import SetMetadata


@dataclass(frozen=True, slots=True)
class MetadataDraft:
    """The text for a metadata key, and the text that the document has, laid out."""

    key: str
    text: str
    old_text: str

    @property
    def is_changed(self) -> bool:
        """Whether the editor shows something else than the document has."""
        return self.text != self.old_text

    def words(self, at: str) -> str:
        """Return what is being edited."""
        return f"the JSON of {at}"

    def edit(self, at: str, edited: Edited) -> Any:
        """Return the edit, see `Draft.edit`."""
        try:
            return metadata_edit(self)
        except RefbrowserError as error:
            place = (
                "" if error.place.line is None else f"line {error.place.line}, column {error.place.column}: "
            )
            raise fault(f"{self.words(at)}: {place}{error.message}", "json", error.place.span) from error

    def to_json(self, at: str) -> dict[str, Any]:
        """Return it for the journal, see `Draft.to_json`."""
        return {"text": self.text, "old_text": self.old_text}

    @classmethod
    def from_json(cls, at: Any, value: dict[str, Any], document: Document) -> MetadataDraft | None:
        """Return what `to_json` gave this value of."""
        return cls(str(at), str(value["text"]), str(value["old_text"]))


def metadata_edit(draft: MetadataDraft) -> SetMetadata:
    """Return the edit that a draft stands for.

    Raises
    ------
    RefbrowserError
        `E_JSON`: the text is not JSON. `E_USAGE`: it is not an object.
    """
    from refbrowser.errors import ErrorKind
    from refbrowser.references.edits.edits import SetMetadata
    from refbrowser.references.text.typed_values import parsed

    value = parsed(draft.text)
    if not isinstance(value, dict):
        raise RefbrowserError(ErrorKind.USAGE, "metadata is an object: { … }")
    return SetMetadata(draft.key, value)
