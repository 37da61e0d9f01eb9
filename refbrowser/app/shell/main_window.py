"""The main window: its frame, menus and empty docks first, its parts right after the first paint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QToolBar

from refbrowser.app.actions.action_spec import Changed
from refbrowser.app.actions.actions import Actions
from refbrowser.app.frame.start_pane import StartPane
from refbrowser.app.settings.settings import Settings
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.docks import Docks
from refbrowser.app.workspace.workspace import Workspace

if TYPE_CHECKING:
    from PySide6.QtGui import (
        QCloseEvent,
        QDragEnterEvent,
        QDragLeaveEvent,
        QDragMoveEvent,
        QDropEvent,
        QPaintEvent,
        QResizeEvent,
    )

    from refbrowser.app.shell.window_parts import Parts
    from refbrowser.app.window_states.kept_window import KeptWindow


#: Height that the desktop's frame around the window takes, about.
FRAME = 40


class MainWindow(QMainWindow, Workspace):
    """The window: frame, menus and empty docks first, its panes right after the first paint (`complete`).

    Signals
    -------
    firstPainted()
        The window was painted for the first time.
    ready()
        The panes are there too; reading and loading begin.
    """

    firstPainted = Signal()
    ready = Signal()

    parts: Parts
    is_complete = False
    #: Keeps on disk what is shown; None where nothing is kept.
    kept: KeptWindow | None = None

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("refbrowser")
        self.setContentsMargins(theme.MEDIUM - 2, 0, theme.MEDIUM - 2, 0)
        self.settings = settings or Settings()
        self.pages = {}
        self._painted = False
        self._is_new_layout = False
        #: Whether docks have the sizes that they begin with: what differs from these is the user's.
        self._are_docks_placed = False
        self._start = StartPane()
        self.setCentralWidget(self._start)
        self.actions_ = Actions(self)
        self.docks = Docks(self)
        self._fill_bars()
        self.statusBar().setSizeGripEnabled(False)
        self._restore_layout()

    def _fill_bars(self) -> None:
        self.actions_.add_menus(self.menuBar())
        bar = self.tool_bar = QToolBar("Main")
        bar.setObjectName("mainToolBar")
        bar.setMovable(False)
        bar.setIconSize(QSize(16, 16))
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.actions_.fill_toolbar(bar)
        bar.addSeparator()
        self.addToolBar(bar)

    def complete(self) -> None:
        """Make the parts, once, right after the first paint: they take as long as the window itself."""
        if self.is_complete:
            return
        from refbrowser.app.shell.window_parts import make_parts

        self.parts = make_parts(self, self, self._start)
        self.is_complete = True
        self.update_actions()
        # After the panes have told their sizes to the layout, which would push aside what was kept.
        QTimer.singleShot(0, self._share_out_docks if self._is_new_layout else self._restore_docks)
        self.hierarchy.tree.setFocus()

    def update_actions(self, changed: Changed = Changed.ALL) -> None:
        """Enable each action that can be used now, of those that depend on what changed."""
        self.actions_.update(self.groups.conditions(changed))

    def show_unexpected(self, error: BaseException) -> None:
        """Say that something went wrong that should not have; the window stays."""
        for document in self.documents.all():
            document.journal.flush()
        self.centre.error_bar.show_error("Something unexpected happened", error)

    # The layout

    def lay_out_anew(self) -> None:
        """Forget the layout that was kept; docks get their first sizes when the panes are there."""
        self.docks.reset()
        self._is_new_layout = True

    def _restore_layout(self) -> None:
        layout = self.settings.layout()
        if layout is None or not self.restoreGeometry(layout[0]) or not self.restoreState(layout[1]):
            room = self.screen().availableSize()
            self.resize(min(1280, room.width()), min(800, room.height() - FRAME))
            self.lay_out_anew()
        else:
            self.docks.place_new()

    def _restore_docks(self) -> None:
        layout, focused = self.settings.layout(), self.focusWidget()
        if layout is not None:
            self.restoreState(layout[1])
        if focused is not None:
            focused.setFocus()
        self._are_docks_placed = True

    def _share_out_docks(self) -> None:
        self.docks.share_out()
        self._are_docks_placed = True

    # The plotting library

    def prepare_plot(self) -> None:
        """Load the plotting library, once; the plot pane is made when it is there."""
        if self.centre.plot is not None:
            return

        from refbrowser.app.shell.housekeeping import QtNames, plotting

        names = QtNames()
        self.centre.plot_is_coming()

        self.tasks.run(
            "names of Qt",
            self.tasks.PREPARING,
            lambda control: names.wait(control.send, control.check),
            lambda _none: self.tasks.load(
                "prepare plot", plotting(), self.centre.make_plot, self._plot_failed
            ),
            self._plot_failed,
            received=lambda _none: names.make_some(),
        )

    def _plot_failed(self, error: BaseException) -> None:
        self.centre.plot_is_missing()
        self.centre.error_bar.show_error("The plotting library could not be loaded", error, self.prepare_plot)

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self._first_painted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._are_docks_placed:
            self.docks.fit(event.oldSize())
        if self.is_complete:
            self.parts.drops.overlay.setGeometry(self.rect())

    # Not by a filter of events, which would be asked about each. Only complete windows take drops.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.parts.drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self.parts.drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.parts.drops.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.parts.drops.drop(event)

    def _first_painted(self) -> None:
        self.firstPainted.emit()
        self.complete()
        self.ready.emit()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Take Tab through the panes that are seen."""
        from refbrowser.app.frame.keyboard import move_focus

        return move_focus(self, forward)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.is_complete:
            super().closeEvent(event)
            return
        from refbrowser.app.commands.saving import SaveCommands

        if self.kept is not None:
            self.kept.hold()
        if not self.groups[SaveCommands].may_close():
            event.ignore()
            return
        if self.kept is not None:
            self.kept.end()
            self.kept = None
        self.plot_alone.leave()
        self.settings.set_layout(self.saveGeometry(), self.saveState())
        self.layout_kept.keep()
        for document in self.documents.all():
            self.documents.close(document)
        self.parts.filing.close()
        self.documents.close_session()
        self.tasks.close()
        super().closeEvent(event)
