"""Keeps on disk what a window shows, while it is open: a moment after each change, off its thread."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.app.window_states.told_window import window_state

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.io.files.window_files import WindowFile
    from refbrowser.views.window_states.window_state import WindowState

logger = logging.getLogger(__name__)
#: Milliseconds from the first change to the file that has it.
WITHIN = 2_000


class KeptWindow(QObject):
    """Keeps one window until it is closed."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._made: WindowFile | None = None
        self._state: WindowState | None = None
        #: What was shown when the window began to close, before its documents were asked about.
        self._held: WindowState | None = None
        self._soon = one_shot(self, WITHIN, self._keep)
        documents, centre = workspace.documents, workspace.centre
        for changed in (documents.added, documents.removed, documents.currentChanged, documents.setsChanged):
            changed.connect(self._changed)
        centre.plotMade.connect(self._follow)
        centre.viewsChanged.connect(self._changed)
        centre.tabs.currentChanged.connect(self._changed)
        for plot in centre.plots():
            self._follow(plot)

    @property
    def _file(self) -> WindowFile:
        """The file, which is made once it is needed."""
        if self._made is None:
            from refbrowser.io.files.window_files import WindowFile

            self._made = WindowFile()
        return self._made

    def _follow(self, plot: PlotPane) -> None:
        for changed in (plot.viewChanged, plot.optionsChanged, plot.settled):
            changed.connect(self._changed)

    def _changed(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def hold(self) -> None:
        """Note what is shown: the window may be about to close."""
        if self._held is None:
            self._held = window_state(self._workspace)
        self._soon.start()

    def end(self) -> None:
        """Let what was shown be what the last window showed: this one closes now."""
        self._soon.stop()
        state, self._held = self._held or window_state(self._workspace), None
        self._write(state)
        self._file.end()

    def _keep(self) -> None:
        self._held = None
        state = window_state(self._workspace)
        if state == self._state:
            return
        self._state = state
        tasks = self._workspace.tasks

        def write(_control: TaskControl) -> None:
            self._write(state)

        tasks.run("keep window", tasks.PREPARING, write)

    def _write(self, state: WindowState) -> None:
        """Write what is shown; that it cannot be written costs nothing but this."""
        from refbrowser.errors import RefbrowserError
        from refbrowser.views.window_states.session_file import session_text

        try:
            if state.is_empty:
                self._file.remove()
            else:
                self._file.write(session_text(state, "")[0])
        except (OSError, RefbrowserError) as error:
            logger.info("what the window shows is not kept: %s", error)
