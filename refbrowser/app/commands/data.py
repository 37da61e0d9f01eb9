"""How the plotted array is shown: coding, colours, levels, proportions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name

if TYPE_CHECKING:
    from refbrowser.app.plot.header import PlotOptions
    from refbrowser.app.plot.look import Look
    from refbrowser.app.plot.pane import PlotPane
    from refbrowser.app.shell.main_window import MainWindow


class DataCommands(CommandGroup):
    """The commands of the menu Data that act on the plot."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        window.centre.plotMade.connect(self._follow)

    def _follow(self, plot: PlotPane) -> None:
        """Keep the menu as the plot is, whoever switched it."""
        plot.optionsChanged.connect(self._window.update_actions)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        switches = (self.toggle_coding, self.toggle_log, self.toggle_extremes, self.toggle_histogram)
        others = (self.toggle_aspect, self.toggle_reverse)
        return by_name(*switches, *others, self.next_map, self.auto_levels, self.reset_view)

    def conditions(self) -> dict[str, bool]:
        """Return what the plot can show, and how it does."""
        options = self._options()
        if options is None:
            return dict.fromkeys(_CONDITIONS, False)
        return {name: bool(getattr(options, attribute)) for name, attribute in _CONDITIONS.items()}

    def toggle_coding(self) -> None:
        """Apply the CF conventions, or show the elements as they are stored."""
        self._switch(lambda look, now: look.set_decoded(not now.decoded))

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

    def reset_view(self) -> None:
        """See the whole slice again."""
        plot = self._window.centre.plot
        if plot is not None:
            plot.reset_view()

    def _options(self) -> PlotOptions | None:
        plot = self._window.centre.plot
        return None if plot is None else plot.look().options

    def _switch(self, change: Callable[[Look, PlotOptions], object]) -> None:
        plot = self._window.centre.plot
        if plot is not None:
            change(plot.look(), plot.look().options)


#: Names of conditions, and the attributes of `PlotOptions` that they stand for.
_CONDITIONS = {
    "has_plot": "has_plot",
    "has_image": "has_image",
    "has_levels": "has_levels",
    "has_coding": "has_coding",
    "can_log": "can_log",
    "is_decoded": "decoded",
    "is_log": "log",
    "is_extremes": "extremes",
    "is_histogram": "histogram",
    "is_aspect": "aspect",
    "is_reverse": "reverse",
}
