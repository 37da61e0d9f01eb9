"""How colours are laid over values, and colour tables of other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog

from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.dialogs.scale_dialog import ScaleDialog
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.views.colours.colour_tables import ColourTable


class ColourCommands(CommandGroup):
    """The commands of the menu Data that are about colours."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._centre.plotMade.connect(self._follow)
        self._dialog: ScaleDialog | None = None

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(
            self.colour_scale, self.fix_levels, self.import_colours, self.matplotlib_map, self.remove_colours
        )

    def conditions(self) -> dict[str, bool]:
        """Return how colours are laid over the values of the plot."""
        plot = self._centre.plot
        options = None if plot is None else plot.look().options
        has_levels = options is not None and options.has_levels
        return {
            "are_levels_fixed": options is not None and options.scale.is_fixed,
            "can_import_maps": has_levels and find_spec("matplotlib") is not None,
            "is_map_imported": has_levels and plot is not None and self._is_imported(plot),
        }

    def _follow(self, plot: PlotPane) -> None:
        self._take(self._workspace.settings.colour_tables())
        plot.header.map.fill()
        plot.header.map.importWanted.connect(self.import_colours)
        plot.keys.add(Qt.Key.Key_K, self.colour_scale)
        plot.keys.add(Qt.Key.Key_F, self.fix_levels)

    def colour_scale(self) -> None:
        """Choose how colours are laid over the values."""
        plot = self._centre.plot
        if plot is None or not plot.look().options.has_levels:
            return
        from refbrowser.app.dialogs.scale_dialog import ScaleDialog

        if self._dialog is not None and self._dialog.plot is not plot:
            self._dialog.close()
        if self._dialog is None:
            self._dialog = ScaleDialog(plot)
            self._dialog.finished.connect(self._forget_dialog)
        bring_up(self._dialog)

    def _forget_dialog(self) -> None:
        self._dialog = None

    def fix_levels(self) -> None:
        """Keep the levels as they are on every slice, or let them follow the values."""
        plot = self._centre.plot
        if plot is not None and plot.look().options.has_levels:
            scale = plot.look().options.scale
            plot.look().set_scale(replace(scale, is_fixed=not scale.is_fixed))

    # Tables of other programs

    def import_colours(self) -> None:
        """Ask for a file with a colour table, and use that."""
        from refbrowser.views.colours.colour_tables import SUFFIXES

        folder = self._workspace.settings.folder() or str(Path.home())
        dialog = QFileDialog(self._workspace.window(), "Import colour table", folder)
        dialog.setObjectName("importColoursDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        patterns = " ".join(f"*{suffix}" for suffix in SUFFIXES)
        dialog.setNameFilters([f"Colour tables ({patterns})", "All files (*)"])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.import_from)
        dialog.setModal(True)
        dialog.show()

    def import_from(self, path: str) -> None:
        """Import the colour table of a file, and use it."""

        def read(_control: TaskControl) -> ColourTable:
            from refbrowser.views.colours.colour_tables import FILE_MOST, read_table

            with Path(path).open("rb") as file:
                return read_table(path, file.read(FILE_MOST + 1))

        def failed(error: BaseException) -> None:
            name = one_line(Path(path).name)
            self._workspace.show_error(f"{name} was not imported", error, self.import_colours)

        title = f"Import {one_line(Path(path).name)}"
        self._workspace.tasks.run("colours: import", title, read, self._add, failed)

    def matplotlib_map(self) -> None:
        """Ask for a colour map of matplotlib, and use it."""

        def read(_control: TaskControl) -> dict[str, ColourTable]:
            from refbrowser.views.colours.colour_tables import tables_of_matplotlib

            return tables_of_matplotlib()

        def failed(error: BaseException) -> None:
            self._workspace.show_error("The colour maps of matplotlib cannot be read", error)

        self._workspace.tasks.run("colours: matplotlib", "List colour maps", read, self._choose, failed)

    def _choose(self, tables: Mapping[str, ColourTable]) -> None:
        dialog = QInputDialog(self._workspace.window())
        dialog.setObjectName("matplotlibMapDialog")
        dialog.setWindowTitle("Colour map of matplotlib")
        dialog.setLabelText("Name")
        dialog.setComboBoxItems(list(tables))
        dialog.setComboBoxEditable(False)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(lambda name: self._add(tables[name]))
        dialog.setModal(True)
        dialog.show()

    def remove_colours(self) -> None:
        """Forget the imported colour table that is used."""
        plot = self._centre.plot
        if plot is None or not self._is_imported(plot):
            return
        title = plot.look().options.map_title
        kept = [each for each in self._workspace.settings.colour_tables() if each.title != title]
        self._workspace.settings.set_colour_tables(kept)
        self._take(kept)
        plot.header.map.fill()
        plot.look().set_map(plot.header.map.currentData())

    def _add(self, table: ColourTable) -> None:
        """Keep a table, in the place of one of that name, and use it."""
        from refbrowser.app.plot.colours.colour_maps import MAPS
        from refbrowser.views.colours.colour_tables import ColourTable

        if table.title in MAPS:
            table = ColourTable(f"{table.title} (imported)", table.rgb)
        kept = [each for each in self._workspace.settings.colour_tables() if each.title != table.title]
        self._workspace.settings.set_colour_tables([*kept, table])
        self._take(self._workspace.settings.colour_tables())
        plot = self._centre.plot
        if plot is not None:
            plot.header.map.fill()
            plot.look().set_map(table.title)
        self._workspace.say(f"Imported: {one_line(table.title)}")

    @staticmethod
    def _take(tables: list[ColourTable]) -> None:
        from refbrowser.app.plot.colours.colour_maps import take_imported

        take_imported(tables)

    @staticmethod
    def _is_imported(plot: PlotPane) -> bool:
        from refbrowser.app.plot.colours.colour_maps import MAPS

        return plot.look().options.map_title not in MAPS
