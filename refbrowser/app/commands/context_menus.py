"""What the menus over tree, keys, plot and table offer; what is under the pointer is selected first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction

from refbrowser.app.widgets.small_widgets import pop_up, separator
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.hierarchy import ItemKind
from refbrowser.views.packing_words import other_packing

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace

#: Names of the actions of each menu; None is a separator.
Names = tuple[str | None, ...]
_VALUES: Names = (
    "copy_values",
    "copy_picture",
    "copy_python",
    "copy_xarray",
    "copy_link",
    None,
    "export_view",
)
TREE_MENU: Names = (
    "open_in_view",
    "open_beside",
    None,
    "copy_path",
    "copy_link",
    "copy_python",
    "copy_xarray",
    None,
    "show_in_source",
    None,
    "rename_node",
    "delete_node",
    None,
    "replace_prefix",
    "pack_otherwise",
    None,
    "difference_of_two",
    "ratio_of_two",
    None,
    "export",
    "export_view",
    None,
    "save",
    "save_as",
    "reload",
    None,
    "compare_with",
    "combine_files",
    "write_lock",
    "show_audit",
    "show_in_folder",
    None,
    "close_document",
    "close_others",
    "close_all",
)
#: What the menu of a set of files has.
SET_MENU: Names = (
    "open_set",
    None,
    "combine_files",
    "make_references",
    "audit_set",
    None,
    "close_set",
)
KEYS_MENU: Names = (
    "copy_key",
    "copy_url",
    "copy_value",
    None,
    "add_reference",
    "rename_reference",
    "duplicate_references",
    "change_references",
    "delete_references",
    "replace_prefix",
    None,
    "show_in_source",
    "go_to_rule",
    "override_key",
    None,
    "changed_only",
)
PLOT_MENU: Names = (
    "explain",
    None,
    "copy_value",
    "copy_key",
    "copy_url",
    None,
    *_VALUES,
    None,
    "centre_map",
    "reset_view",
    None,
    "split_right",
    "split_down",
    "three_slices",
)
CELL_MENU: Names = ("explain", None, "copy_value", "copy_key", "copy_url", None, *_VALUES)
#: Of a group, a rule or a document there is no slice, though the last one that was chosen is on the screen.
_OF_ARRAYS = (
    "open_in_view",
    "open_beside",
    "copy_python",
    "copy_xarray",
    "difference_of_two",
    "ratio_of_two",
    "export_view",
)
#: What has a path of its own.
_NODES = (ItemKind.ARRAY, ItemKind.GROUP)
#: What the menu of a document alone has.
_OF_DOCUMENTS = TREE_MENU[TREE_MENU.index("save") :]
#: What a set has alone.
_OF_SETS = tuple(name for name in SET_MENU if name not in TREE_MENU)


class ContextMenus(QObject):
    """Gives the views of one window their menus."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._centre = workspace.centre
        self._hierarchy = workspace.hierarchy
        self._actions = workspace.actions_

    def connect_panes(self) -> None:
        """Give tree and keys their menus."""
        tree, keys = self._hierarchy.tree, self._centre.references.table
        self._add(tree, TREE_MENU)
        self._add(tree, tuple(name for name in SET_MENU if name in _OF_SETS))
        self._on_request(tree, self._pop_up_tree)
        self._add(keys, KEYS_MENU)
        self._on_request(keys, self._pop_up_keys)

    def connect_table(self) -> None:
        """Give the table its menu."""
        if self._centre.table is None:
            return
        grid = self._centre.table.grid
        self._add(grid, CELL_MENU)
        self._on_request(grid, lambda place: pop_up(grid, grid.viewport().mapToGlobal(place)))

    def connect_plot(self, plot: PlotPane) -> None:
        """Give a plot its menus."""
        values = plot.values
        self._add(values, CELL_MENU)
        self._on_request(values, lambda place: pop_up(values, values.mapToGlobal(place)))
        self._add(plot.canvas, PLOT_MENU)
        plot.canvas.menuRequested.connect(lambda place: self._pop_up_plot(plot, place))

    def _add(self, widget: QWidget, names: Names) -> None:
        if widget.actions():
            separator(widget)
        for name in names:
            if name is None:
                separator(widget)
            else:
                widget.addAction(self._actions[name])

    def _on_request(self, widget: QWidget, work: Callable[[QPoint], object]) -> None:
        widget.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        widget.customContextMenuRequested.connect(work)

    def _pop_up_tree(self, place: QPoint) -> None:
        tree = self._hierarchy.tree
        item = self._hierarchy.current_item()
        if not tree.indexAt(place).isValid():
            return
        if self._hierarchy.current_files() is not None:
            names = [name for name in SET_MENU if name is not None]
            pop_up(tree, tree.viewport().mapToGlobal(place), lambda action: _name(action) in names)
            return
        if item is None:
            return
        left_out: Names = () if item.kind is ItemKind.ARRAY else _OF_ARRAYS
        left_out += () if item.kind is ItemKind.DOCUMENT else _OF_DOCUMENTS
        is_packed = isinstance(item.node, ArrayNode) and bool(other_packing(item.node))
        left_out += () if is_packed else ("pack_otherwise",)
        left_out += () if item.kind in (*_NODES, ItemKind.DIMENSION) else ("rename_node",)
        left_out += () if item.kind in _NODES else ("delete_node",)
        left_out += _OF_SETS

        def fits(action: QAction) -> bool:
            return _name(action) not in left_out

        pop_up(tree, tree.viewport().mapToGlobal(place), fits)

    def _pop_up_keys(self, place: QPoint) -> None:
        keys = self._centre.references.table
        if keys.row_at(place) is not None:
            pop_up(keys, keys.viewport().mapToGlobal(place))

    def _pop_up_plot(self, plot: PlotPane, place: QPoint) -> None:
        if plot.array() is None:
            return
        # While the menu is open the pointer is not over the plot; what it was on is still meant. Qt may tell
        # that it left while the menu appears already.
        plot.canvas.hold_pointed()
        menu = pop_up(plot.canvas, place)
        if menu is None:
            plot.canvas.release_pointed()
        else:
            # A menu hides before its action is triggered, and then Qt moves the pointer back onto the plot.
            menu.aboutToHide.connect(lambda: QTimer.singleShot(0, plot.canvas, plot.canvas.release_pointed))


def _name(action: QAction) -> str:
    return action.objectName().removeprefix("action_")
