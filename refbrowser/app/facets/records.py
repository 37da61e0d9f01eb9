"""Files with records in the window: they may get more while they are open."""

from __future__ import annotations

from refbrowser.app.controller.document_files import FormatPart
from refbrowser.model.nodes import Dimension, GroupNode
from refbrowser.words import count_text


class DocumentRecords(FormatPart):
    """What is known of a file that is open: how many records it has."""

    called = "the file"
    advice = "It is never changed: choose another name, edits are written beside it."

    @property
    def grows(self) -> bool:
        """Whether it may get more records: one without any never does."""
        return self._records is not None

    def size_words(self) -> str:
        """Return how many records there are."""
        records = self._records
        return "" if records is None else f"{count_text(records.size)} records"

    @property
    def _records(self) -> Dimension | None:
        hierarchy = self._document.hierarchy
        root = None if hierarchy is None else hierarchy.root
        if not isinstance(root, GroupNode):
            return None
        return next((each for each in root.dimensions.values() if each.unlimited), None)
