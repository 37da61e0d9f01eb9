"""Go to a key: quick-open over keys and nodes of the current document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.finding.quick_list import Answer, QuickList
from refbrowser.app.shell.tasks import TaskControl
from refbrowser.app.widgets import icons
from refbrowser.views.words import count_text, one_line

if TYPE_CHECKING:
    from refbrowser.views.key_search import Hit, Hits

HINT = "Part of a key, a path, coordinates such as temp/12.3, or the number of a row"


class GoToDialog(QuickList):
    """Completes what is typed off the GUI thread; Enter goes there.

    Signals
    -------
    nodeChosen(str), keyChosen(str), rowChosen(object)
        What was chosen: the path of a group or array, a key, the number of a row.
    """

    nodeChosen = Signal(str)
    keyChosen = Signal(str)
    rowChosen = Signal(object)

    def __init__(self, document: OpenDocument, parent: QWidget) -> None:
        super().__init__("goToDialog", f"Go to a key of {one_line(document.title)}", HINT, parent)
        self._document = document
        self._owner = document.owner("go to")
        self.typed.connect(self._search)
        self.chosen.connect(self._go)
        self.finished.connect(lambda _code: document.tasks.cancel_owner(self._owner))
        # The document may be closed under the dialog.
        document.destroyed.connect(self.close)
        self._search("")

    def _search(self, text: str) -> None:
        state, hierarchy = self._document.document, self._document.hierarchy
        if state is None:
            return

        def search(control: TaskControl) -> Hits:
            from refbrowser.views.key_search import search as search_keys

            return search_keys(state, hierarchy, text, control.check)

        self._document.tasks.run(
            self._owner, "Search keys", search, lambda hits: self._show(text, hits), self._failed
        )

    def _show(self, text: str, hits: Hits) -> None:
        answers = [Answer(hit.text, hit.detail, hit.places, _icon(hit), hit) for hit in hits.hits]
        count = count_text(len(answers))
        if not answers:
            words = "No match" if hits.is_whole else "The search stopped at its time limit: type more"
        elif hits.is_whole:
            words = f"{count} answer{'' if len(answers) == 1 else 's'}" if text.strip() else ""
        else:
            words = f"The first {count} answers: type more to find others"
        self.set_answers(answers, words)

    def _failed(self, error: BaseException) -> None:
        self.set_answers([], f"The search failed: {error}")

    def _go(self, answer: Answer) -> None:
        from refbrowser.views.key_search import HitKind

        hit: Hit = answer.data
        if hit.kind is HitKind.NODE:
            self.nodeChosen.emit(hit.text)
        elif hit.kind is HitKind.KEY:
            self.keyChosen.emit(hit.text)
        else:
            self.rowChosen.emit(int(hit.text))


def _icon(hit: Hit) -> QIcon:
    if hit.kind == "node":
        return icons.icon("group" if hit.detail == "group" else "array")
    return icons.icon("key" if hit.kind == "key" else "rules")
