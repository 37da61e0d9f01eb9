"""The frame of an editor: a title (starred while edits are pending), a form, Apply and Reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import CodeField
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import OutcomeLine, TextLine, named
from refbrowser.views.editing.preview import NoSource, PreviewSource
from refbrowser.views.editing.typed_input import Typed

if TYPE_CHECKING:
    from refbrowser.io.access.access import Access

MOVED_ON = "The document changed meanwhile; what you typed is kept on top of it."


class EditorForm(QWidget):
    """What the editors of rules, templates and references have in common.

    Ctrl+Enter applies from any field of the editor, Enter from those of one line. `status` is one line about
    the edit as a whole.

    Signals
    -------
    previewChanged(object, object)
        The opened document, and a `PreviewSource` of what is typed; of the editor that is on the screen only.
    applyWanted(), resetWanted()
        The user pressed *Apply* or *Reset*.
    """

    previewChanged = Signal(object, object)
    applyWanted = Signal()
    resetWanted = Signal()

    def __init__(self, name: str, noun: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._noun = noun
        self._state: tuple[str, bool, bool, bool] | None = None
        self._source: PreviewSource = NoSource()
        self.title = named(QLabel(), f"{name}Title")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setProperty("role", "paneTitle")
        self.header = QHBoxLayout()
        self.header.setSpacing(theme.SMALL)
        self.header.addWidget(self.title, 1)
        self.body = QWidget()
        self.grid = QGridLayout(self.body)
        self.grid.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.MEDIUM)
        self.grid.setHorizontalSpacing(theme.MEDIUM)
        self.grid.setVerticalSpacing(1)
        self.grid.setColumnStretch(1, 1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.body)
        self.moved_on = OutcomeLine(f"{name}MovedOn")
        self.moved_on.hide()
        self.status = OutcomeLine(f"{name}Status")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(_padded(self.header))
        layout.addWidget(self.moved_on)
        layout.addWidget(scroll, 1)
        self._scroll = scroll
        layout.addWidget(self.status)
        layout.addLayout(self._buttons(name))

    def _buttons(self, name: str) -> QHBoxLayout:
        self.apply_button = named(
            QPushButton("&Apply"), f"{name}ApplyButton", f"Apply the edit of the {self._noun}"
        )
        self.reset_button = named(
            QPushButton("Re&set"), f"{name}ResetButton", f"Reset the edit of the {self._noun}"
        )
        self.apply_button.setToolTip("Make the edit one step of the history (Ctrl+Enter)")
        self.reset_button.setToolTip("Go back to what the document has")
        self.apply_button.clicked.connect(self.applyWanted)
        self.reset_button.clicked.connect(self.resetWanted)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.apply_button.click)
        line = self.buttons_line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(self.reset_button)
        line.addWidget(self.apply_button)
        return _padded(line)

    def add_page(self, page: QWidget) -> None:
        """Add what may stand in the place of the form."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        page.hide()
        layout.insertWidget(layout.indexOf(self._scroll) + 1, page, 1)

    def show_page(self, page: QWidget, *, shown: bool) -> None:
        """Show a page in the place of the form, or the form again."""
        self._scroll.setVisible(not shown)
        page.setVisible(shown)

    def ensure_visible(self, field: QWidget) -> None:
        """Scroll so that a field is seen."""
        self._scroll.ensureWidgetVisible(field)

    def show_pending(self, heading: str, *, pending: bool, can_apply: bool, moved_on: bool) -> None:
        """Show the title, whether there is something to apply, and whether the document changed beneath."""
        state = (heading, pending, can_apply, moved_on)
        if state == self._state:
            return
        self._state = state
        self.title.setText(f"{heading} *" if pending else heading)
        self.apply_button.setEnabled(pending and can_apply)
        self.apply_button.setDefault(pending and can_apply)
        self.reset_button.setEnabled(pending)
        self.moved_on.setVisible(pending and moved_on)
        if moved_on:
            self.moved_on.show_warning(MOVED_ON)

    @property
    def is_pending(self) -> bool:
        """Whether what is shown is not what the document has."""
        raise NotImplementedError

    def show_field(self, name: str, span: tuple[int, int] | None = None) -> None:
        """Bring a field into view and put the keyboard in it, where it is wrong."""
        field = self.field_of(name)
        self.ensure_visible(field)
        field.setFocus()
        if span is not None and isinstance(field, CodeField):
            field.show_place(span[0])
        elif span is not None and isinstance(field, QLineEdit):
            field.setSelection(span[0], max(0, span[1] - span[0]))

    def bring_into_view(self, name: str) -> None:
        """Bring a field into view; the keyboard stays where it is."""
        self.ensure_visible(self.field_of(name))

    def field_of(self, name: str) -> QWidget:
        """Return the field that errors call `name`."""
        raise NotImplementedError

    def settle(self) -> None:
        """Forget what was typed in the fields: it was applied, and Undo is of the document again."""
        for line in self.findChildren(TextLine):
            line.settle()
        for field in self.findChildren(CodeField):
            field.settle()

    def take_applied(self, typed: tuple[Typed, ...]) -> None:
        """Take over that what was typed, here or elsewhere, is a step of the history now."""
        if not self.is_pending:
            self.settle()

    def add_line(self, line: TextLine) -> TextLine:
        """Apply when Enter is pressed in a field."""
        line.returnPressed.connect(self.apply_button.click)
        return line

    def source(self) -> PreviewSource:
        """Return the rows of what is typed."""
        return self._source

    def publish(self, document: OpenDocument | None, source: PreviewSource) -> None:
        """Hand the rows of what is typed to the preview, unless another editor stands in this one's place."""
        self._source = source
        if not self.isHidden():
            self.previewChanged.emit(document, source)

    def add_label(self, row: int, text: str, buddy: QWidget) -> QLabel:
        """Put the label of a field at the left of its row."""
        label = QLabel(text)
        label.setBuddy(buddy)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.grid.addWidget(label, row, 0)
        return label

    # Constant, so that a longer text in it never makes the window lay itself out anew while typing.

    def sizeHint(self) -> QSize:
        return QSize(380, 480)

    def minimumSizeHint(self) -> QSize:
        return QSize(260, 180)


def follow(
    before: OpenDocument | None, document: OpenDocument | None, editor: EditorForm, show: Callable[[], None]
) -> None:
    """Call `show` whenever `document` changed, and no longer when `before` did."""
    if before is not None:
        before.documentChanged.disconnect(show)
        drafts_of(before).restored.disconnect(show)
        drafts_of(before).applied.disconnect(editor.take_applied)
    if document is not None:
        drafts = drafts_of(document)  # hears of changes before the editor does
        document.documentChanged.connect(show)
        drafts.restored.connect(show)
        drafts.applied.connect(editor.take_applied)


def access_of(document: OpenDocument) -> Access | None:
    """Return what a document may read; None until that is known."""
    return None if document.dataset is None else document.dataset.access


def _padded(line: QHBoxLayout) -> QHBoxLayout:
    line.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
    return line
