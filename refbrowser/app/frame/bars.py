"""Strips over the tabs: errors, what is damaged, what others did to the file, and how far the reading is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.document_files import FileState
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_kind, error_text
from refbrowser.app.widgets.small_widgets import IconLabel, one_shot, plain_label, push_button, show_progress
from refbrowser.views.words import one_line
from refbrowser.words import size_text

if TYPE_CHECKING:
    from refbrowser.exporting.request import Loss


_CHANGES = (QEvent.Type.LayoutRequest, QEvent.Type.ShowToParent, QEvent.Type.HideToParent)


class BarStack(QScrollArea):
    """The bars over the tabs, one above the other: as high as they are, up to a limit; then they scroll.

    Parameters
    ----------
    bars
        From the top down.
    """

    def __init__(self, bars: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._most = 0
        self._bars: list[QWidget] = []
        self._fitted = one_shot(self, 0, self._fit)
        self._inner = QWidget()
        self._inner.installEventFilter(self)
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.MEDIUM - 2)
        for bar in bars:
            self.add(bar)
        self.setWidget(self._inner)
        self._fit()

    def add(self, bar: QWidget) -> None:
        """Add a bar below the others."""
        self._bars.append(bar)
        self._column.addWidget(bar)
        bar.installEventFilter(self)

    def limit(self, most: int) -> None:
        """Take so many pixels of height at most."""
        self._most = most
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Not at once: a height that is set within a resize would not be seen.
        self._fitted.start()

    def _fit(self) -> None:
        is_any = any(not bar.isHidden() for bar in self._bars)
        if is_any:
            width = self.viewport().width()
            higher = self._column.heightForWidth(width)
            self.setFixedHeight(min(higher if higher >= 0 else self._inner.sizeHint().height(), self._most))
        self.setVisible(is_any)


class ErrorBar(QFrame):
    """One error that does not stop the rest of the window: retry, copy, dismiss."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("errorBar")
        self.setProperty("role", "faultStrip")
        self._text = plain_label("")
        self._text.setObjectName("errorText")
        self._again: Callable[[], object] | None = None
        self._what = self._copied = ""
        self._retry = push_button("Try again", "errorBarRetryButton", self._run_again)
        copy = push_button("Copy", "errorBarCopyButton", self._copy)
        dismiss = push_button("Dismiss", "errorBarDismissButton", self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(IconLabel("fault", "fault"))
        layout.addWidget(self._text, 1)
        for button in (self._retry, copy, dismiss):
            layout.addWidget(button)
        self.hide()

    def show_error(self, what: str, error: BaseException, again: Callable[[], object] | None = None) -> None:
        """Show an error until it is dismissed or another one comes."""
        self._again, self._what = again, what
        self._retry.setVisible(again is not None)
        self._copied = f"{what}: {error_kind(error)}: {error_text(error)}"
        self._text.setText(f"{what}. {error_text(error)}")
        self.show()

    def settle(self, what: str) -> None:
        """Take away an error whose heading has these words: that is done by now."""
        if what in self._what:
            self.hide()

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _run_again(self) -> None:
        self.hide()
        if self._again is not None:
            self._again()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._copied)


class ReadingStrip(QFrame):
    """A document is still being read while its first rows are shown: how far, and Cancel."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("readingStrip")
        self._text = plain_label("", role="muted", wrap=False)
        self._bar = QProgressBar()
        self._bar.setAccessibleName("Reading progress")
        self._bar.setTextVisible(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.SMALL, theme.MEDIUM, theme.SMALL)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(self._text)
        layout.addWidget(self._bar, 1)
        layout.addWidget(push_button("Cancel", "readingCancelButton", self.cancelled.emit))
        self.hide()

    def set_progress(self, title: str, done: int, total: int | None) -> None:
        """Show how many bytes are read."""
        amount = size_text(done) + (f" of {size_text(total)}" if total else "")
        self._text.setText(f"Reading {one_line(title)}: {amount}")
        show_progress(self._bar, done, total)

    def set_stage(self, title: str, stage: str) -> None:
        """Show what is done when all is read; its end is not known."""
        self._text.setText(f"{stage} of {one_line(title)}")
        self._bar.setRange(0, 0)


class NoteBar(QFrame):
    """One line over the tabs about something that is open: what is to be known, what can be done, Dismiss.

    Parameters
    ----------
    name
        Begins the names of its widgets.
    icon
        Its name and colour.
    role
        How it looks: ``trustStrip`` or ``noteStrip``.
    verb, title
        What can be done: the name and the title of its button.

    Signals
    -------
    wanted()
        What the button offers.
    dismissed()
        The user does not want to be told.
    """

    wanted = Signal()
    dismissed = Signal()

    def __init__(self, name: str, icon: tuple[str, str], role: str, verb: str, title: str) -> None:
        super().__init__()
        self.setObjectName(f"{name}Bar")
        self.setProperty("role", role)
        self._dismissed: object = None
        self._about: object = None
        self.button = push_button(title, f"{name}{verb}Button", self.wanted.emit)
        dismiss = push_button("Dismiss", f"{name}DismissButton", self._dismiss)
        self._text = fill_bar(self, f"{name}Text", IconLabel(*icon), (self.button, dismiss))
        self.hide()

    def show_for(self, about: object, words: str) -> None:
        """Say something, unless what was said of this was dismissed; nothing hides the bar."""
        self._about = about
        self._text.setText(words)
        self.setVisible(bool(words) and about != self._dismissed)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _dismiss(self) -> None:
        self._dismissed = self._about
        self.dismissed.emit()
        self.hide()


class DamageBar(NoteBar):
    """Tells what is damaged in the file of one document; its button writes what is sound."""

    def __init__(self) -> None:
        super().__init__("damage", ("warning", "warning"), "trustStrip", "Repair", "Repair…")

    def set_document(self, document: OpenDocument | None) -> None:
        """Say where the file of this document is damaged; nothing where it is sound."""
        shown = document if document is not None and document.is_open else None
        damage = () if shown is None or shown.dataset is None else shown.dataset.damage
        words, repair = ("", "") if shown is None or not damage else shown.part.damage_words(damage)
        self.button.setText(repair)
        self.button.setVisible(bool(repair))
        self.show_for(None if shown is None else shown.part.subject, words)


class LockBar(NoteBar):
    """Tells which files of one document are not those of its lock; its button shows them, to be accepted."""

    def __init__(self) -> None:
        super().__init__("lock", ("warning", "warning"), "trustStrip", "Accept", "Accept the new state…")

    def set_document(self, document: OpenDocument | None) -> None:
        """Say it of this document; nothing where none was found."""
        from refbrowser.views.locks import stale_words

        stale = () if document is None or not document.is_open else document.lock.stale
        # More of them are news, though the others were dismissed.
        self.show_for((document, len(stale)), stale_words(stale))


class MakeBar(NoteBar):
    """Says why the array that is selected in a file of data cannot be referenced; the others can."""

    def __init__(self) -> None:
        super().__init__("make", ("link", "accent"), "noteStrip", "Make", "Make references…")
        self._is_data, self._why_not = False, ""

    def set_document(self, document: OpenDocument | None) -> None:
        """Say it of arrays of this document; nothing where it is no file of data."""
        self._is_data = document is not None and document.is_open and document.is_data
        self._tell()

    def set_array(self, path: str, why_not: str) -> None:
        """Say of the array that is selected why it cannot be referenced; nothing where it can."""
        self._why_not = f"{one_line(path)} cannot be referenced: {one_line(why_not)}." if why_not else ""
        self._tell()

    def _tell(self) -> None:
        self.show_for(self._why_not, self._why_not if self._is_data else "")


#: Losses that are named.
_NAMED = 3


class DiskBar(QFrame):
    """Says that the file of the document is another one, and offers what to do about it.

    Signals
    -------
    compare(), keep(), reload(), follow()
        What the user wants.
    """

    compare = Signal()
    keep = Signal()
    reload = Signal()
    follow = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("diskBar")
        self.setProperty("role", "trustStrip")
        self._compare = push_button("Compare…", "diskCompareButton", self.compare.emit)
        self._compare.setToolTip("Show what differs between this document and the file")
        self._keep = push_button("Keep this version", "diskKeepButton", self.keep.emit)
        self._keep.setToolTip("Keep working on this document; Save replaces the file")
        self._reload = push_button("Reload", "diskReloadButton", self.reload.emit)
        self._reload.setToolTip("Read the file again (F5)")
        self._follow = push_button("Follow", "diskFollowButton", self.follow.emit)
        self._follow.setToolTip("Read the file again now, and whenever it grows")
        buttons = (self._compare, self._keep, self._reload, self._follow)
        self._text = fill_bar(self, "diskText", IconLabel("warning", "warning"), buttons)
        self.hide()

    def set_document(self, document: OpenDocument | None) -> None:
        """Say what others did with the file of this document."""
        state = FileState.SAME if document is None or not document.is_open else document.file.state
        is_told = state not in (FileState.SAME, FileState.FOLLOWED)
        self.setVisible(is_told)
        if document is None or not is_told:
            return
        is_gone = state is FileState.GONE
        what = "was removed or renamed" if is_gone else "was changed by another program"
        mine = " You have unsaved edits here." if document.is_pending else ""
        self._text.setText(f"{one_line(document.name)} {what}.{mine}")
        grows, is_derived = document.file.grows, document.is_derived
        self._compare.setVisible(not is_gone and not is_derived)
        self._keep.setVisible(not is_derived)
        self._reload.setVisible(not is_gone)
        self._follow.setVisible(grows and not is_gone and not document.is_pending)

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()


class CopyBar(QFrame):
    """Says that a copy was written while the document stays what it was, and offers to open it.

    Signals
    -------
    openPath(str)
        Open the copy.
    """

    openPath = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("copyBar")
        self.setProperty("role", "noteStrip")
        self._path = ""
        opening = push_button("Open it", "copyOpenButton", self._open)
        dismiss = push_button("Dismiss", "copyDismissButton", self.hide)
        self._text = fill_bar(self, "copyText", IconLabel("done", "accent"), (opening, dismiss))
        self.hide()

    def show_copy(self, document: OpenDocument, path: str) -> None:
        """Say where the copy is."""
        self._path = path
        self._text.setText(f"A copy was saved as {one_line(path)}. {one_line(document.title)} stays open.")
        self.show()

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()

    def _open(self) -> None:
        self.hide()
        self.openPath.emit(self._path)


class LossBar(QFrame):
    """Says what other software will not find in the file that was just written."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lossBar")
        self.setProperty("role", "trustStrip")
        dismiss = push_button("Dismiss", "lossDismissButton", self.hide)
        self._text = fill_bar(self, "lossText", IconLabel("warning", "warning"), (dismiss,))
        self._text.setWordWrap(True)
        self.hide()

    def show_losses(self, losses: Sequence[Loss]) -> None:
        """Name the first few; nothing is shown where there are none."""
        more = f"; and {len(losses) - _NAMED} more" if len(losses) > _NAMED else ""
        texts = [loss.what if loss.path == "/" else str(loss) for loss in losses[:_NAMED]]
        named = "; ".join(map(one_line, texts))
        self._text.setText(f"For other software the file is not the whole store: {named}{more}.")
        self.setVisible(bool(losses))

    def text(self) -> str:
        """Return the words shown."""
        return self._text.text()


def fill_bar(bar: QFrame, name: str, icon: IconLabel, buttons: tuple[QPushButton, ...]) -> QLabel:
    """Lay a bar out: icon, words, buttons; return the words."""
    text = plain_label("")
    text.setObjectName(name)
    layout = QHBoxLayout(bar)
    layout.setContentsMargins(theme.LARGE, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
    layout.setSpacing(theme.MEDIUM)
    layout.addWidget(icon)
    layout.addWidget(text, 1)
    for button in buttons:
        layout.addWidget(button)
    return text
