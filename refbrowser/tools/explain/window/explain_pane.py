"""The explain pane: why an element or a key shows as it does, the answer first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.docks import hint_of
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import FlowLayout
from refbrowser.app.widgets.small_widgets import hint_label, one_shot, push_button
from refbrowser.tools.explain.window.explain_text import NARROW, WIDE, ExplanationText, StepsText, VerdictBox
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.tools.explain.report.explain import Question
    from refbrowser.tools.explain.report.explanation import Explanation, Link


#: What is pointed at is explained when the pointer rests so long, in milliseconds.
REST = 120
#: An explanation that takes longer than this, in milliseconds, is announced.
PATIENCE = 250
#: The verdict takes at most this part of the pane; of longer ones the rest is scrolled to.
_MOST_VERDICT = 0.4
#: Pixels that sixteen bytes of hex need.
_WIDE_FROM = 620


class ExplainPane(QWidget):
    """Explains one question at a time; reads when it is seen, and never for what is only pointed at.

    Signals
    -------
    linkActivated(object)
        A `Link` of the explanation, other than "try again", was followed.
    """

    linkActivated = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("explainView")
        self.setAccessibleName("Explanation")
        self._document: OpenDocument | None = None
        self._question: Question | None = None
        self._explanation: Explanation | None = None
        self._is_asked = self._is_seen = False
        self._rest = one_shot(self, REST, self._start)
        self._subject = ElidedLabel("explainSubject", role="muted", elide=Qt.TextElideMode.ElideMiddle)
        self._subject.setMargin(theme.SMALL)
        self._patience = one_shot(self, PATIENCE, self._announce)
        self._job: int | None = None
        self._looking = Latest(self, "explain")
        self._folded: set[str] = set()
        self._cancel = self._tool_button("Cancel", "explainCancelButton")
        self._cancel.setToolTip("Stop looking")
        self._cancel.clicked.connect(lambda _checked=False: self.cancel())
        self._fold = self._tool_button("Fold", "explainFoldButton")
        self._fold.clicked.connect(lambda _checked=False: self._fold_all())
        self._follow = self._tool_button("Follow", "explainFollowButton")
        self._follow.setCheckable(True)
        self._follow.setAccessibleName("Follow the pointer")
        self._follow.setToolTip("Explain what the pointer is over, without reading anything")
        self._copy = self._tool_button("Copy", "explainCopyButton")
        self._copy.setToolTip("Copy the explanation as text")
        self._copy.clicked.connect(lambda _checked=False: self.copy())
        self._verdict = VerdictBox()
        self._text = StepsText()
        self._written = ExplanationText(self._text)
        self._text.anchorClicked.connect(self._anchor_clicked)
        self._actions = QWidget()
        self._buttons = FlowLayout(self._actions, theme.SMALL)
        self._pages = QStackedWidget()
        self._hint = hint_label(hint_of("explainDock"))
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self._body())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(self._head())
        layout.addWidget(self._pages, 1)
        self.clear()

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, 0)
        head.setSpacing(theme.SMALL)
        head.addWidget(self._subject, 1)
        for button in (self._cancel, self._follow, self._fold, self._copy):
            head.addWidget(button)
        return head

    def _body(self) -> QWidget:
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(theme.SMALL, 0, theme.SMALL, theme.SMALL)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._verdict)
        layout.addWidget(self._actions)
        layout.addWidget(self._text, 1)
        # Where there are no steps the verdict is no higher than its words.
        layout.addStretch()
        return body

    def _tool_button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        button.setFlat(True)
        return button

    # What is explained

    @property
    def follows(self) -> bool:
        """Whether what the pointer is over is explained too."""
        return self._follow.isChecked()

    def document(self) -> OpenDocument | None:
        """Return the document that is asked about."""
        return self._document

    def shows(self, document: OpenDocument, question: Question) -> bool:
        """Tell whether the answer to a question is seen."""
        is_same = document is self._document and question == self._question
        return is_same and self._explanation is not None and self._is_seen

    def focus_steps(self) -> None:
        """Put the keyboard in the steps; Tab goes from link to link there."""
        self._text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def explanation(self) -> Explanation | None:
        """Return the explanation that is shown."""
        return self._explanation

    def explain(self, document: OpenDocument, question: Question) -> None:
        """Explain an element or a key as soon as the pane is seen."""
        self._rest.stop()
        self._ask(document, question)
        self._start()

    def point(self, document: OpenDocument, question: Question) -> None:
        """Explain what the pointer is over, when it rests; `question` must not read."""
        self._ask(document, question)
        self._rest.start()

    def refresh(self, document: OpenDocument) -> None:
        """Explain the same again, after the document or its permissions changed."""
        if document is self._document and self._question is not None:
            self.explain(document, self._question)

    def set_seen(self, is_seen: bool) -> None:
        """Take note whether the pane is in sight: behind another tab, a dock counts as visible too."""
        self._is_seen = is_seen
        if is_seen and self._is_asked:
            self._start()

    def forget(self, document: OpenDocument) -> None:
        """Explain nothing of a document that is closed."""
        if document is self._document:
            self.clear()

    def clear(self) -> None:
        """Show the hint."""
        self._rest.stop()
        self._patience.stop()
        self._set_document(None)
        self._question = self._explanation = self._job = None
        self._subject.set_text("")
        self._cancel.hide()
        self._set_usable(False)
        self._pages.setCurrentWidget(self._hint)

    def copy(self) -> None:
        """Put the explanation on the clipboard as text."""
        if self._explanation is not None:
            QGuiApplication.clipboard().setText(self._explanation.text())

    def cancel(self) -> None:
        """Stop looking."""
        if self._document is not None and self._job is not None:
            self._document.tasks.cancel(self._job)

    def _ask(self, document: OpenDocument, question: Question) -> None:
        self._set_document(document)
        self._question, self._is_asked = question, True

    def _set_document(self, document: OpenDocument | None) -> None:
        before, self._document = self._document, document
        if before is document:
            return
        if before is not None:
            self._looking.cancel()
            before.findings.changed.disconnect(self._follow_findings)
        if document is not None:
            document.findings.changed.connect(self._follow_findings)

    def _watch(self, status: JobStatus) -> None:
        """Say so where the work was cancelled: here, or in the list of jobs."""
        if status.state == "cancelled":
            self._end("Cancelled", "The explanation was cancelled.", "warning")
            self._buttons.addWidget(push_button("Try again", "explain_retry_button", self._retry))
            self._actions.show()

    def _follow_findings(self) -> None:
        """Say so where the finding that is explained was solved."""
        document, finding = self._document, None if self._question is None else self._question.finding
        if document is None or finding is None:
            return
        asked = (finding.kind, finding.message, finding.where)
        if all((other.kind, other.message, other.where) != asked for other in document.findings.found.items):
            self._looking.cancel()
            self._end("Solved", "This problem is gone.", "ok")
            self._question, self._is_asked = None, False

    def _announce(self) -> None:
        """Say that it takes longer."""
        self._subject.set_text("Looking…")
        self._cancel.show()

    def _start(self) -> None:
        document, question = self._document, self._question
        if document is None or question is None or not self._is_seen:
            return
        dataset, finding = document.dataset, question.finding
        if dataset is None and finding is None:
            return
        self._is_asked = False

        def work(control: TaskControl) -> Explanation:
            from refbrowser.tools.explain.report.explain import explain
            from refbrowser.tools.explain.report.verdicts import explain_finding

            if dataset is None:
                assert finding is not None
                return explain_finding(finding)
            return explain(dataset, question, control.token)

        self._patience.start()
        title = f"Explain {one_line(str(question))[:80]}"
        handle = self._looking.run(document, title, work, self._show, self._failed, followed=self._watch)
        self._job = handle.number

    def _show(self, explanation: Explanation) -> None:
        is_other = self._explanation is None or self._explanation.subject != explanation.subject
        self._end(explanation.kind.word, f"{explanation.verdict}.", str(explanation.state))
        self._explanation = explanation
        self._subject.set_text(one_line(explanation.subject))
        self._set_usable(True)
        self._show_links(explanation)
        self._text.show()
        self._write()
        if is_other:
            self._text.verticalScrollBar().setValue(0)

    def _failed(self, error: BaseException) -> None:
        self._end("No answer", error_text(error), "fault")

    def _end(self, word: str, sentence: str, state: str) -> None:
        """Show a verdict without steps: of what was asked last, which is not looked at any more."""
        self._patience.stop()
        self._job = self._explanation = None
        self._cancel.hide()
        self._subject.set_text("" if self._question is None else one_line(str(self._question)))
        self._verdict.show_verdict(word, sentence, state)
        self._set_usable(False)
        self._clear_links()
        self._text.hide()
        self._pages.setCurrentIndex(1)

    def _set_usable(self, usable: bool) -> None:
        for button in (self._copy, self._fold):
            button.setEnabled(usable)
            button.setVisible(usable)

    def _write(self) -> None:
        if self._explanation is not None:
            bar = self._text.verticalScrollBar()
            position = bar.value()
            width = WIDE if self.width() >= _WIDE_FROM else NARROW
            self._written.write(self._explanation, self.font(), width, self._folded)
            bar.setValue(position)
            is_folded = all(step.name in self._folded for step in self._explanation.steps)
            self._fold.setText("Unfold" if is_folded else "Fold")
            self._fold.setAccessibleName("Unfold all steps" if is_folded else "Fold all steps")
            self._fold.setToolTip("Show all of each step" if is_folded else "Show one line of each step")

    # Folding

    def _fold_all(self) -> None:
        if self._explanation is not None:
            names = {step.name for step in self._explanation.steps}
            self._folded = set() if names <= self._folded else self._folded | names
            self._write()

    def _toggle_step(self, number: int, anchor: str) -> None:
        """Fold a step or unfold it; those of its name are so in the next explanations too."""
        if self._explanation is not None and number < len(self._explanation.steps):
            self._folded ^= {self._explanation.steps[number].name}
            self._write()
            self._text.focus_anchor(anchor)

    # Links

    def _show_links(self, explanation: Explanation) -> None:
        self._clear_links()
        for link in explanation.links:
            name = f"explain_{link.kind}_button"
            self._buttons.addWidget(push_button(link.title, name, partial(self._activate, link)))
        self._actions.setVisible(bool(explanation.links))

    def _clear_links(self) -> None:
        while (item := self._buttons.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                # At once out of sight, and out of the way of those that look widgets up by name.
                widget.setParent(None)
                widget.deleteLater()
        self._actions.hide()

    def _anchor_clicked(self, url: QUrl) -> None:
        name = url.toString()
        link = self._written.links.get(name)
        if link is not None:
            self._activate(link)
        elif name in self._written.heads:
            self._toggle_step(self._written.heads[name], name)

    def _activate(self, link: Link) -> None:
        if link.kind == "retry":
            self._retry()
        else:
            self.linkActivated.emit(link)

    def _retry(self) -> None:
        if self._document is not None:
            self.refresh(self._document)

    # Events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._verdict.limit(int(self.height() * _MOST_VERDICT))
        was_wide = event.oldSize().width() >= _WIDE_FROM
        if was_wide != (self.width() >= _WIDE_FROM):
            self._write()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_written"):
            QTimer.singleShot(0, self, self._restyle)

    def _restyle(self) -> None:
        self._verdict.restyle()
        self._write()
