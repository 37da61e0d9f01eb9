"""The explain pane: why an element or a key shows as it does, the answer first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTextBrowser,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app import icons, theme
from refbrowser.app.bars import ElidedLabel
from refbrowser.app.cards import error_text
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.docks import hint_of
from refbrowser.app.editors.flow_layout import FlowLayout
from refbrowser.app.explain_text import NARROW, WIDE, ExplanationText, mark_color
from refbrowser.app.plain_text import one_line
from refbrowser.app.tasks import TaskControl
from refbrowser.app.widgets import hint_label, push_button

if TYPE_CHECKING:
    from refbrowser.engine.explain.explanation import Explanation, Link
    from refbrowser.engine.explain.question import Question

#: What is pointed at is explained when the pointer rests so long, in milliseconds.
REST = 120
#: An explanation that takes longer than this, in milliseconds, is announced.
PATIENCE = 250
#: The verdict takes at most this part of the pane; of longer ones the rest is scrolled to.
_MOST_VERDICT = 0.4
#: Pixels that sixteen bytes of hex need.
_WIDE_FROM = 620
_ICONS = {"ok": "done", "warning": "warning", "fault": "fault"}
_STRIPS = {"ok": "pane", "warning": "trustStrip", "fault": "faultStrip"}


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
        self._rest = self._single_shot(REST, self._start)
        self._subject = ElidedLabel("explainSubject")
        self._patience = self._single_shot(PATIENCE, lambda: self._subject.set_text("Looking…"))
        self._follow = self._tool_button("Follow pointer", "explainFollowButton")
        self._follow.setCheckable(True)
        self._follow.setToolTip("Explain what the pointer is over, without reading anything")
        self._copy = self._tool_button("Copy", "explainCopyButton")
        self._copy.setToolTip("Copy the explanation as text")
        self._copy.clicked.connect(lambda _checked=False: self.copy())
        self._verdict = VerdictBox()
        self._text = _StepsText()
        self._written = ExplanationText(self._text.document())
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
        head.addWidget(self._follow)
        head.addWidget(self._copy)
        return head

    def _body(self) -> QWidget:
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(theme.SMALL, 0, theme.SMALL, theme.SMALL)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._verdict)
        layout.addWidget(self._actions)
        layout.addWidget(self._text, 1)
        return body

    def _tool_button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        button.setFlat(True)
        return button

    def _single_shot(self, interval: int, slot: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval)
        timer.timeout.connect(slot)
        return timer

    # What is explained

    @property
    def follows(self) -> bool:
        """Whether what the pointer is over is explained too."""
        return self._follow.isChecked()

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
        self._document = self._question = self._explanation = None
        self._subject.set_text("")
        self._copy.setEnabled(False)
        self._pages.setCurrentWidget(self._hint)

    def copy(self) -> None:
        """Put the explanation on the clipboard as text."""
        if self._explanation is not None:
            QGuiApplication.clipboard().setText(self._explanation.text())

    def _ask(self, document: OpenDocument, question: Question) -> None:
        self._document, self._question = document, question
        self._is_asked = True

    def _start(self) -> None:
        document, question = self._document, self._question
        if document is None or question is None or document.dataset is None or not self._is_seen:
            return
        self._is_asked = False
        dataset = document.dataset

        def work(control: TaskControl) -> Explanation:
            from refbrowser.engine.explain.explain import explain

            return explain(dataset, question, control.token)

        self._patience.start()
        title = f"Explain {one_line(str(question))[:80]}"
        document.tasks.run(document.owner("explain"), title, work, self._show, self._failed)

    def _show(self, explanation: Explanation) -> None:
        self._patience.stop()
        self._explanation = explanation
        self._subject.set_text(one_line(explanation.subject))
        self._verdict.show_verdict(f"{explanation.verdict}.", str(explanation.state))
        self._copy.setEnabled(True)
        self._show_links(explanation)
        self._text.show()
        self._pages.setCurrentIndex(1)
        self._write()
        self._text.verticalScrollBar().setValue(0)

    def _failed(self, error: BaseException) -> None:
        self._patience.stop()
        self._explanation = None
        self._subject.set_text("" if self._question is None else one_line(str(self._question)))
        self._verdict.show_verdict(error_text(error), "fault")
        self._copy.setEnabled(False)
        self._clear_links()
        self._text.hide()
        self._pages.setCurrentIndex(1)

    def _write(self) -> None:
        if self._explanation is not None:
            bar = self._text.verticalScrollBar()
            position = bar.value()
            width = WIDE if self.width() >= _WIDE_FROM else NARROW
            self._written.write(self._explanation, self.font(), width)
            bar.setValue(position)

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
        link = self._written.links.get(url.toString())
        if link is not None:
            self._activate(link)

    def _activate(self, link: Link) -> None:
        if link.kind == "retry":
            if self._document is not None:
                self.refresh(self._document)
            return
        self.linkActivated.emit(link)

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


class VerdictBox(QFrame):
    """The verdict in large type, with the mark of its state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = "ok"
        self._most = 10_000
        self._icon = QLabel()
        self._text = QTextEdit()
        self._text.setObjectName("explainVerdict")
        self._text.setAccessibleName("Verdict")
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text.document().setDocumentMargin(0)
        self._text.viewport().setAutoFillBackground(False)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._text, 1)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.toPlainText()

    def show_verdict(self, text: str, state: str) -> None:
        """Show a verdict."""
        self._state = state
        self._text.setPlainText(text)
        self._text.setAccessibleDescription(text)
        self.restyle()

    def limit(self, height: int) -> None:
        """Let the text be so high at most."""
        self._most = height
        self._fit()

    def restyle(self) -> None:
        """Take the colours of the theme and of the state."""
        self.setProperty("role", _STRIPS[self._state])
        self.style().unpolish(self)
        self.style().polish(self)
        self._text.setFont(theme.heading_font(2.5))
        color = mark_color(self._state)
        self._icon.setPixmap(icons.pixmap(_ICONS[self._state], 20, color, self.devicePixelRatioF()))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        least = self._text.fontMetrics().lineSpacing() + 2
        needed = int(self._text.document().size().height()) + 2
        self._text.setFixedHeight(max(least, min(needed, max(self._most, least))))


class _StepsText(QTextBrowser):
    """The steps; links are reached by Tab, text is selected with the mouse or the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("explainText")
        self.setAccessibleName("Steps of the explanation")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(theme.SMALL)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 60)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing: the text holds no pictures, and must not bring any."""
        return None
