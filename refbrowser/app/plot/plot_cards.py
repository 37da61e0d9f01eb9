"""The cards in the place of the picture: nothing chosen, waiting, failed, too large."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QStackedWidget, QWidget

from refbrowser.app.widgets.cards import Card, ErrorCard, centred
from refbrowser.app.widgets.small_widgets import scrolled
from refbrowser.errors import ChangedError, ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled
from refbrowser.limits import LIMITS
from refbrowser.views.plot.plan import ViewPlan
from refbrowser.words import count_text, size_text


class PlotCards(QStackedWidget):
    """The cards, one of them seen.

    Parameters
    ----------
    prefix
        Of the object names.

    Signals
    -------
    retryRequested()
        The read is to be tried again.
    trustReviewRequested()
        The user wants to see, and allow, what the document reads.
    choiceMade(str)
        The answer to the question of size: ``middle``, ``sampled`` or ``all``.
    """

    retryRequested = Signal()
    trustReviewRequested = Signal()
    choiceMade = Signal(str)

    def __init__(self, prefix: str = "plot", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{prefix}Cards")
        self._hint = Card(
            "line", "Nothing to plot yet", "Select an array in the hierarchy to see its picture."
        )
        self._error = ErrorCard()
        self._blocked = Card("lock", "Data is not read until you allow it")
        self._question = Card("warning", "This picture is large")
        self._error.retry.connect(self.retryRequested)
        self._audit = self._error.add_button(
            "Audit", f"{prefix}AuditButton", lambda: self._trigger("show_audit")
        )
        self._audit.setToolTip("Check the references, and find repairs")
        self._reload = self._error.add_button(
            "Reload", f"{prefix}ReloadButton", lambda: self._trigger("reload"), default=True
        )
        self._reload.setToolTip("Read the document and its files again (F5)")
        review = self._blocked.add_button(
            "Review what it reads…", f"{prefix}TrustButton", self.trustReviewRequested.emit, default=True
        )
        review.setAccessibleDescription("Lists the hosts and folders that the document points to")
        self._middle = self._question.add_button(
            "Show the middle", f"{prefix}MiddleButton", self._choose_middle
        )
        self._sampled = self._question.add_button(
            "Show a sample", f"{prefix}SampledButton", self._choose_sampled
        )
        self._question.add_button("Load all of it", f"{prefix}LoadAnywayButton", self._choose_all)
        for card in (self._hint, self._error, self._blocked, self._question):
            self.addWidget(scrolled(centred(card)))

    def show_hint(self, heading: str, text: str) -> None:
        """Say why there is nothing."""
        self._hint.set_content("line", heading, text)
        self.setCurrentIndex(0)

    def show_error(self, heading: str, error: BaseException, *, can_retry: bool = True) -> None:
        """Show an error where it arose."""
        is_changed = isinstance(error, ChangedError)
        self._error.set_error(heading, error, can_retry=can_retry and not is_changed)
        self._reload.setVisible(is_changed)
        self._audit.setVisible(not isinstance(error, ChangedError | Cancelled))
        self.setCurrentIndex(1)

    def _trigger(self, name: str) -> None:
        """Do what an action of the window does (`refbrowser.app.actions.menus`)."""
        action = self.window().findChild(QAction, f"action_{name}")
        if action is not None:
            action.trigger()

    def show_failure(self, path: str, error: BaseException) -> None:
        """Say why nothing of an array could be read: an error, a permission that is missing, or Cancel."""
        if isinstance(error, RefbrowserError) and error.kind is ErrorKind.BLOCKED:
            self.show_blocked(str(error))
        elif isinstance(error, Cancelled):
            self.show_error(f"{path} was not read", RefbrowserError(ErrorKind.IO, "reading it was cancelled"))
        else:
            self.show_error(f"{path} could not be read", error)

    def show_blocked(self, reason: str) -> None:
        """Say that a permission is needed."""
        text = f"{reason[:1].upper()}{reason[1:]}.\nThe structure can be browsed without it."
        self._blocked.set_content("lock", "Data is not read until you allow it", text)
        self.setCurrentIndex(2)

    def show_question(self, plan: ViewPlan, sampled: ViewPlan, middle: ViewPlan) -> None:
        """Ask what to do with a read that is too large to begin unasked."""
        text = (
            f"It needs {count_text(plan.chunks)} chunks, {size_text(plan.decoded)} once decoded. "
            f"A view reads at most {count_text(LIMITS.view_chunks)} chunks and "
            f"{size_text(LIMITS.view_decoded)} unasked."
        )
        self._question.set_content("warning", "This picture is large", text, "warning")
        sizes = " × ".join(count_text(len(taken)) for taken in middle.ranges)
        self._middle.setToolTip(f"{sizes} values in full detail; pan to see the rest")
        steps = " × ".join(count_text(step) for step in sampled.steps)
        self._sampled.setToolTip(f"One value of {steps}")
        self._sampled.setVisible(not sampled.too_large)
        self.setCurrentIndex(3)

    def shown(self) -> str:
        """Return which card is seen: ``hint``, ``error``, ``blocked`` or ``question``."""
        return ("hint", "error", "blocked", "question")[self.currentIndex()]

    def heading(self) -> str:
        """Return the heading of the card that is seen."""
        return (self._hint, self._error, self._blocked, self._question)[self.currentIndex()].heading()

    def text(self) -> str:
        """Return the text of the card that is seen."""
        return (self._hint, self._error, self._blocked, self._question)[self.currentIndex()].text()

    def _choose_middle(self) -> None:
        self.choiceMade.emit("middle")

    def _choose_sampled(self) -> None:
        self.choiceMade.emit("sampled")

    def _choose_all(self) -> None:
        self.choiceMade.emit("all")
