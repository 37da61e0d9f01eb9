"""Computing arrays of those that are open: by an expression, or of two that are selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from refbrowser.app.actions.action_spec import ActionSpec
from refbrowser.app.commands.view import HelpCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.frame.centre import PLOT
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.workspace.command_group import CommandGroup, by_name
from refbrowser.model.nodes import ArrayNode
from refbrowser.tools.read.window.slider_reductions import SliderReductions
from refbrowser.views.plot.named_selection import selection_of, slice_words
from refbrowser.views.plot.units import units_of
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.plot.plot_pane import PlotPane
    from refbrowser.app.workspace.workspace import Workspace
    from refbrowser.model.selection import Selection
    from refbrowser.tools.read.window.compute_sheet import Chosen
    from refbrowser.tools.read.window.pair_sheet import FoundPair


class ComputeCommands(CommandGroup):
    """Shows the sheets that compute."""

    actions = (
        ActionSpec(
            "compute_array",
            "Co&mpute…",
            shortcut="Ctrl+Shift+M",
            when="has_document",
            tip="Compute an array of others by an expression, and open it",
            menu="&Data",
        ),
        ActionSpec(
            "difference_of_two",
            "Di&fference of two…",
            when="has_document",
            tip="Open the difference of the two arrays selected in the tree, or of two places of one",
            menu="&Data",
        ),
        ActionSpec(
            "ratio_of_two",
            "Rat&io of two…",
            when="has_document",
            tip="Open the ratio of the two arrays selected in the tree, or of two places of one",
            menu="&Data",
        ),
        ActionSpec(
            "go_to_place",
            "&Go to a place",
            shortcut="Ctrl+Shift+G",
            when="has_slice",
            tip="Type what to show of the array: time=2003-04, lat=30..60, plev~500",
            menu="&Data",
            after="reset_view",
        ),
        ActionSpec(
            "choose_units",
            "&Units…",
            when="has_units",
            tip="Show the values in other units: degC for K, hPa for Pa",
            menu="&Data",
        ),
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._work = Latest(self, "pair")
        self._reductions = SliderReductions(workspace)
        self._places = TypedPlaces(workspace)

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        own = (self.compute_array, self.difference_of_two, self.ratio_of_two)
        return by_name(*own, self.choose_units, self.go_to_place)

    def conditions(self) -> dict[str, bool]:
        """Return whether what is plotted has units."""
        return {"has_units": self._stored_array() is not None}

    def compute_array(self) -> None:
        """Show the sheet, with the array that is selected in it."""
        from refbrowser.tools.read.window.compute_sheet import ComputeSheet

        document = self._current
        if document is None or document.dataset is None:
            return
        item = self._workspace.hierarchy.current_item()
        node = item.node if item is not None and item.document is document else None
        sheet = ComputeSheet(document, self._workspace.documents, self._workspace.window())
        sheet.helpWanted.connect(lambda: self._workspace.groups[HelpCommands].manual("computing"))
        sheet.told.connect(self._workspace.say)
        if isinstance(node, ArrayNode):
            sheet.insert("", node.path)
        sheet.open()

    def go_to_place(self) -> None:
        """Let a place be typed over the plot."""
        plot = self._workspace.centre.plot
        if plot is not None:
            self._workspace.centre.show_tab(PLOT)
            self._places.begin(plot)

    def choose_units(self) -> None:
        """Ask in which units the plot is shown."""
        from refbrowser.model.expressions.conversions import is_difference
        from refbrowser.tools.read.window.units_sheet import UnitsSheet

        plot, node = self._workspace.centre.plot, self._stored_array()
        document = None if plot is None else plot.source()
        if plot is None or node is None or not isinstance(document, OpenDocument):
            return
        difference = is_difference(node.attributes, node.name)
        UnitsSheet(plot, document, units_of(node), difference, self._workspace.window()).open()

    def _stored_array(self) -> ArrayNode | None:
        """Return the array of the plot with the units that it has itself; None where it has none."""
        plot = self._workspace.centre.plot
        source, shown = (None, None) if plot is None else (plot.source(), plot.array())
        if source is None or source.hierarchy is None or shown is None:
            return None
        node = source.hierarchy.find(shown.path)
        # A part of each element, such as the phase, has units of its own.
        if not isinstance(node, ArrayNode) or node.dtype != shown.dtype:
            return None
        return node if units_of(node) else None

    def difference_of_two(self) -> None:
        """Open the difference of two arrays, or ask which."""
        self._of_two("-")

    def ratio_of_two(self) -> None:
        """Open the ratio of two arrays, or ask which."""
        self._of_two("/")

    def _of_two(self, sign: str) -> None:
        """Open what two arrays give that are selected; ask where they are not two, or their grids differ."""
        from refbrowser.tools.read.window.compute_sheet import Chosen, datasets_of, labels_of

        chosen = [
            Chosen(item.document, item.node.path)
            for item in self._workspace.hierarchy.selected_items()
            if isinstance(item.node, ArrayNode) and item.document.dataset is not None
        ]
        if len(chosen) != 2:
            one = chosen[-1] if chosen else self._first_array()
            if one is None:
                self._workspace.say("There is no array to compute with.")
                return
            self._ask(sign, self._with_slice(one), one)
            return
        first, second = chosen
        labels = labels_of(first.document, self._workspace.documents.all())
        datasets = datasets_of(labels)
        sides = [each.named(labels) for each in chosen]

        def find(control: TaskControl) -> FoundPair:
            from refbrowser.tools.read.window.pair_sheet import found_pair

            return found_pair(sign, sides[0], sides[1], datasets, control)

        def done(found: FoundPair) -> None:
            if found.computed is None:
                self._ask(sign, first, second)
                return
            told = found.computed.show(first.document, self._workspace.documents)
            self._workspace.say("; ".join([*found.pair.notes, told]))

        def failed(_error: BaseException) -> None:
            # The sheet finds out why, and says it where something else can be chosen.
            self._ask(sign, first, second)

        self._work.run(first.document, "Look at two arrays", find, done, failed)

    def _first_array(self) -> Chosen | None:
        from refbrowser.tools.read.window.compute_sheet import Chosen, arrays_of

        document = self._current
        arrays = [] if document is None else arrays_of(document)
        return Chosen(document, arrays[0].path) if document is not None and arrays else None

    def _with_slice(self, chosen: Chosen) -> Chosen:
        """Return an array with the place of the slice on the screen, where it is that one's."""
        plot = self._workspace.centre.plot
        state = None if plot is None else plot.slice_state()
        node = None if plot is None else plot.array()
        if plot is None or state is None or node is None:
            return chosen
        if plot.source() is not chosen.document or node.path != chosen.path:
            return chosen
        return replace(chosen, selection=slice_words(state, plot.coordinates()))

    def _ask(self, sign: str, first: Chosen, second: Chosen) -> None:
        from refbrowser.tools.read.window.pair_sheet import PairSheet

        sheet = PairSheet(sign, first, second, self._workspace.documents, self._workspace.window())
        sheet.told.connect(self._workspace.say)
        sheet.open()


class TypedPlaces(QObject):
    """Shows what is typed in the field over any plot of a window."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.window())
        self._workspace = workspace
        self._work = Latest(self, "place")
        workspace.centre.plotMade.connect(self._follow)

    def _follow(self, plot: PlotPane) -> None:
        plot.header.place.typed.connect(lambda text: self._show(plot, text))
        plot.header.placeWanted.connect(lambda: self.begin(plot))

    def begin(self, plot: PlotPane) -> None:
        """Let a place be typed, beginning with the one that is shown."""
        state = plot.slice_state()
        if state is not None and state.shape:
            plot.header.place.begin(slice_words(state, plot.coordinates()))

    def _show(self, plot: PlotPane, text: str) -> None:
        source, node = plot.source(), plot.array()
        if not isinstance(source, OpenDocument) or source.dataset is None or node is None:
            return
        dataset = source.dataset

        def find(control: TaskControl) -> Selection:
            return selection_of(dataset.array(node.path), text, control.token)

        def done(selection: Selection) -> None:
            if plot.source() is source and plot.array() is not None:
                plot.show_selection(selection)
                plot.page().setFocus(Qt.FocusReason.OtherFocusReason)

        def failed(error: BaseException) -> None:
            self._workspace.show_error(f"{one_line(text)} is not shown", error)

        self._work.run(source, f"Find {one_line(text)}", find, done, failed)
