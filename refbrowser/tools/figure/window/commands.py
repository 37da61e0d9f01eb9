"""Commands that make figures and films of what is plotted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.copying import shown_by
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.errors import RefbrowserError
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.engine.dataset import Dataset
    from refbrowser.tools.figure.window.film_job import FilmOrder
    from refbrowser.views.plot_states.plot_state import PlotState


class FigureCommands(CommandGroup):
    """Shows the sheets that ask how a figure or a film is to be."""

    actions = (
        ActionSpec(
            "export_figure",
            "Export &figure…",
            shortcut="Ctrl+Shift+E",
            when="has_figure",
            tip="Write the plot as PDF, SVG or PNG with title, axes, colours and caption, in any size",
            menu="&File",
            submenu="Export &view",
        ),
        ActionSpec(
            "export_film",
            "Export fil&m…",
            when="has_frames",
            tip="Write what a slider steps through as MP4, GIF or single pictures",
            menu="&File",
            submenu="Export &view",
        ),
        ActionSpec(
            "copy_figure",
            "Copy fi&gure",
            when="has_figure",
            tip="Copy the plot as a figure: as a picture, SVG and PDF",
            menu="&Edit",
            after="copy_picture",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.export_figure, self.export_film, self.copy_figure)

    def conditions(self) -> dict[str, bool]:
        """Return whether there is something to draw."""
        plot = self._workspace.centre.plot
        return {
            "has_figure": plot is not None and plot.look().options.has_plot,
            "has_frames": plot is not None and plot.tools.can_series,
        }

    def export_figure(self) -> None:
        """Show the sheet with the plots that are seen."""
        from refbrowser.tools.figure.window.figure_chart import FigureChart
        from refbrowser.tools.figure.window.figure_sheet import FigureSheet

        plots = self._plots()
        for plot in plots:
            # Nothing moves behind the sheet either.
            plot.tools.animation.pause()
        shown = [found for plot in plots if (found := _shown(plot)) is not None]
        if not shown:
            return
        workspace = self._workspace
        charts = [FigureChart(pane) for plot in plots for pane in plot.tools.charts()]
        folder, name = _folder(plots[0]), _name(plots[0])
        sheet = FigureSheet(shown, charts, folder, name, workspace.settings, workspace.window())
        sheet.told.connect(workspace.say)
        sheet.drawn.connect(self._write)
        sheet.open()

    def export_film(self) -> None:
        """Show the sheet of a film of the plot that is in use."""
        from refbrowser.tools.figure.window.film_sheet import FilmSheet

        plot = self._workspace.centre.plot
        if plot is None:
            return
        plot.tools.animation.pause()
        shown = _shown(plot)
        if shown is None:
            return
        workspace = self._workspace
        sheet = FilmSheet(shown, _folder(plot), _name(plot), workspace.settings, workspace.window())
        sheet.ordered.connect(self.make_film)
        sheet.open()

    def make_film(self, order: FilmOrder) -> None:
        """Have a film made, while the window goes on."""
        from refbrowser.tools.figure.window.film_job import FilmJob

        workspace, job = self._workspace, FilmJob(order, self)

        def failed(error: BaseException) -> None:
            job.close()
            workspace.show_error(f"{order.target} was not made", error, lambda: self.make_film(order))

        def done(told: str) -> None:
            job.close()
            workspace.say(one_line(told))

        job.done.connect(done)
        job.failed.connect(failed)
        try:
            job.start(workspace.tasks)
        except RefbrowserError as error:
            failed(error)

    def copy_figure(self) -> None:
        """Put the figure that the sheet would show on the clipboard."""
        from refbrowser.tools.figure.window.figure_sheet import FigureCopy

        shown = [found for plot in self._plots() if (found := _shown(plot)) is not None]
        if shown:
            copy = FigureCopy(shown, self._workspace.settings, self)
            copy.told.connect(self._workspace.say)

    def _write(self, path: str, data: Callable[[], bytes]) -> None:
        """Write a figure; another one to another file goes on beside it."""

        def write(control: TaskControl) -> None:
            from refbrowser.io.files.atomic import write_atomically

            write_atomically(path, [data()], cancel=control.token)

        workspace, title = self._workspace, f"Write {path}"

        def failed(error: BaseException) -> None:
            workspace.show_error(f"{title} failed", error, lambda: self._write(path, data))

        workspace.tasks.run(
            f"figure: {path}", title, write, lambda _none: workspace.say(f"Written: {one_line(path)}"), failed
        )

    def _plots(self) -> list[PlotPane]:
        """Return the plots that are seen, that in use where none is."""
        centre = self._workspace.centre
        seen = [plot for plot in centre.plots() if plot.isVisible() and plot.look().options.has_plot]
        return seen or [plot for plot in (centre.plot,) if plot is not None]


def _shown(plot: PlotPane) -> tuple[Dataset, str, PlotState] | None:
    """Return the dataset of a plot, what its document is called, and what is shown; None where nothing is."""
    source, state = plot.source(), plot.state()
    if source is None or source.dataset is None or state is None:
        return None
    return source.dataset, cast("OpenDocument", source).name, state


def _folder(plot: PlotPane) -> str:
    path = cast("OpenDocument", plot.source()).path
    return str(Path.home()) if "://" in path else str(Path(path).absolute().parent)


def _name(plot: PlotPane) -> str:
    shown = shown_by(plot)
    return "figure" if shown is None else shown.name
