"""The main window: its panes, and what flows between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QToolBar

from refbrowser.app.actions.actions import Actions
from refbrowser.app.settings.settings import Settings
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.docks import Docks
from refbrowser.app.workspace.start_pane import StartPane

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

    from refbrowser.app.commands.context_menus import ContextMenus
    from refbrowser.app.comparing.compared_side import ComparedSide
    from refbrowser.app.controller.documents import Documents
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.dialogs.questions import Questions
    from refbrowser.app.docks.audit_dock import AuditDock
    from refbrowser.app.docks.byte_docks import ByteDocks
    from refbrowser.app.docks.chunk_map_dock import ChunkMapDock
    from refbrowser.app.panes.attributes_pane import AttributesPane
    from refbrowser.app.panes.explain_pane import ExplainPane
    from refbrowser.app.panes.hierarchy_pane import HierarchyPane
    from refbrowser.app.panes.history_pane import HistoryPane
    from refbrowser.app.panes.jobs_pane import JobsPane
    from refbrowser.app.panes.problems_pane import ProblemsPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.settings.preferences import Preferences
    from refbrowser.app.shell.commands import Commands
    from refbrowser.app.shell.drops import DropTarget
    from refbrowser.app.shell.following import DocumentFollower, Filing
    from refbrowser.app.shell.format_places import FormatPlaces
    from refbrowser.app.tasks.tasks import Tasks
    from refbrowser.app.widgets.elided_label import ElidedLabel
    from refbrowser.app.workspace.centre import Centre
    from refbrowser.app.workspace.editor_stack import EditorStack
    from refbrowser.app.workspace.host import FormatPage
    from refbrowser.app.workspace.layout_kept import LayoutKept, PlotAlone
    from refbrowser.app.workspace.navigation import Navigation
    from refbrowser.app.workspace.status_line import StatusLine


#: Height that the desktop's frame around the window takes, about.
FRAME = 40


class MainWindow(QMainWindow):
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

    tasks: Tasks
    documents: Documents
    questions: Questions
    hierarchy: HierarchyPane
    attributes: AttributesPane
    editors: EditorStack
    explain: ExplainPane
    jobs: JobsPane
    centre: Centre
    navigation: Navigation
    chunk_map: ChunkMapDock
    byte_docks: ByteDocks
    audit: AuditDock
    commands: Commands
    context_menus: ContextMenus
    status: StatusLine
    summary: ElidedLabel
    drops: DropTarget
    follower: DocumentFollower
    plot_alone: PlotAlone
    filing: Filing
    formats: FormatPlaces
    problems: ProblemsPane
    history: HistoryPane
    preferences: Preferences
    layout_kept: LayoutKept
    is_complete = False

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("refbrowser")
        self.setContentsMargins(theme.MEDIUM - 2, 0, theme.MEDIUM - 2, 0)
        self.settings = settings or Settings()
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

    # Building

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
        """Make the panes, once, right after the first paint: they take as long as the window itself."""
        from refbrowser.app.commands.context_menus import ContextMenus
        from refbrowser.app.commands.files import RecentMenu
        from refbrowser.app.controller.documents import Documents
        from refbrowser.app.dialogs.questions import Questions
        from refbrowser.app.docks.audit_dock import AuditDock
        from refbrowser.app.docks.byte_docks import ByteDocks
        from refbrowser.app.docks.chunk_map_dock import ChunkMapDock
        from refbrowser.app.panes.attributes_pane import AttributesPane
        from refbrowser.app.panes.explain_pane import ExplainPane
        from refbrowser.app.panes.hierarchy_pane import HierarchyPane
        from refbrowser.app.panes.history_pane import HistoryPane
        from refbrowser.app.panes.jobs_pane import JobsPane
        from refbrowser.app.panes.problems_pane import ProblemsPane
        from refbrowser.app.settings.preferences import Preferences
        from refbrowser.app.shell.drops import DropTarget
        from refbrowser.app.shell.following import DocumentFollower, Filing
        from refbrowser.app.shell.format_places import FormatPlaces
        from refbrowser.app.shell.preferences_in_force import PreferencesInForce
        from refbrowser.app.tasks.tasks import Tasks
        from refbrowser.app.widgets.elided_label import ElidedLabel
        from refbrowser.app.workspace.centre import Centre
        from refbrowser.app.workspace.editor_stack import EditorStack
        from refbrowser.app.workspace.keyboard import UndoKeys
        from refbrowser.app.workspace.layout_kept import LayoutKept, PlotAlone
        from refbrowser.app.workspace.navigation import Navigation
        from refbrowser.app.workspace.status_line import StatusLine

        if self.is_complete:
            return
        self.tasks = Tasks(self)
        self.documents = Documents(self.tasks, self)
        self.documents.kept_options = self.settings.options
        self.questions = Questions(self)
        self.preferences = Preferences(self.settings, self)
        self.hierarchy = HierarchyPane()
        self.attributes = AttributesPane()
        self.editors = EditorStack()
        self.explain = ExplainPane()
        self.jobs = JobsPane(self.tasks)
        self.problems = ProblemsPane(self.documents)
        self.history = HistoryPane()
        self._start.complete(self.settings.recent(), self.settings.more_words)
        self.takeCentralWidget()
        self.centre = Centre(self._start)
        self.setCentralWidget(self.centre)
        self._fill_docks()
        self.summary = ElidedLabel("nodeSummary", role="muted", elide=Qt.TextElideMode.ElideMiddle)
        self.summary.setMargin(theme.SMALL)
        self.tool_bar.addWidget(self.summary)
        self.status = StatusLine(self.statusBar(), self.tasks)
        self.navigation = Navigation(
            self,
            centre=self.centre,
            docks=self.docks,
            hierarchy=self.hierarchy,
            attributes=self.attributes,
            editors=self.editors,
            settings=self.settings,
            preferences=self.preferences,
            summary=self.summary,
        )
        self.chunk_map = ChunkMapDock(self, centre=self.centre, docks=self.docks, navigation=self.navigation)
        self.byte_docks = ByteDocks(self, centre=self.centre, docks=self.docks, navigation=self.navigation)
        self.audit = AuditDock(self, centre=self.centre, docks=self.docks, hierarchy=self.hierarchy)
        self.plot_alone = PlotAlone(
            self, centre=self.centre, docks=self.docks, tool_bar=self.tool_bar, actions=self.actions_
        )
        self.layout_kept = LayoutKept(
            self, centre=self.centre, docks=self.docks, attributes=self.attributes, settings=self.settings
        )
        self.follower = DocumentFollower(
            self,
            centre=self.centre,
            hierarchy=self.hierarchy,
            attributes=self.attributes,
            editors=self.editors,
            explain=self.explain,
            problems=self.problems,
            navigation=self.navigation,
            chunk_map=self.chunk_map,
            settings=self.settings,
            status=self.status,
            summary=self.summary,
            prepare_plot=self.prepare_plot,
        )
        # After the panes follow a document: what a tab selects is in the tree then.
        self.formats = FormatPlaces(self, actions=self.actions_, layout_kept=self.layout_kept)
        self.commands = self._make_commands()
        self.context_menus = ContextMenus(
            self, centre=self.centre, hierarchy=self.hierarchy, actions=self.actions_
        )
        self.actions_.complete(self.commands.table())
        self._add_dock_actions()
        files = self.commands.files
        compare = self.commands.comparing.compare_paths
        self.drops = DropTarget(self, files.make_of, files.combine_of, compare)
        self.plot_alone.changed.connect(self.update_actions)
        self.docks.folded.connect(self.update_actions)
        self.filing = Filing(
            self,
            centre=self.centre,
            hierarchy=self.hierarchy,
            attributes=self.attributes,
            problems=self.problems,
            history=self.history,
            settings=self.settings,
            status=self.status,
            problem_commands=self.commands.problems,
            saving=self.commands.saving,
            actions=self.actions_,
            files=self.commands.files,
        )
        self._connect()
        self.layout_kept.restore()
        PreferencesInForce(self, centre=self.centre, attributes=self.attributes, preferences=self.preferences)
        RecentMenu(self, self.actions_, self.settings)
        UndoKeys(self)
        self.is_complete = True
        self.update_actions()
        # After the panes have told their sizes to the layout, which would push aside what was kept.
        QTimer.singleShot(0, self._share_out_docks if self._is_new_layout else self._restore_docks)
        self.hierarchy.tree.setFocus()

    def _make_commands(self) -> Commands:
        from refbrowser.app.commands.auditing import AuditCommands
        from refbrowser.app.commands.comparing import CompareCommands
        from refbrowser.app.commands.copying import CopyCommands
        from refbrowser.app.commands.explain import ExplainCommands
        from refbrowser.app.commands.files import CdlCommands, FileCommands, PermissionCommands
        from refbrowser.app.commands.plotting import DataCommands, ExploreCommands
        from refbrowser.app.commands.problems import ProblemCommands
        from refbrowser.app.commands.references import EditCommands, PrefixCommands, ReferenceCommands
        from refbrowser.app.commands.saving import LockCommands, SaveCommands
        from refbrowser.app.commands.serving import ServiceCommands
        from refbrowser.app.commands.values import ValueCommands
        from refbrowser.app.commands.view import FindCommands, HelpCommands, PreferenceCommands, ViewCommands
        from refbrowser.app.shell.commands import Commands

        permissions = PermissionCommands(self)
        preferences = PreferenceCommands(self, preferences=self.preferences)
        copying = CopyCommands(self, centre=self.centre, hierarchy=self.hierarchy, navigation=self.navigation)
        prefixes = PrefixCommands(
            self,
            centre=self.centre,
            docks=self.docks,
            hierarchy=self.hierarchy,
            editors=self.editors,
            navigation=self.navigation,
            connect=permissions.connect_origin,
        )
        locks = LockCommands(self, centre=self.centre, preferences=self.preferences)
        problems = ProblemCommands(
            self,
            centre=self.centre,
            docks=self.docks,
            hierarchy=self.hierarchy,
            attributes=self.attributes,
            editors=self.editors,
            problems=self.problems,
            history=self.history,
            permissions=permissions,
            prefixes=prefixes,
            accept_stale=locks.accept_stale,
        )
        explain = ExplainCommands(
            self,
            centre=self.centre,
            docks=self.docks,
            hierarchy=self.hierarchy,
            attributes=self.attributes,
            editors=self.editors,
            explain=self.explain,
            problems=self.problems,
            navigation=self.navigation,
            chunk_map=self.chunk_map,
            actions=self.actions_,
            permissions=permissions,
            accept_stale=locks.accept_stale,
        )
        return Commands(
            files=FileCommands(
                self,
                centre=self.centre,
                navigation=self.navigation,
                settings=self.settings,
                permissions=permissions,
                change_compute=preferences.compute,
            ),
            saving=SaveCommands(self, centre=self.centre, problem_commands=problems),
            comparing=CompareCommands(self, centre=self.centre, navigation=self.navigation),
            problems=problems,
            locks=locks,
            auditing=AuditCommands(
                self,
                audit=self.audit,
                chunk_map=self.chunk_map,
                docks=self.docks,
                problems=problems,
                explain=explain,
                permissions=permissions,
                navigation=self.navigation,
            ),
            edit=EditCommands(self, docks=self.docks, editors=self.editors),
            references=ReferenceCommands(
                self,
                centre=self.centre,
                docks=self.docks,
                hierarchy=self.hierarchy,
                editors=self.editors,
                actions=self.actions_,
            ),
            prefixes=prefixes,
            data=DataCommands(self, centre=self.centre),
            permissions=permissions,
            view=ViewCommands(
                self,
                centre=self.centre,
                docks=self.docks,
                hierarchy=self.hierarchy,
                jobs=self.jobs,
                plot_alone=self.plot_alone,
                layout_kept=self.layout_kept,
                byte_docks=self.byte_docks,
            ),
            find=FindCommands(self, docks=self.docks, navigation=self.navigation, actions=self.actions_),
            preferences=preferences,
            values=ValueCommands(self, centre=self.centre, settings=self.settings, permissions=permissions),
            copying=copying,
            explain=explain,
            cdl=CdlCommands(self),
            exploring=ExploreCommands(self, centre=self.centre),
            help=HelpCommands(self, actions=self.actions_),
            services=ServiceCommands(self, permissions=permissions, copying=copying, status=self.status),
            formats=self.formats,
        )

    def _fill_docks(self) -> None:
        self.docks.fill(
            {
                "hierarchyDock": self.hierarchy,
                "attributesDock": self.attributes,
                "explainDock": self.explain,
                "editorDock": self.editors,
                "previewDock": self.editors.preview_slot,
                "jobsDock": self.jobs,
                "problemsDock": self.problems,
                "historyDock": self.history,
            }
        )

    def _add_dock_actions(self) -> None:
        panes = self.actions_.menu("&View").addMenu("Pa&nes")
        for dock in self.docks.all():
            action = dock.toggleViewAction()
            action.setObjectName(f"action_toggle_{dock.objectName()}")
            panes.addAction(action)

    def _connect(self) -> None:
        self.centre.start.openFiles.connect(self.commands.files.open_files)
        self.centre.start.openStore.connect(self.commands.files.open_store)
        self.centre.start.openUrl.connect(self.commands.files.open_url)
        self.centre.start.openSample.connect(self.commands.files.open_sample)
        self.centre.start.openPath.connect(self.open_recent)
        self.centre.trust_bar.review.connect(self.commands.permissions.review_trust)
        self.centre.trust_bar.allowed.connect(self.commands.permissions.allow_this_time)
        self.commands.permissions.connect_recovery(self.centre.recovery_bar)
        self.commands.explain.connect_view()
        self.chunk_map.made.connect(self.commands.explain.connect_map)
        self.byte_docks.explainWanted.connect(self.commands.explain.explain_key)
        self.byte_docks.exportWanted.connect(self.commands.files.export_with_chunks)
        self.audit.made.connect(self.commands.auditing.connect_pane)
        self.follower.damaged.connect(self.formats.read_again)
        self.commands.copying.connect_panes()
        self.context_menus.connect_panes()
        self.commands.references.connect_table()
        self.commands.prefixes.connect_editors()
        self.centre.raw.permissionWanted.connect(self.commands.permissions.review_trust)
        self.centre.cdl.saveWanted.connect(self.commands.cdl.save_cdl)
        self.centre.plotMade.connect(self._plot_made)
        self.centre.restyled.connect(self.actions_.set_icons)
        self.centre.make_bar.wanted.connect(self.commands.files.make_references)
        self.centre.openPaths.connect(self.commands.files.open_instead)
        self.centre.combineWanted.connect(self.commands.files.combine_instead)
        self.centre.makeWanted.connect(self.commands.files.make_instead)
        self.centre.referencesWanted.connect(self.commands.files.look_for_references)
        self.status.jobsWanted.connect(self.commands.view.show_jobs)
        self.status.serviceWanted.connect(self.commands.copying.put)
        self.tasks.busyChanged.connect(self._busy_changed)
        self.tasks.failed.connect(lambda error: self.centre.error_bar.show_error("A job failed", error))

    def _plot_made(self, plot: PlotPane) -> None:
        plot.elementHovered.connect(self.status.point_out)
        plot.backWanted.connect(self.plot_alone.leave)
        plot.set_alone(is_alone=self.plot_alone.is_on)
        plot.chunkActivated.connect(self.navigation.select_key)
        self.commands.explain.connect_plot(plot)
        plot.trustReviewRequested.connect(self.commands.permissions.review_trust)
        self.commands.values.connect_table()
        self.commands.copying.connect_plot()
        self.context_menus.connect_views()
        self.navigation.plot_current()

    def _busy_changed(self) -> None:
        holds = self.commands.view.conditions()["is_busy"]
        self.actions_.set_condition("is_busy", holds=holds)

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

    # Opening

    def open_path(
        self,
        path: str,
        array: str | None = None,
        values: Mapping[str, str] | None = None,
        allow: Sequence[str] = (),
        options: Mapping[str, Any] | None = None,
    ) -> OpenDocument:
        """Open a document or a store, and select one of its arrays when it is read."""
        document = self.documents.open(path, values, allow, options)
        if array is not None:
            self.navigation.select_when_read(document, array)
        return document

    def open_recent(self, path: str) -> OpenDocument:
        """Open a document that was opened lately, as it was opened then, and those opened with it."""
        together = self.settings.together(path)
        if len(together) > 1:
            self.open_all(together)
        flavour = self.settings.flavour(path)
        return self.open_path(path, options={"flavour": flavour} if flavour else None)

    def open_all(self, paths: Sequence[str]) -> None:
        """Open several documents; the last one is shown, and all are one entry of those opened lately."""
        self.settings.keep_together(paths)
        for path in paths:
            self.open_path(path)

    def show_unexpected(self, error: BaseException) -> None:
        """Say that something went wrong that should not have; the window stays."""
        for document in self.documents.all():
            document.journal.flush()
        self.centre.error_bar.show_error("Something unexpected happened", error)

    def say(self, words: str) -> None:
        """Show words in the status line for a while."""
        self.status.say(words)

    def compare(self, here: ComparedSide, there: ComparedSide) -> None:
        """Show what differs between two sides, in a window of its own."""
        self.commands.comparing.show(here, there)

    def show_error(self, title: str, error: BaseException, again: Callable[[], object] | None = None) -> None:
        """Show an error over the tabs; `again` tries what failed once more."""
        self.centre.error_bar.show_error(title, error, again)

    def page(self, name: str) -> FormatPage | None:
        """Return a page that a format adds, by its name; None where it is not made yet."""
        return self.formats.page(name)

    def review_trust(self) -> None:
        """Show what the current document wants to read."""
        self.commands.permissions.review_trust()

    def update_actions(self) -> None:
        """Enable each action that can be used now."""
        self.actions_.update(self.commands.conditions())

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
            self.drops.overlay.setGeometry(self.rect())

    # Not by a filter of events, which would be asked about each. Only complete windows take drops.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self.drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drops.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drops.drop(event)

    def _first_painted(self) -> None:
        self.firstPainted.emit()
        self.complete()
        self.ready.emit()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Take Tab through the panes that are seen."""
        from refbrowser.app.workspace.keyboard import move_focus

        return move_focus(self, forward)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.is_complete:
            super().closeEvent(event)
            return
        if not self.commands.saving.may_close():
            event.ignore()
            return
        self.plot_alone.leave()
        self.settings.set_layout(self.saveGeometry(), self.saveState())
        self.layout_kept.keep()
        for document in self.documents.all():
            self.documents.close(document)
        self.filing.close()
        self.documents.close_session()
        self.tasks.close()
        super().closeEvent(event)
