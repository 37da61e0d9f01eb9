"""The parts of a window, made right after its first paint, and what flows between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from refbrowser.app.commands.comparing import CompareCommands
from refbrowser.app.commands.context_menus import ContextMenus
from refbrowser.app.commands.copying import CopyCommands
from refbrowser.app.commands.explain import ExplainCommands
from refbrowser.app.commands.files import CdlCommands, FileCommands, PermissionCommands, RecentMenu
from refbrowser.app.commands.groups import GROUPS
from refbrowser.app.commands.references import PrefixCommands, ReferenceCommands
from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.commands.view import ViewCommands
from refbrowser.app.controller.documents import Documents
from refbrowser.app.dialogs.questions import Questions
from refbrowser.app.docks.byte_docks import ByteDocks
from refbrowser.app.docks.chunk_map_dock import ChunkMapDock
from refbrowser.app.frame.centre import Centre
from refbrowser.app.frame.editor_stack import EditorStack
from refbrowser.app.frame.keyboard import UndoKeys
from refbrowser.app.frame.layout_kept import LayoutKept, PlotAlone
from refbrowser.app.frame.navigation import Navigation
from refbrowser.app.frame.status_line import StatusLine
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
from refbrowser.app.shell.tool_places import ToolPlaces, tool_groups
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.workspace.command_group import CommandGroups

if TYPE_CHECKING:
    from refbrowser.app.frame.start_pane import StartPane
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.shell.main_window import MainWindow


def make_parts(window: MainWindow, start: StartPane) -> None:
    """Make the panes, what stands around them, and the commands; and connect them."""
    _make_panes(window)
    start.complete(window.settings.recent(), window.settings.more_words)
    window.takeCentralWidget()
    window.centre = Centre(start)
    window.setCentralWidget(window.centre)
    _make_frame(window)
    _make_commands(window)
    _connect_bars(window)
    _connect_panes(window)
    window.centre.plotMade.connect(lambda plot: _plot_made(window, plot))
    window.layout_kept.restore()
    PreferencesInForce(window)
    RecentMenu(window)
    UndoKeys(window)


def _make_panes(window: MainWindow) -> None:
    window.tasks = Tasks(window)
    window.documents = Documents(window.tasks, window)
    window.documents.kept_options = window.settings.options
    window.questions = Questions(window)
    window.preferences = Preferences(window.settings, window)
    window.hierarchy = HierarchyPane()
    window.attributes = AttributesPane()
    window.editors = EditorStack()
    window.explain = ExplainPane()
    window.jobs = JobsPane(window.tasks)
    window.problems = ProblemsPane(window.documents)
    window.history = HistoryPane()
    window.docks.fill(
        {
            "hierarchyDock": window.hierarchy,
            "attributesDock": window.attributes,
            "explainDock": window.explain,
            "editorDock": window.editors,
            "previewDock": window.editors.preview_slot,
            "jobsDock": window.jobs,
            "problemsDock": window.problems,
            "historyDock": window.history,
        }
    )


def _make_frame(window: MainWindow) -> None:
    """Make what stands around the panes; it is below the workspace, so each part is told what it needs."""
    centre, docks, hierarchy = window.centre, window.docks, window.hierarchy
    window.summary = ElidedLabel("nodeSummary", role="muted", elide=Qt.TextElideMode.ElideMiddle)
    window.summary.setMargin(theme.SMALL)
    window.tool_bar.addWidget(window.summary)
    window.status = StatusLine(window.statusBar(), window.tasks)
    navigation = window.navigation = Navigation(
        window,
        centre=centre,
        docks=docks,
        hierarchy=hierarchy,
        attributes=window.attributes,
        editors=window.editors,
        settings=window.settings,
        preferences=window.preferences,
        summary=window.summary,
    )
    window.chunk_map = ChunkMapDock(window, centre=centre, docks=docks, navigation=navigation)
    window.byte_docks = ByteDocks(window, centre=centre, docks=docks, navigation=navigation)
    window.plot_alone = PlotAlone(
        window, centre=centre, docks=docks, tool_bar=window.tool_bar, actions=window.actions_
    )
    window.layout_kept = LayoutKept(
        window, centre=centre, docks=docks, attributes=window.attributes, settings=window.settings
    )


def _make_commands(window: MainWindow) -> None:
    window.follower = DocumentFollower(window)
    window.groups = groups = CommandGroups(window)
    # After the panes follow a document: what a tab selects is in the tree then. And first of all groups: what
    # formats tell does not take the place of what the others do.
    _ = groups[FormatPlaces], groups[ToolPlaces]
    for kind in (*GROUPS, *tool_groups()):
        _ = groups[kind]
    window.context_menus = ContextMenus(window)
    window.actions_.complete(groups.table())
    window.actions_.add_panes(window.docks.all())
    files = groups[FileCommands]
    window.drops = DropTarget(window, files.make_of, files.combine_of, groups[CompareCommands].compare_paths)
    window.filing = Filing(window)


def _connect_bars(window: MainWindow) -> None:
    """Let the start page and the bars over the tabs do what they offer."""
    centre, groups = window.centre, window.groups
    files, permissions = groups[FileCommands], groups[PermissionCommands]
    centre.start.openFiles.connect(files.open_files)
    centre.start.openStore.connect(files.open_store)
    centre.start.openUrl.connect(files.open_url)
    centre.start.openSample.connect(files.open_sample)
    centre.start.openPath.connect(window.open_recent)
    centre.trust_bar.review.connect(permissions.review_trust)
    centre.trust_bar.allowed.connect(permissions.allow_this_time)
    permissions.connect_recovery(centre.recovery_bar)
    centre.raw.permissionWanted.connect(permissions.review_trust)
    centre.cdl.saveWanted.connect(groups[CdlCommands].save_cdl)
    centre.restyled.connect(window.actions_.set_icons)
    centre.make_bar.wanted.connect(files.make_references)
    centre.openPaths.connect(files.open_instead)
    centre.combineWanted.connect(files.combine_instead)
    centre.makeWanted.connect(files.make_instead)
    centre.referencesWanted.connect(files.look_for_references)
    window.status.jobsWanted.connect(groups[ViewCommands].show_jobs)
    window.status.serviceWanted.connect(groups[CopyCommands].put)
    window.tasks.failed.connect(lambda error: centre.error_bar.show_error("A job failed", error))


def _connect_panes(window: MainWindow) -> None:
    """Let the panes and docks do what they offer."""
    groups, explain = window.groups, window.groups[ExplainCommands]
    window.plot_alone.changed.connect(window.update_actions)
    window.docks.folded.connect(window.update_actions)
    explain.connect_view()
    window.chunk_map.made.connect(explain.connect_map)
    window.byte_docks.explainWanted.connect(explain.explain_key)
    window.byte_docks.exportWanted.connect(groups[FileCommands].export_with_chunks)
    window.follower.damaged.connect(groups[FormatPlaces].read_again)
    groups[CopyCommands].connect_panes()
    window.context_menus.connect_panes()
    groups[ReferenceCommands].connect_table()
    groups[PrefixCommands].connect_editors()
    window.tasks.busyChanged.connect(lambda: _busy_changed(window))


def _busy_changed(window: MainWindow) -> None:
    holds = window.groups[ViewCommands].conditions()["is_busy"]
    window.actions_.set_condition("is_busy", holds=holds)


def _plot_made(window: MainWindow, plot: PlotPane) -> None:
    groups = window.groups
    plot.elementHovered.connect(window.status.point_out)
    plot.backWanted.connect(window.plot_alone.leave)
    plot.set_alone(is_alone=window.plot_alone.is_on)
    plot.chunkActivated.connect(window.navigation.select_key)
    groups[ExplainCommands].connect_plot(plot)
    plot.trustReviewRequested.connect(groups[PermissionCommands].review_trust)
    groups[ValueCommands].connect_table()
    groups[CopyCommands].connect_plot()
    window.context_menus.connect_views()
    window.navigation.plot_current()
