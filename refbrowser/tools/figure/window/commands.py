"""Commands that make figures and films of what is plotted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.copying import shown_by
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.engine.dataset import Dataset
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
            after="export",
        ),
    )

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.export_figure)

    def conditions(self) -> dict[str, bool]:
        """Return whether there is something to draw."""
        plot = self._workspace.centre.plot
        return {"has_figure": plot is not None and plot.look().options.has_plot}

    def export_figure(self) -> None:
        """Show the sheet with the plots that are seen."""
        from refbrowser.tools.figure.window.figure_sheet import FigureSheet

        plots = self._plots()
        for plot in plots:
            # Nothing moves behind the sheet either.
            plot.tools.animation.pause()
        shown = [found for plot in plots if (found := _shown(plot)) is not None]
        if not shown:
            return
        workspace = self._workspace
        sheet = FigureSheet(shown, _folder(plots[0]), _name(plots[0]), workspace.settings, workspace.window())
        sheet.told.connect(workspace.say)
        sheet.drawn.connect(self._write)
        sheet.open()

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
        plot = self._workspace.centre.plot
        return [] if plot is None else [plot]


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
