"""Reads what is visible in more detail, where the picture of the whole leaves values out."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from refbrowser.app.plot.drawing import Drawing
from refbrowser.app.plot.loader import PictureLoader
from refbrowser.app.plot.source import PlotSource
from refbrowser.views.plot.picture import Picture
from refbrowser.views.plot.plan import plan_view, widened


class Refiner(QObject):
    """Keeps a second picture, of the visible part, over the first one.

    Signals
    -------
    changed()
        Another picture of a part is shown, or none.
    ended()
        It is read.
    """

    changed = Signal()
    ended = Signal()

    def __init__(self, drawing: Drawing, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._loader = PictureLoader("plot-detail", self)
        self._loader.shown.connect(self._shown)
        self._loader.filled.connect(drawing.draw)
        self._loader.ended.connect(self._ended)

    @property
    def is_reading(self) -> bool:
        """Whether anything is still to come."""
        return self._loader.is_reading

    def picture_for(self, base: Picture) -> Picture | None:
        """Return the picture of a part of what `base` shows, or None."""
        found = self._loader.current
        return found if found is not None and _same_slice(found, base) else None

    def refine(self, document: PlotSource, base: Picture) -> None:
        """Read the visible part where that shows more than `base` does and needs no question."""
        window = self._drawing.visible_window()
        if not all(len(part) for part in window):
            return
        plan = plan_view(base.node, base.plan.slice, window)
        enough = base.plan.covers(window) and not plan.finer_than(base.plan)
        if enough or plan.too_large:
            self.drop()
            return
        now = self.picture_for(base)
        if now is None or not now.plan.covers(window) or plan.finer_than(now.plan):
            wide = plan_view(base.node, base.plan.slice, widened(window, base.plan.slice))
            self._loader.request(document, base.node, plan if wide.too_large else wide)

    def drop(self) -> None:
        """Show no detail."""
        had = self._loader.current is not None
        self._loader.clear()
        if had:
            self.changed.emit()

    def _shown(self, picture: Picture) -> None:
        base = self._drawing.base
        if base is not None and _same_slice(picture, base):
            self.changed.emit()

    def _ended(self, _picture: Picture) -> None:
        self.ended.emit()


def _same_slice(detail: Picture, base: Picture) -> bool:
    return detail.node is base.node and detail.plan.slice == base.plan.slice
