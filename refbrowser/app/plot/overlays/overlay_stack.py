"""The overlays of one drawing: which suit what is shown, which of them are on, and what draws these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refbrowser.app.plot.overlays.drawn_overlay import DrawnOverlay
from refbrowser.loading import load
from refbrowser.views.overlays.overlay import DrawnSlice, Overlay
from refbrowser.views.overlays.overlays import suited

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.views.plot.picture import Picture


class OverlayStack:
    """What is drawn over the pictures of one drawing."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        #: What the user chose, by the names of overlays.
        self._chosen: dict[str, bool] = {}
        self._drawn: dict[str, DrawnOverlay] = {}
        #: Those that suit what is shown.
        self.suited: tuple[Overlay, ...] = ()

    @property
    def on(self) -> frozenset[str]:
        """The names of those that are drawn."""
        return frozenset(
            overlay.name for overlay in self.suited if self._chosen.get(overlay.name, overlay.begins_on)
        )

    def switch(self, name: str, on: bool) -> None:
        """Draw an overlay from now on, here and over what is shown later, or do not."""
        before = self.on
        self._chosen[name] = on
        self._follow(before)

    def set_slice(self) -> None:
        """Follow the slice of the drawing."""
        drawing, before = self._drawing, self.on
        if drawing.slice is None or drawing.shown is None:
            self.suited = ()
        else:
            self.suited = suited(
                DrawnSlice(drawing.shown, drawing.slice, drawing.coordinates, drawing.auxiliary)
            )
        for name in before & self.on:
            self._drawn[name].set_slice()
        self._follow(before)

    def _follow(self, before: frozenset[str]) -> None:
        now = self.on
        for name in before - now:
            self._drawn[name].clear()
        for overlay in self.suited:
            if overlay.name in now - before:
                self._begin(overlay)

    def _begin(self, overlay: Overlay) -> None:
        drawing = self._drawing
        if overlay.name not in self._drawn:
            self._drawn[overlay.name] = load(overlay.drawn_by)(drawing)
        drawn = self._drawn[overlay.name]
        drawn.set_slice()
        drawn.set_pictures(drawing.base, drawing.detail)
        drawn.draw(drawing.canvas.view())

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Show others, or none."""
        for name in self.on:
            self._drawn[name].set_pictures(base, detail)

    def draw(self, view: View) -> None:
        """Bring the canvas up to date."""
        for name in self.on:
            self._drawn[name].draw(view)
