"""The undo keys, wherever the keyboard is: of what was typed in a field first, then of the document."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

_FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox)


class UndoKeys(QObject):
    """Gives the undo keys to the window where a field that has the keyboard has nothing typed to undo.

    Fields of Qt keep these keys for themselves whether or not they have anything to undo.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._field: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_changed)

    def _focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        if self._field is not None:
            self._field.removeEventFilter(self)
            self._field.destroyed.disconnect(self._gone)
            self._field = None
        if isinstance(now, _FIELDS) and self._is_inside(now):
            self._field = now
            now.installEventFilter(self)
            now.destroyed.connect(self._gone)

    def _is_inside(self, widget: QWidget | None) -> bool:
        """Whether a widget is of the window, also in a dock that floats beside it."""
        while widget is not None and widget is not self._window:
            widget = widget.parentWidget()
        return widget is not None

    def _gone(self) -> None:
        self._field = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        is_undo = event.matches(QKeySequence.StandardKey.Undo)
        if not is_undo and not event.matches(QKeySequence.StandardKey.Redo):
            return False
        if _can_undo(watched, is_undo):
            return False
        if is_undo:
            # What was typed and undone in the field lies before the step of the document that goes now.
            _forget(watched)
        event.ignore()
        return True


def _can_undo(field: QObject, is_undo: bool) -> bool:
    """Tell whether something typed in a field can be undone, or redone."""
    if isinstance(field, QAbstractSpinBox):
        field = field.lineEdit()
    if isinstance(field, QLineEdit):
        return field.isUndoAvailable() if is_undo else field.isRedoAvailable()
    if isinstance(field, QPlainTextEdit | QTextEdit):
        document = field.document()
        return document.isUndoAvailable() if is_undo else document.isRedoAvailable()
    return False


def _forget(field: QObject) -> None:
    """Forget what could be typed again."""
    if isinstance(field, QLineEdit) and field.isRedoAvailable():
        position = field.cursorPosition()
        field.setText(field.text())
        field.setCursorPosition(position)
    elif isinstance(field, QPlainTextEdit | QTextEdit):
        field.document().clearUndoRedoStacks()
