"""What tells opened documents of the same name apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument


def distinctions(paths: Sequence[str]) -> list[str]:
    """Return for each path the shortest end of its folder that no other path of the same name has.

    Empty where the name is enough.
    """
    parts = [path.rstrip("/").replace("\\", "/").split("/") for path in paths]
    found = []
    for own in parts:
        others = [other for other in parts if other is not own and other[-1] == own[-1] and other != own]
        depth = 0
        while others and depth < len(own):
            depth += 1
            others = [other for other in others if other[-1 - depth :] == own[-1 - depth :]]
        found.append("/".join(own[-1 - depth : -1]) if depth else "")
    return found


class Titles(QObject):
    """Keeps the titles of all documents of a window distinct."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self._documents = documents
        documents.added.connect(self._added)
        documents.removed.connect(lambda _document: self._update())

    def _added(self, document: OpenDocument) -> None:
        # A save under another name tells a new identity.
        document.identityChanged.connect(self._update)
        self._update()

    def _update(self) -> None:
        documents = self._documents.all()
        for document, distinction in zip(
            documents, distinctions([one.path for one in documents]), strict=True
        ):
            if document.distinction != distinction:
                document.distinction = distinction
                document.savedChanged.emit()
