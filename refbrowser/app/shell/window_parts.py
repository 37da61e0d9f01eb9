"""The parts of a window, made right after its first paint, and what flows between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from refbrowser.app.commands.context_menus import ContextMenus
from refbrowser.app.commands.copying import CopyCommands
from refbrowser.app.commands.files import CdlCommands, FileCommands, PermissionCommands, RecentMenu
from refbrowser.app.commands.groups import GROUPS
from refbrowser.app.commands.references import PrefixCommands, ReferenceCommands
from refbrowser.app.commands.values import ValueCommands
from refbrowser.app.commands.view import ViewCommands
from refbrowser.app.controller.documents import Documents
from refbrowser.app.dialogs.questions import Questions
from refbrowser.app.docks.chunk_map_dock import ChunkMapDock
from refbrowser.app.frame.centre import Centre
from refbrowser.app.frame.editor_stack import EditorStack
from refbrowser.app.frame.kept_layout import LayoutKept, PlotAlone
from refbrowser.app.frame.keyboard import UndoKeys
from refbrowser.app.frame.navigation import Navigation
from refbrowser.app.frame.status_line import StatusLine
from refbrowser.app.panes.attributes_pane import AttributesPane
from refbrowser.app.panes.findings_pane import FindingsPane
from refbrowser.app.panes.hierarchy_pane import HierarchyPane
from refbrowser.app.panes.history_pane import HistoryPane
from refbrowser.app.panes.jobs_pane import JobsPane
from refbrowser.app.panes.search_pane import SearchPane
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
    from refbrowser.app.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parts:
    """What follows documents, drops and the pointer; of the window alone."""

    follower: DocumentFollower
    filing: Filing
    drops: DropTarget
    context_menus: ContextMenus


def make_parts(workspace: Workspace, window: QMainWindow, start: StartPane) -> Parts:
    """Make the panes, what stands around them, and the commands; and connect them."""
    _make_panes(workspace, window)
    start.complete(workspace.settings.recent_entries())
    window.takeCentralWidget()
    workspace.centre = Centre(start)
    window.setCentralWidget(workspace.centre)
    _make_frame(workspace, window)
    parts = _make_commands(workspace)
    _connect_bars(workspace)
    _connect_panes(workspace, parts)
    workspace.centre.plotMade.connect(lambda plot: _plot_made(workspace, parts, plot))
    workspace.centre.tableMade.connect(lambda _table: _table_made(workspace, parts))
    workspace.centre.plotChosen.connect(lambda _plot: workspace.update_actions())
    workspace.centre.viewsChanged.connect(workspace.update_actions)
    workspace.documents.removed.connect(workspace.centre.forget)
    workspace.layout_kept.restore()
    PreferencesInForce(workspace)
    RecentMenu(workspace)
    UndoKeys(window)
    return parts


def _make_panes(workspace: Workspace, window: QMainWindow) -> None:
    workspace.tasks = Tasks(window)
    workspace.documents = Documents(workspace.tasks, window)
    workspace.documents.kept_options = workspace.settings.options
    workspace.questions = Questions(window)
    workspace.preferences = Preferences(workspace.settings, window)
    workspace.hierarchy = HierarchyPane()
    workspace.attributes = AttributesPane()
    workspace.editors = EditorStack()
    workspace.jobs = JobsPane(workspace.tasks)
    workspace.findings = FindingsPane(workspace.documents)
    workspace.search = SearchPane(workspace.documents)
    workspace.history = HistoryPane()
    workspace.docks.fill(
        {
            "hierarchyDock": workspace.hierarchy,
            "attributesDock": workspace.attributes,
            "editorDock": workspace.editors,
            "previewDock": workspace.editors.preview_slot,
            "jobsDock": workspace.jobs,
            "problemsDock": workspace.findings,
            "searchDock": workspace.search,
            "historyDock": workspace.history,
        }
    )


def _make_frame(workspace: Workspace, window: QMainWindow) -> None:
    """Make what stands around the panes; it is below the workspace, so each part is told what it needs."""
    centre, docks, hierarchy = workspace.centre, workspace.docks, workspace.hierarchy
    workspace.summary = ElidedLabel("nodeSummary", role="muted", elide=Qt.TextElideMode.ElideMiddle)
    workspace.summary.setMargin(theme.SMALL)
    workspace.tool_bar.addWidget(workspace.summary)
    workspace.status = StatusLine(window.statusBar(), workspace.tasks)
    navigation = workspace.navigation = Navigation(
        workspace,
        centre=centre,
        docks=docks,
        hierarchy=hierarchy,
        attributes=workspace.attributes,
        editors=workspace.editors,
        settings=workspace.settings,
        preferences=workspace.preferences,
        summary=workspace.summary,
    )
    workspace.chunk_map = ChunkMapDock(workspace, centre=centre, docks=docks, navigation=navigation)
    workspace.plot_alone = PlotAlone(
        window, centre=centre, docks=docks, tool_bar=workspace.tool_bar, actions=workspace.actions_
    )
    workspace.layout_kept = LayoutKept(
        window, centre=centre, docks=docks, attributes=workspace.attributes, settings=workspace.settings
    )


def _make_commands(workspace: Workspace) -> Parts:
    follower = DocumentFollower(workspace)
    workspace.groups = groups = CommandGroups(workspace)
    # After the panes follow a document: what a tab selects is in the tree then. And first of all groups: what
    # formats tell does not take the place of what the others do.
    _ = groups[FormatPlaces], groups[ToolPlaces]
    for kind in (*GROUPS, *tool_groups()):
        _ = groups[kind]
    context_menus = ContextMenus(workspace)
    workspace.actions_.complete(groups.table())
    workspace.actions_.add_panes(workspace.docks.all())
    return Parts(follower, Filing(workspace), DropTarget(workspace), context_menus)


def _connect_bars(workspace: Workspace) -> None:
    """Let the start page and the bars over the tabs do what they offer."""
    centre, groups = workspace.centre, workspace.groups
    files, permissions = groups[FileCommands], groups[PermissionCommands]
    centre.start.openFiles.connect(files.open_files)
    centre.start.openStore.connect(files.open_store)
    centre.start.openUrl.connect(files.open_url)
    centre.start.openSample.connect(files.open_sample)
    centre.start.openPath.connect(workspace.open_recent)
    centre.start.pinWanted.connect(files.pin)
    centre.trust_bar.review.connect(permissions.review_trust)
    centre.trust_bar.allowed.connect(permissions.allow_this_time)
    permissions.connect_recovery(centre.recovery_bar)
    centre.raw.permissionWanted.connect(permissions.review_trust)
    centre.cdl.saveWanted.connect(groups[CdlCommands].save_cdl)
    centre.restyled.connect(workspace.actions_.set_icons)
    centre.openPaths.connect(files.open_instead)
    centre.referencesWanted.connect(files.look_for_references)
    workspace.status.jobsWanted.connect(groups[ViewCommands].show_jobs)
    workspace.status.serviceWanted.connect(groups[CopyCommands].put)
    workspace.tasks.failed.connect(lambda error: centre.error_bar.show_error("A job failed", error))


def _connect_panes(workspace: Workspace, parts: Parts) -> None:
    """Let the panes and docks do what they offer."""
    groups = workspace.groups
    workspace.plot_alone.changed.connect(workspace.update_actions)
    workspace.docks.folded.connect(workspace.update_actions)
    groups.offer_actions()
    parts.follower.damaged.connect(groups[FormatPlaces].read_again)
    groups[CopyCommands].connect_panes()
    parts.context_menus.connect_panes()
    groups[ReferenceCommands].connect_table()
    groups[PrefixCommands].connect_editors()
    workspace.docks.follow_sight("jobsDock", workspace.jobs.set_seen)
    workspace.docks.follow_sight("historyDock", workspace.history.set_seen)


def _plot_made(workspace: Workspace, parts: Parts, plot: PlotPane) -> None:
    groups = workspace.groups
    plot.elementHovered.connect(workspace.status.point_out)
    plot.backWanted.connect(workspace.plot_alone.leave)
    plot.chunkActivated.connect(workspace.navigation.select_key)
    plot.trustReviewRequested.connect(groups[PermissionCommands].review_trust)
    plot.arrayChanged.connect(workspace.update_actions)
    groups[CopyCommands].connect_plot(plot)
    parts.context_menus.connect_plot(plot)


def _table_made(workspace: Workspace, parts: Parts) -> None:
    workspace.plot_alone.tell_plots()
    workspace.groups[ValueCommands].connect_table()
    parts.context_menus.connect_table()
    workspace.navigation.plot_current()
