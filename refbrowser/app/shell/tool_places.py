"""What tools add to a window: commands and docks; those of other packages, and kinds of plots, with the plot.

What fails costs itself alone, and is told: it is of another package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.widgets.docks import dock_name, dock_title
from refbrowser.app.workspace.command_group import CommandGroup
from refbrowser.loading import load
from refbrowser.tools.registry import BUILT_IN, foreign

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.plugins import Plugins
    from refbrowser.tools.tool import Dock, Tool
    from refbrowser.views.plot.plot_kind import PlotKind


def tool_groups() -> Iterator[type[CommandGroup]]:
    """Yield the groups of commands of our tools."""
    yield from (load(tool.commands) for tool in BUILT_IN if tool.commands and tool.is_installed)


class ToolPlaces(CommandGroup):
    """Adds tools of other packages to one window, once the plot is there."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._shown: dict[str, Callable[[], object]] = {}
        workspace.centre.tableMade.connect(lambda _table: self._look())
        workspace.centre.tableMade.connect(lambda _table: self._look_for_kinds())

    def table(self) -> dict[str, Callable[[], object]]:
        """Return the commands that show the docks of other packages."""
        return self._shown

    def _look(self) -> None:
        tasks = self._workspace.tasks
        tasks.run("tools", tasks.PREPARING, lambda _control: foreign(), self._add)

    def _look_for_kinds(self) -> None:
        """Find the kinds of plots of other packages, too."""
        from refbrowser.views.plot.plot_kinds import foreign as foreign_kinds

        def found(kinds: Plugins[PlotKind]) -> None:
            for error in kinds.errors:
                self._workspace.show_error("A kind of plot cannot be used", error)
            for plot in self._workspace.centre.plots() if kinds.values else ():
                plot.look_for_kinds()

        tasks = self._workspace.tasks
        tasks.run("plot kinds", tasks.PREPARING, lambda _control: foreign_kinds(), found)

    def _add(self, found: Plugins[Tool]) -> None:
        for error in found.errors:
            self._workspace.show_error("A tool cannot be used", error)
        for tool in found.values:
            try:
                self._place(tool)
            except Exception as error:  # noqa: BLE001 - it is not ours: what it raises is told
                self._workspace.show_error(f"What the tool {tool.name} adds to the window failed", error)
        self._workspace.update_actions()

    def _place(self, tool: Tool) -> None:
        for dock in tool.docks:
            self._place_dock(tool, dock)
        if tool.commands:
            group = self._workspace.groups[load(tool.commands)]
            self._workspace.actions_.add(group.actions, group.table())
            group.offer_actions()

    def _place_dock(self, tool: Tool, dock: Dock) -> None:
        """Add a dock, and what shows it where the tool has no commands of its own."""
        actions, docks, name = self._workspace.actions_, self._workspace.docks, dock_name(tool, dock)
        pane = self._pane(tool, dock)
        actions.add_panes([docks.add(name, dock_title(dock), dock.hint)])
        docks.fill({name: pane})
        show = f"show_{dock.name or tool.name}"
        self._shown[show] = partial(docks.raise_, name)
        if not tool.commands:
            tip = f"{tool.words[:1].upper()}{tool.words[1:]}"
            spec = ActionSpec(show, dock.title, dock.shortcut, "has_document", tip=tip, menu="&Tools")
            actions.add([spec], self._shown)

    def _pane(self, tool: Tool, dock: Dock) -> QWidget:
        if not dock.made:
            # Few have one, and it brings the table of codecs.
            from refbrowser.app.panes.tool_pane import ToolPane

            return ToolPane(tool, self._workspace.documents)
        pane: QWidget = load(dock.made)(self._workspace)
        return pane
