"""A metadata document as it stands in the editor: text that need not be JSON yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.references.edits import SetMetadata


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


def metadata_edit(draft: MetadataDraft) -> SetMetadata:
    """Return the edit that a draft stands for.

    Raises
    ------
    RefbrowserError
        `E_JSON`: the text is not JSON. `E_USAGE`: it is not an object.
    """
    from refbrowser.engine.views.typed_values import parsed
    from refbrowser.errors import ErrorKind, RefbrowserError
    from refbrowser.references.edits import SetMetadata

    value = parsed(draft.text)
    if not isinstance(value, dict):
        raise RefbrowserError(ErrorKind.USAGE, "metadata is an object: { … }")
    return SetMetadata(draft.key, value)
