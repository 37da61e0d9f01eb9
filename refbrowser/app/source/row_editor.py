"""A field over rows of a text, with what is wrong with them below it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from refbrowser.app.editors.code_field import JsonField
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import Mend, OutcomeLine, named
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.views.editing.text_draft import TextDraft, TypedFault
from refbrowser.views.editing.text_marks import FaultSpan

#: What is typed is looked at so long after the last keystroke, in milliseconds.
PAUSE = 150


class RowEditor(QWidget):
    """Hidden while nothing is edited.

    Signals
    -------
    closed(int)
        Nothing is edited any more; the byte at which it was.
    """

    closed = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}Editor")
        self.setAccessibleName("Editor of the text")
        self._draft: TextDraft | None = None
        self.soon = one_shot(self, PAUSE, self.check)
        self._title = ElidedLabel(f"{name}EditTitle", role="paneTitle")
        self.field = JsonField(f"{name}EditText", "Text that is edited")
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.field.edited.connect(self._typed)
        self.outcome = OutcomeLine(f"{name}EditOutcome", lines=2)
        self.apply_button = named(QPushButton("&Apply"), f"{name}ApplyButton", "Apply the edit of the text")
        self.apply_button.setToolTip("Make the edit one step of the history (Ctrl+Enter)")
        self.apply_button.clicked.connect(self.apply)
        self.cancel_button = named(QPushButton("&Cancel"), f"{name}CancelButton", "Leave the text as it was")
        self.cancel_button.setToolTip("Discard what you typed (Esc)")
        self.cancel_button.clicked.connect(self.cancel)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.apply)
        line = QHBoxLayout()
        line.setSpacing(theme.SMALL)
        line.addWidget(self.outcome, 1)
        line.addWidget(self.cancel_button)
        line.addWidget(self.apply_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, theme.SMALL)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._title)
        layout.addWidget(self.field, 1)
        layout.addLayout(line)
        self.setFocusProxy(self.field)
        self.hide()

    @property
    def draft(self) -> TextDraft | None:
        """What is edited, as it is typed; None for nothing."""
        return self._draft

    def show_draft(self, draft: TextDraft, character: int) -> None:
        """Edit rows of a text, with the cursor at a character."""
        self._draft = None
        self._title.set_text(f"{draft.title}: Ctrl+Enter applies it")
        self.field.set_text(draft.typed)
        self.field.settle()
        self._draft = draft
        self.show()
        self.field.show_place(character)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.check()

    def close_field(self) -> None:
        """Edit nothing any more."""
        self.soon.stop()
        draft, self._draft = self._draft, None
        self.field.set_faults((), "")
        self.hide()
        if draft is not None:
            self.closed.emit(draft.rows.start)

    def _typed(self, typed: str) -> None:
        if self._draft is not None:
            self._draft = TextDraft(self._draft.rows, typed, self._draft.title)
            self.typed(self._draft)
            self.soon.start()

    def typed(self, draft: TextDraft) -> None:
        """Keep what is typed."""

    def check(self) -> None:
        """See what is typed: why it is no JSON, or what it changes."""
        raise NotImplementedError

    def apply(self) -> None:
        """Take what is typed."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Forget what is typed."""
        self.close_field()

    def show_fault(self, draft: TextDraft, fault: TypedFault, mended: tuple[str, str] | None) -> None:
        """Underline where what is typed is no JSON, and offer what mends it."""
        at = fault.character
        self.field.set_faults([FaultSpan(at, min(at + 1, len(draft.typed)))], fault.message)
        before = draft.typed[:at]
        line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
        mend = None if mended is None else Mend(mended[1], lambda: self._take_mended(mended[0]))
        offered = "" if mended is None else f"  {mended[1]}?"
        self.outcome.show_fault(f"Line {line}, column {column}: {fault.message}.{offered}", mend)

    def _take_mended(self, text: str) -> None:
        """Put what mends the text in the place of what is typed; the field can undo it."""
        cursor = self.field.textCursor()
        place = cursor.position()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.setPosition(min(place, len(text)))
        self.field.setTextCursor(cursor)
        self.check()

    # Keys

    def event(self, event: QEvent) -> bool:
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        else:
            super().keyPressEvent(event)
