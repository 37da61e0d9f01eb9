"""Make a window that was used as good as new, so that the tests of a module can share one.

What was opened is closed, what was typed, ticked, chosen and dragged is put back, work is stopped, and
settings, theme, clipboard and focus are those of the start. `test_window_reset.py` compares a window after a
wild walk and a reset with a new one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QSplitter,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid
from window_rest import is_at_rest

from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.plot.colours.colour_maps import DEFAULT_MAP, SPECIAL_MAPS
from refbrowser.app.plot.header import ElementChoice
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.explain.window.commands import ExplainCommands
from refbrowser.views.arrangement.linking import ALL_LINKS
from refbrowser.views.plot.colouring import Quantity

#: The size of the window in tests.
SIZE = (1280, 800)
#: How long a view stands still before it is looked at closer, in milliseconds.
SOON = 25


def _tick(button: QAbstractButton, ticked: bool) -> None:
    if button.isEnabled():
        button.click()
    if button.isChecked() != ticked:
        button.setChecked(ticked)


def _type(line: QLineEdit, text: str) -> None:
    line.setText(text)
    line.textEdited.emit(text)


def _choose(box: QComboBox, index: int) -> None:
    box.setCurrentIndex(index)
    box.activated.emit(index)


class _Input(NamedTuple):
    """What a user sets in widgets of a class: how it is read, and how it is put back."""

    kind: type[QWidget]
    read: Callable[[Any], Any]
    put: Callable[[Any, Any], object]


_INPUTS = (
    _Input(QTabWidget, lambda each: each.currentIndex(), QTabWidget.setCurrentIndex),
    _Input(QLineEdit, lambda each: each.text(), _type),
    _Input(QPlainTextEdit, lambda each: each.toPlainText(), QPlainTextEdit.setPlainText),
    _Input(QAbstractButton, lambda each: each.isChecked(), _tick),
    _Input(QComboBox, lambda each: each.currentIndex(), _choose),
    _Input(QSplitter, lambda each: each.sizes(), QSplitter.setSizes),
    _Input(QHeaderView, lambda each: bytes(each.saveState().data()), QHeaderView.restoreState),
)


@cache
def _kind_of(widget: type[QWidget]) -> _Input | None:
    """Return what users set in widgets of a class."""
    return next((each for each in _INPUTS if issubclass(widget, each.kind)), None)


def forget_settings() -> None:
    """Clear the settings file that the window keeps."""
    kept = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "refbrowser", "refbrowser")
    if kept.allKeys():
        kept.clear()
        kept.sync()


class SharedWindow:
    """A window, and what it looked like when it was new.

    Attributes
    ----------
    window
        The window, with its plot made and nothing opened.
    """

    def __init__(self, qtbot: QtBot) -> None:
        self.window = MainWindow()
        self.window.resize(*SIZE)
        # As a window begins that is so large from the start: the screen of tests is smaller.
        self.window.lay_out_anew()
        self.window.show()
        self.window.complete()
        self.window.prepare_plot()
        # Tests look at what lies below the plot; a low window shows its tabs only at first.
        self.window.docks.fold(is_folded=False)
        self.settle(qtbot)
        for _part in self.window.editors.parts():
            pass
        self._hurry()
        self.settle(qtbot)
        self._others = set(QApplication.topLevelWidgets())
        self._state = self.window.saveState()
        docks = self.window.docks
        self._in_front = [dock for dock in docks.all() if docks.is_seen(dock.objectName())]
        self._known: dict[QWidget, tuple[_Input, Any]] = {}
        self._learn()

    def _hurry(self) -> None:
        """Look closer soon at what stands still: each test would wait for that; windows of their own do."""
        plot, chunks = self.window.centre.plot, self.window.chunk_map.pane
        assert plot is not None
        assert chunks is not None
        for pause in (
            plot._presenter._idle_timer,
            chunks._idle,
            chunks.loader._timer,
            self.window.centre._progress_shown,
        ):
            pause.setInterval(SOON)

    def settle(self, qtbot: QtBot) -> None:
        """Wait until nothing runs in the window and nothing there is put off for a moment."""
        # Again after what was posted, which may begin anew.
        for _ in range(2):
            qtbot.waitUntil(lambda: is_at_rest(self.window))
            QCoreApplication.processEvents()
        qtbot.waitUntil(lambda: is_at_rest(self.window))

    def _learn(self) -> None:
        """Note what stands in widgets that were made meanwhile."""
        for widget in self.window.findChildren(QWidget):
            kind = _kind_of(type(widget))
            if kind is not None and widget not in self._known:
                self._known[widget] = (kind, kind.read(widget))

    def reset(self, qtbot: QtBot) -> None:
        """Make the window as good as new."""
        window = self.window
        # What is shown meanwhile nobody sees: it is painted when all is put back.
        window.setUpdatesEnabled(False)
        # What has the keyboard and is hidden would look among all widgets for who has it next.
        window.hierarchy.tree.setFocus()
        window.tasks.cancel_owners(lambda _owner: True)
        for dialog in self._strangers():
            if isValid(dialog) and isinstance(dialog, QDialog):
                dialog.close()
                dialog.deleteLater()
        window.plot_alone.leave()
        self._forget_views()
        for document in window.documents.all():
            window.documents.close(document)
        for files in list(window.documents.sets):
            window.documents.remove_set(files)
        window.documents.close_session()
        # The pointer leaves what it was on.
        QTest.mouseMove(window, QPoint(1, 1))
        self._forget_plot()
        self._forget_places()
        self._put_back()
        self._forget_proportions()
        window.preferences.restore_defaults()
        forget_settings()
        window.centre.start.set_recent([])
        window.docks.fold(is_folded=False)
        window.docks._formed = 0
        # Mostly another dock was in front: to lay out all of them for that takes longer than all else here.
        for dock in self._in_front:
            if not window.docks.is_seen(dock.objectName()):
                window.docks.raise_(dock.objectName())
        if window.saveState() != self._state or window.size().toTuple() != SIZE:
            window.resize(*SIZE)
            window.docks._wanted.clear()
            window.docks._parts.clear()
            window.restoreState(self._state)
            # What was moved is put together anew.
            if window.saveState() != self._state:
                window.docks.reset()
                window.docks.share_out()
                window.restoreState(self._state)
        QGuiApplication.clipboard().clear()
        window.status.say("")
        window.status._all_read = window.status._all_requests = 0
        window.status._show_jobs()
        for _ in range(3):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QCoreApplication.processEvents()
        self.settle(qtbot)
        self._forget_jobs()
        window.layout_kept.forget()
        window.groups[ExplainCommands].pane.clear()
        window.activateWindow()
        window.hierarchy.tree.setFocus()
        self._learn()
        window.setUpdatesEnabled(True)
        left = [(type(each).__name__, each.objectName()) for each in self._strangers() if each.isVisible()]
        assert not left, f"widgets left alive: {left}"

    def _forget_plot(self) -> None:
        """Forget which slices, parts and colours were chosen."""
        plot = self.window.centre.plot
        assert plot is not None
        presenter, look = plot._presenter, plot.look()
        presenter._choice = ElementChoice()
        presenter._memories.clear()
        plot.tools._kept.clear()
        presenter.pointing.forget()
        look._kept.clear()
        look._maps = {Quantity.PLAIN: DEFAULT_MAP, **SPECIAL_MAPS}
        look.set_map(DEFAULT_MAP)
        look.set_reverse(False)
        look.set_histogram(False)

    def _forget_views(self) -> None:
        """Keep one view, without links."""
        views = self.window.centre.views
        assert views is not None
        views.links.chosen = ALL_LINKS
        views.links.set_on(False)
        views.close_others(views.active)

    def _forget_places(self) -> None:
        """Forget connections, where the last view was written, and what was opened together."""
        self.window.settings._sets.clear()
        self.window.documents._session.settings = {}
        self.window.groups[ValueCommands]._folder = ""

    def _forget_jobs(self) -> None:
        """Forget the jobs that ended, which the window would list again."""
        queue, jobs = self.window.tasks._queue, self.window.jobs
        if queue is not None:
            with queue._changed:
                for number, status in list(queue._statuses.items()):
                    if status.state.finished:
                        del queue._statuses[number]
        jobs.model.beginResetModel()
        jobs.model._rows = []
        jobs.model.endResetModel()

    def _forget_proportions(self) -> None:
        """Forget which sizes were chosen in the plot and beside it, which clicks on buttons chose too."""
        self.window.attributes.tabs.setCurrentIndex(0)
        plot = self.window.centre.plot
        assert plot is not None
        plot.look()._drawing._proportional = {True: True, False: False}
        if plot.values.charts is not None:
            plot.values._rows.setSizes([200, 160])

    def _put_back(self) -> None:
        self._known = {widget: known for widget, known in self._known.items() if isValid(widget)}
        for widget, (kind, before) in list(self._known.items()):
            if isValid(widget) and kind.read(widget) != before:
                kind.put(widget, before)

    def _strangers(self) -> list[QWidget]:
        """Return the windows that were not there when this one was new."""
        found = QApplication.topLevelWidgets()
        return [each for each in found if each not in self._others and not isinstance(each, MainWindow)]

    def delete(self) -> None:
        """Delete a window that was closed."""
        self.window.deleteLater()
        for _ in range(3):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QCoreApplication.processEvents()


def picture_of(window: MainWindow) -> dict[str, tuple[object, ...]]:
    """Return what is seen of a window: per widget its place, whether it is enabled, what it says.

    Widgets are named by their classes and object names from the window down, and by their number among those
    alike.
    """
    found: dict[str, tuple[object, ...]] = {}
    alike: Counter[str] = Counter()

    def look(widget: QWidget, path: str) -> None:
        for child in widget.children():
            if not isinstance(child, QWidget) or child.isWindow():
                continue
            name = f"{path}/{type(child).__name__}:{child.objectName()}"
            alike[name] += 1
            name = f"{name}[{alike[name]}]"
            if not child.visibleRegion().isEmpty():
                texts = [
                    str(child.property(each)) for each in ("text", "plainText", "currentIndex", "checked")
                ]
                found[name] = (child.geometry().getRect(), child.isEnabled(), *texts)
            look(child, name)

    look(window, "")
    return found
