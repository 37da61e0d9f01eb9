"""Restores what a window showed: documents first, then each view as soon as its document is read."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QTimer, Signal

from refbrowser.app.plot.colours.colour_maps import all_maps
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.widgets.small_widgets import resize_within_screen
from refbrowser.app.window_states.dock_states import put_back
from refbrowser.app.window_states.told_window import OPTIONS
from refbrowser.errors import RefbrowserError
from refbrowser.views.arrangement.arrangement import Arrangement
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QMainWindow

    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.controller.work import Opened
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.engine.dataset import Dataset
    from refbrowser.views.plot_states.plot_state import PlotState
    from refbrowser.views.window_states.window_state import DocumentState, WindowState

#: Documents that are opened at once: among a thousand each takes 30 ms.
TOGETHER = 20
#: What tells a document from others: its path, and what computes it.
_Key = tuple[str, str]


class RestoredWindow(QObject):
    """Restores one window. It opens documents as the user would: none is trusted for being named.

    Signals
    -------
    missed(object)
        Documents that could not be opened: the `DocumentState` of each, once nothing more is awaited.
    told(str)
        What is to be known about what was restored.
    """

    missed = Signal(object)
    told = Signal(str)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._documents: dict[_Key, OpenDocument] = {}
        self._states: dict[_Key, DocumentState] = {}
        #: What is still awaited: documents that are being read, and views of each.
        self._awaited: set[_Key] = set()
        self._views: dict[_Key, list[tuple[PlotPane, PlotState]]] = {}
        self._shown: dict[PlotPane, tuple[_Key, PlotPane, PlotState]] = {}
        self._missed: list[DocumentState] = []
        self._current: _Key | None = None
        self._state: WindowState | None = None
        self._computing: list[Latest] = []
        #: What is being computed, or was.
        self._begun: set[_Key] = set()
        self._unopened: list[_Key] = []
        workspace.documents.removed.connect(self._removed)

    def restore(self, state: WindowState) -> None:
        """Open what a value names in a window that shows nothing, and show it so."""
        workspace = self._workspace
        self._state = state
        window = cast("QMainWindow", workspace.window())
        _resize(window, state)
        put_back(window, workspace.docks, state.docks, is_folded=state.is_bottom_folded)
        for paths in state.sets:
            workspace.documents.add_set(paths)
        self._states = {(each.path, each.expression): each for each in state.documents}
        if 0 <= state.current < len(state.documents):
            current = state.documents[state.current]
            self._current = current.path, current.expression
        self._awaited = set(self._states)
        self._unopened = [key for key, each in self._states.items() if not each.expression]
        self._open_some()
        self._show_current()
        self._compute_ready()
        workspace.prepare_plot()
        if workspace.centre.views is None:
            workspace.centre.tableMade.connect(self._arrange)
        else:
            self._arrange()
        self._look_for_end()

    def find(self, missing: Sequence[DocumentState], found: str) -> None:
        """Open documents that could not be opened where the first of them is now, and others beside it."""
        first, folder = missing[0], os.path.dirname(found)
        moved = {first.path: found}
        for each in missing[1:]:
            if os.path.dirname(each.path) == os.path.dirname(first.path):
                moved[each.path] = os.path.join(folder, os.path.basename(each.path))
        self._missed = [each for each in missing if each.path not in moved]
        for each in missing:
            if each.path not in moved:
                continue
            key, path = (each.path, each.expression), moved[each.path]
            failed = self._documents.pop(key, None)
            if failed is not None and failed in self._workspace.documents.all():
                self._workspace.documents.close(failed)
            again = path, each.expression
            self._states[again] = replace(self._states.pop(key), path=path)
            self._views[again] = [
                (pane, replace(state, path=path)) for pane, state in self._views.pop(key, [])
            ]
            self._awaited.add(again)
            if self._current == key:
                self._current = again
            self._open(again, self._states[again])
        self._look_for_end()

    def give_up(self) -> None:
        """Open no more documents."""
        self._unopened.clear()

    # Documents

    def _open_some(self) -> None:
        """Open the documents that are next; between them the window does what else there is."""
        for key in self._unopened[:TOGETHER]:
            self._open(key, self._states[key])
        del self._unopened[:TOGETHER]
        if self._unopened:
            QTimer.singleShot(0, self, self._open_some)

    def _removed(self, document: OpenDocument) -> None:
        """Hold nothing of a closed document: it may be large."""
        for key in [key for key, each in self._documents.items() if each is document]:
            del self._documents[key]

    def _open(self, key: _Key, state: DocumentState) -> None:
        options = {name: state.options[name] for name in OPTIONS if name in state.options}
        document = self._workspace.documents.open(state.path, options=options)
        self._documents[key] = document
        # No array of it is drawn for being the first.
        self._workspace.navigation.leave_alone(document)
        if document.hierarchy is not None:
            self._came(key)
            return
        document.hierarchyChanged.connect(lambda _extent: self._came(key))
        document.openFailed.connect(lambda _error: self._failed(key))

    def _came(self, key: _Key) -> None:
        """Show the views of a document that was read, the first time that it was."""
        if key not in self._awaited and key not in self._views:
            return
        self._awaited.discard(key)
        for pane, state in self._views.pop(key, []):
            self._show(key, pane, state)
        self._compute_ready()
        self._look_for_end()

    def _failed(self, key: _Key) -> None:
        if key in self._awaited:
            self._awaited.discard(key)
            self._missed.append(self._states[key])
            self._compute_ready()
            self._look_for_end()

    def _show_current(self) -> OpenDocument | None:
        """Let the document that was shown be so again, where it is open."""
        current = None if self._current is None else self._documents.get(self._current)
        if current is not None:
            self._workspace.documents.set_current(current)
        return current

    # What is computed

    def _compute_ready(self) -> None:
        """Compute what all documents are there for; what one is missing of is missed, too."""
        for key in [key for key in self._awaited if key[1] and key not in self._begun]:
            state = self._states[key]
            needed = {"": state.path, **state.documents}
            hosts = {label: self._documents.get((path, "")) for label, path in needed.items()}
            if any((path, "") in self._awaited for path in needed.values()):
                continue
            datasets = {label: host.dataset for label, host in hosts.items() if host is not None}
            if len(datasets) < len(needed) or None in datasets.values():
                self._failed(key)
                return
            self._begun.add(key)
            self._compute(key, state, cast("dict[str, Dataset]", datasets))

    def _compute(self, key: _Key, state: DocumentState, datasets: dict[str, Dataset]) -> None:
        host = self._documents[state.path, ""]
        latest = Latest(self, f"restore {len(self._computing)}")
        self._computing.append(latest)

        def compute(control: TaskControl) -> tuple[str, Opened]:
            from refbrowser.app.controller.work import Opened, state_of
            from refbrowser.references.document.history import History
            from refbrowser.tools.read.public import compute

            others = {label: dataset for label, dataset in datasets.items() if label}
            array = compute(
                datasets[""], state.expression, others, long_name=state.long_name, progress=control
            )
            made = array.dataset
            return array.name, Opened(History(made.document), state_of(made, None), None)

        def done(made: tuple[str, Opened]) -> None:
            name, opened = made
            path = os.path.join(os.path.dirname(state.path), name)
            document = self._documents[key] = self._workspace.documents.add_made(path, opened)
            self._workspace.navigation.leave_alone(document)
            self._came(key)

        latest.run(
            host, f"Compute {one_line(state.expression)}", compute, done, lambda _error: self._failed(key)
        )

    # Views

    def _arrange(self) -> None:
        """Arrange the views, once there can be any, and show those whose documents were read."""
        centre, state = self._workspace.centre, self._state
        if centre.views is None or state is None:
            return
        self._state = None
        panes = [centre.views.active]
        try:
            arrangement = Arrangement.from_json(state.arrangement) if state.arrangement else None
            if arrangement is not None and arrangement.count == len(state.plots):
                panes = centre.views.restore(arrangement)
        except RefbrowserError as error:
            self.told.emit(f"The views are not arranged as they were: {error}")
        for pane, each in zip(panes, state.plots, strict=False):
            if each is not None:
                key = each.path, each.expression
                if key in self._awaited or key not in self._documents:
                    self._views.setdefault(key, []).append((pane, each))
                else:
                    self._show(key, pane, each)
        self._show_tab(state.tab)
        self._look_for_end()

    def _show(self, key: _Key, pane: PlotPane, state: PlotState) -> None:
        document = self._documents[key]
        if document.hierarchy is None:
            return
        self._shown[pane] = key, pane, state
        if state.colour_map and state.colour_map not in all_maps():
            name = one_line(state.colour_map)
            self.told.emit(f"The colour table {name} is not here: {pane.look().options.map_title} is shown")
        try:
            pane.restore(document, state)
        except RefbrowserError as error:
            self.told.emit(f"{one_line(document.title)}: {error}")

    def _show_tab(self, title: str) -> None:
        tabs = self._workspace.centre.tabs
        for number in range(tabs.count()):
            if title and tabs.tabText(number) == title and tabs.isTabVisible(number):
                tabs.setCurrentIndex(number)

    def _look_for_end(self) -> None:
        """Select what was selected, and say what is missing, once nothing is awaited any more."""
        if self._awaited or self._state is not None:
            return
        for key, document in self._documents.items():
            self._workspace.hierarchy.expand_groups(document, self._states[key].expanded)
        current, views = self._show_current(), self._workspace.centre.views
        active = None if views is None else self._shown.get(views.active)
        if active is not None and views is not None:
            if views.active.source() is not self._documents.get(active[0]):
                # Another document, which was made later, took its place for a moment.
                self._show(*active)
            self._workspace.navigation.follow_view(views.active)
        elif current is not None and self._current is not None and current.hierarchy is not None:
            self._workspace.hierarchy.select_node(current, self._states[self._current].selected or "/")
        self._current = None
        self._shown.clear()
        missed, self._missed = self._missed, []
        if missed:
            self.missed.emit(missed)


def _resize(window: QMainWindow, state: WindowState) -> None:
    """Let a window be as large as a value says, as far as the screen has room."""
    if state.width and state.height:
        if window.isMaximized() and not state.is_maximised:
            window.showNormal()
        if not window.isMaximized():
            resize_within_screen(window, state.width, state.height)
    if state.is_maximised and window.isVisible():
        window.showMaximized()
