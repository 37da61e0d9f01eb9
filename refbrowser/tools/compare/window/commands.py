"""Comparing what is open with something else, and taking differences over both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.controller.compared_side import other_sides, saved_sides
from refbrowser.app.frame.centre import PLOT
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.controller.compared_side import ComparedSide
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.tools.compare.window.compare_window import CompareWindow
    from refbrowser.tools.compare.window.source_field import Source


class CompareCommands(CommandGroup):
    """The command of the menu File that compares, and what compares in a window."""

    actions = (
        ActionSpec(
            "compare_with",
            "Compare with a&nother…",
            shortcut="Ctrl+Shift+D",
            when="is_open",
            tip="Compare this dataset with another, side by side, and copy differences either way",
            menu="&File",
            after="compare",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre, self._navigation = workspace.centre, workspace.navigation
        workspace.compare = self.show
        workspace.compare_paths = self.compare_paths

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.compare_with)

    def compare_with(self) -> None:
        """Ask with what the current document is compared."""
        from refbrowser.tools.compare.window.source_field import CompareWithDialog

        document = self._current
        if document is None:
            return
        choices = [*other_sides(document, self._workspace.documents), *saved_sides(document)]
        dialog = CompareWithDialog(
            document.title, choices, lambda source: self.compare(document, source), self._workspace.window()
        )
        dialog.open()

    def compare(self, document: OpenDocument, source: Source) -> CompareWindow:
        """Compare a document with something that is open, or with a path or URL, which is opened."""
        from refbrowser.app.controller.compared_side import ComparedSide

        there = source
        if isinstance(there, str):
            there = ComparedSide(self._workspace.open_path(there))
            self._workspace.documents.set_current(document)
        return self.show(ComparedSide(document), there)

    def show(self, here: ComparedSide, there: ComparedSide) -> CompareWindow:
        """Show what differs between two sides."""
        from refbrowser.tools.compare.window.compare_window import CompareWindow

        window = CompareWindow(here, there, self._workspace.tasks, self._workspace.window())
        window.elementWanted.connect(self.show_element)
        bring_up(window)
        return window

    def compare_paths(self, paths: Sequence[str]) -> None:
        """Compare what was dropped: two with each other, one with what is shown."""
        if len(paths) == 2:
            self.compare(self._workspace.open_path(paths[0]), paths[1])
        elif len(paths) == 1 and self._current is not None:
            self.compare(self._current, paths[0])

    def show_element(self, document: OpenDocument, path: str, index: tuple[int, ...]) -> None:
        """Select an array, and put the cursor of the plot on one of its elements."""
        self._navigation.go_to_node(document, path)
        self._navigation.plot_current()
        self._centre.show_tab(PLOT)
        plot = self._centre.plot
        if plot is None:
            return

        def place() -> None:
            node, state = plot.array(), plot.slice_state()
            if node is None or state is None or node.path != path or plot.source() is not document:
                return
            for axis in state.sliders:
                if state.indices[axis] != index[axis]:
                    plot.set_index(axis, index[axis])
            plot.point_at(tuple(index[axis] for axis in state.axes))

        def settled() -> None:
            plot.settled.disconnect(settled)
            place()

        place()
        if not plot.is_settled():
            plot.settled.connect(settled)
        self._workspace.window().activateWindow()
