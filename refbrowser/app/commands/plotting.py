"""How the plotted array is shown, what explores beyond the picture, and their values in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.small_widgets import bring_up
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.dialogs.marks_dialog import MarksDialog
    from refbrowser.app.plot.header import PlotOptions
    from refbrowser.app.plot.look import Look
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.plot.tools import PlotTools
    from refbrowser.app.workspace.workspace import Workspace


class DataCommands(CommandGroup):
    """The commands of the menu Data that act on the plot."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._centre.plotMade.connect(self._follow)

    def _follow(self, plot: PlotPane) -> None:
        """Keep the menu as the plot is, whoever switched it."""
        plot.optionsChanged.connect(self._workspace.update_actions)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        switches = (self.toggle_coding, self.toggle_log, self.toggle_extremes, self.toggle_histogram)
        others = (self.toggle_aspect, self.toggle_reverse, self.toggle_colour)
        return by_name(*switches, *others, self.next_map, self.auto_levels, self.centre_map, self.reset_view)

    def conditions(self) -> dict[str, bool]:
        """Return what the plot can show, and how it does."""
        options = self._options()
        if options is None:
            return dict.fromkeys(_CONDITIONS, False)
        return {name: bool(getattr(options, attribute)) for name, attribute in _CONDITIONS.items()}

    def toggle_coding(self) -> None:
        """Apply the CF conventions, or show the elements as they are stored."""
        self._switch(lambda look, now: look.set_decoded(not now.decoded))

    def toggle_colour(self) -> None:
        """Show the bands of a picture as colours, or one of them."""
        self._switch(lambda look, now: look.set_colour(not now.colour))

    def toggle_log(self) -> None:
        """Use a logarithmic scale, or a linear one."""
        self._switch(lambda look, now: look.set_log(not now.log))

    def toggle_extremes(self) -> None:
        """Take the least and the greatest value as ends of the colours, or percentiles."""
        self._switch(lambda look, now: look.set_extremes(not now.extremes))

    def toggle_histogram(self) -> None:
        """Show the histogram beside the colours, or not."""
        self._switch(lambda look, now: look.set_histogram(not now.histogram))

    def toggle_aspect(self) -> None:
        """Show an image in its true proportions, or fill the view with it."""
        self._switch(lambda look, now: look.set_aspect(not now.aspect))

    def toggle_reverse(self) -> None:
        """Run through the colour map from its other end."""
        self._switch(lambda look, now: look.set_reverse(not now.reverse))

    def next_map(self) -> None:
        """Use the colour map after this one."""
        self._switch(lambda look, _now: look.next_map())

    def auto_levels(self) -> None:
        """Take the levels from the data."""
        self._switch(lambda look, _now: look.auto_levels())

    def centre_map(self) -> None:
        """Put the element under the cursor into the middle of the map."""
        plot = self._centre.plot
        if plot is not None:
            plot.centre_map()

    def reset_view(self) -> None:
        """See the whole slice again."""
        plot = self._centre.plot
        if plot is not None:
            plot.reset_view()

    def _options(self) -> PlotOptions | None:
        plot = self._centre.plot
        return None if plot is None else plot.look().options

    def _switch(self, change: Callable[[Look, PlotOptions], object]) -> None:
        plot = self._centre.plot
        if plot is not None:
            change(plot.look(), plot.look().options)


#: Names of conditions, and the attributes of `PlotOptions` that they stand for.
_CONDITIONS = {
    "has_plot": "has_plot",
    "has_proportions": "has_proportions",
    "has_levels": "has_levels",
    "has_coding": "has_coding",
    "can_log": "can_log",
    "can_colour": "can_colour",
    "shows_bands": "colour",
    "is_decoded": "decoded",
    "is_log": "log",
    "is_extremes": "extremes",
    "is_histogram": "histogram",
    "is_aspect": "aspect",
    "is_reverse": "reverse",
    "has_middle": "has_middle",
}


class MarkCommands(CommandGroup):
    """The commands of the menu Data that draw over the picture."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._centre.plotMade.connect(self._follow)
        self._dialog: MarksDialog | None = None

    def _follow(self, plot: PlotPane) -> None:
        plot.header.marksWanted.connect(self.marks)
        plot.keys.add(Qt.Key.Key_O, self.toggle_contours)
        plot.keys.add(Qt.Key.Key_V, self.toggle_arrows)
        plot.keys.add(Qt.Key.Key_T, self.toggle_composite)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.toggle_contours, self.toggle_arrows, self.toggle_composite, self.marks)

    def conditions(self) -> dict[str, bool]:
        """Return what can be drawn over the plot, and what is."""
        plot = self._centre.plot
        options = None if plot is None else plot.look().options
        can = set() if options is None else {overlay.name for overlay in options.overlays}
        on = frozenset() if options is None else options.overlaid
        return {
            "can_contour": "contours" in can,
            "is_contoured": "contours" in on,
            "can_arrow": "arrows" in can,
            "has_arrows": "arrows" in on,
            "can_compose": "composite" in can,
            "is_composed": "composite" in on,
            "can_mark": bool(can & {"contours", "arrows", "composite"}),
        }

    def toggle_contours(self) -> None:
        """Draw lines of equal values over the picture, or do not."""
        self._toggle("contours")

    def toggle_arrows(self) -> None:
        """Draw arrows of two components over the picture, or do not."""
        self._toggle("arrows")

    def toggle_composite(self) -> None:
        """Draw three bands as colours over the picture, or do not."""
        self._toggle("composite")

    def marks(self) -> None:
        """Choose of what contours, arrows and colours are."""
        plot = self._centre.plot
        if plot is None:
            return
        from refbrowser.app.dialogs.marks_dialog import MarksDialog

        if self._dialog is not None and self._dialog.plot is not plot:
            self._dialog.close()
        if self._dialog is None:
            self._dialog = MarksDialog(plot)
            self._dialog.finished.connect(self._forget_dialog)
        bring_up(self._dialog)

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _toggle(self, name: str) -> None:
        plot = self._centre.plot
        if plot is not None and name in {overlay.name for overlay in plot.look().options.overlays}:
            plot.look().set_overlay(name, name not in plot.look().options.overlaid)


_EXPLORED = (
    *("can_profile", "is_profile", "can_series", "is_series"),
    *("can_region", "is_region", "is_playing"),
)


class ExploreCommands(CommandGroup):
    """The commands of the menu Data that open something beside the picture."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._centre = workspace.centre
        self._centre.plotMade.connect(self._follow)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        switches = (self.toggle_profile, self.series_here, self.toggle_series, self.toggle_region, self.play)
        return by_name(*switches, self.export_profile, self.export_series, self.export_region)

    def conditions(self) -> dict[str, bool]:
        """Return what can be explored, and what is."""
        tools = self._tools()
        return {name: tools is not None and bool(getattr(tools, name)) for name in _EXPLORED}

    def toggle_profile(self) -> None:
        """Show the values along a line across the image, or no longer."""
        self._use(lambda tools: tools.toggle_profile())

    def series_here(self) -> None:
        """Show the series of the element under the cursor."""
        self._use(lambda tools: tools.series_here())

    def toggle_series(self) -> None:
        """Show the series of what is clicked, or no longer."""
        self._use(lambda tools: tools.toggle_series())

    def toggle_region(self) -> None:
        """Show the statistics of a part of the picture, or no longer."""
        self._use(lambda tools: tools.toggle_region())

    def play(self) -> None:
        """Play or pause."""
        self._use(lambda tools: tools.play())

    def export_profile(self) -> None:
        """Ask where to write the profile."""
        self._export("profile")

    def export_series(self) -> None:
        """Ask where to write the series."""
        self._export("series")

    def export_region(self) -> None:
        """Ask where to write the statistics of the regions."""
        self._export("region")

    def write(self, what: str, path: str) -> None:
        """Write ``profile``, ``series`` or ``region`` to a file, as comma-separated values."""
        rows = self._rows(what)
        if rows is not None:
            self._write([*rows], path)

    def _write(self, rows: list[list[str]], path: str) -> None:
        name = one_line(Path(path).name)

        def write(control: TaskControl) -> None:
            from refbrowser.io.files.atomic import write_atomically
            from refbrowser.views.plot.slice_files import csv_lines

            write_atomically(path, csv_lines(rows), cancel=control.token)

        self._run(
            f"Write {name}",
            write,
            lambda _none: self._workspace.say(f"Written: {one_line(path)}"),
            lambda: self._write(rows, path),
        )

    def copy(self, what: str) -> None:
        """Put ``profile``, ``series`` or ``region`` on the clipboard, tabs between the cells."""
        rows = self._rows(what)
        if rows is None:
            return

        def make(_control: TaskControl) -> str:
            from refbrowser.views.plot.slice_files import tsv_text

            return tsv_text(rows)

        def copied(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self._workspace.say(f"{what.capitalize()} copied: {text.count(chr(10))} rows")

        self._run(f"Copy the {what}", make, copied, lambda: self.copy(what))

    def _follow(self, plot: PlotPane) -> None:
        plot.tools.copyRequested.connect(self.copy)
        plot.tools.exportRequested.connect(self._export)

    def _export(self, what: str) -> None:
        plot = self._centre.plot
        node = None if plot is None else plot.array()
        if plot is not None:
            # Nothing moves behind the dialog.
            plot.tools.animation.pause()
        found = self._rows(what)
        if node is None or found is None:
            self._workspace.say(f"There is no {what} to write yet")
            return
        # What is written is what was seen when it was asked for.
        rows = [*found]
        dialog = QFileDialog(self._workspace.window(), f"Export {what}", str(Path.home()))
        dialog.setObjectName("exportChartDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("Values with coordinates (*.csv)")
        dialog.setDefaultSuffix(".csv")
        name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in node.name)
        dialog.selectFile(f"{name or 'array'}_{what}.csv")
        dialog.fileSelected.connect(lambda path: self._write(rows, path))
        dialog.setModal(True)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def _rows(self, what: str) -> Iterator[list[str]] | None:
        tools = self._tools()
        if tools is None:
            return None
        return tools.rows(what)

    def _tools(self) -> PlotTools | None:
        plot = self._centre.plot
        return None if plot is None else plot.tools

    def _use(self, use: Callable[[PlotTools], object]) -> None:
        tools = self._tools()
        if tools is not None:
            use(tools)

    def _run(
        self,
        title: str,
        work: Callable[[TaskControl], object],
        done: Callable[..., None],
        again: Callable[[], object],
    ) -> None:

        def failed(error: BaseException) -> None:
            self._workspace.show_error(f"{title} failed", error, again)

        # The title names the file: nothing else that is written or copied ends it.
        self._workspace.tasks.run(f"chart: {title}", title, work, done, failed)
