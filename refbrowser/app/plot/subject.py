"""What is plotted: an array of a document, the slice of it, and how its elements are taken."""

from __future__ import annotations

from refbrowser.app.plot.canvas import View
from refbrowser.app.plot.source import PlotSource
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.plot.coordinates import attribute_text
from refbrowser.views.plot.interpretation import Interpretation
from refbrowser.views.plot.slicing import SliceState


class Subject:
    """What the parts of one pane share; the presenter changes it.

    Attributes
    ----------
    choice
        The answer to the question of size: ``middle``, ``sampled`` or ``all``; None where there was none.
    whole
        The array whose elements, or a part of each (`node`), are shown.
    is_charted
        Charts of nested values are shown, not the values themselves.
    decoded
        Whether the CF conventions are applied.
    view_is_new
        The next picture is to be seen as a whole.
    kept_view
        The next picture is to be seen where the one before was: the array got longer.
    window
        The part of the slice that is to be seen next, as indices along its axes; None for no certain one.
    """

    def __init__(self) -> None:
        self.document: PlotSource | None = None
        self.node: ArrayNode | None = None
        self.whole: ArrayNode | None = None
        self.slice: SliceState | None = None
        self.choice: str | None = None
        self.is_charted = False
        self.decoded = True
        self.view_is_new = False
        self.kept_view: View | None = None
        self.window: tuple[range, ...] | None = None
        self._shown: Interpretation | None = None

    def forget(self) -> None:
        """Let go of the array."""
        self.document = self.node = self.whole = self.slice = None
        self.choice = self._shown = self.window = self.kept_view = None
        self.view_is_new = self.is_charted = False

    @property
    def is_plot(self) -> bool:
        """Whether a line or an image is drawn; else values are a table or a text, or there are charts."""
        if self.node is None or self.is_charted:
            return False
        return bool(self.node.shape) and self.shown.is_number

    @property
    def is_image(self) -> bool:
        """Whether an image is drawn."""
        return self.is_plot and self.slice is not None and self.slice.y is not None

    @property
    def shown(self) -> Interpretation:
        """What the elements mean; the same object as long as the array and the coding are the same."""
        assert self.node is not None
        if self._shown is None or self._shown.node is not self.node or self._shown.decoded != self.decoded:
            self._shown = Interpretation(self.node, self.decoded)
        return self._shown

    @property
    def label(self) -> str:
        """What the array is called on the screen."""
        assert self.node is not None
        return attribute_text(self.node.attributes, "long_name") or self.node.name or self.node.path
