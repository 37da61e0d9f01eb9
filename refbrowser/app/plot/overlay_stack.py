"""The overlays of one drawing: which suit what is shown, which of them are on."""

from __future__ import annotations

from collections.abc import Callable

from refbrowser.app.plot.canvas import View
from refbrowser.views.overlays.overlay import Overlay
from refbrowser.views.overlays.overlay_table import OVERLAYS, suited
from refbrowser.views.plot.drawn_slice import DrawnSlice
from refbrowser.views.plot.picture import Picture


class SwitchedOverlay:
    """What draws something over pictures while it is switched on; this one draws nothing."""

    def set_slice(self) -> None:
        """Take note of another slice, other coordinates, or another place of the same ones."""

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Take another picture, and one of a part of it in more detail; None: nothing is shown."""

    def draw(self, view: View) -> None:
        """Bring the canvas up to date: the view moved, more has come, or the theme is another one."""

    def notes(self) -> list[str]:
        """Return what is to be known about it, beside what is seen."""
        return []

    def value_words(self, element: tuple[int, ...]) -> str:
        """Return the values that it shows at an element (indices along the axes); empty for none."""
        return ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still to come."""
        return True

    def clear(self) -> None:
        """Take everything off the canvas: it is switched off, or no longer suits what is shown."""


class OverlayStack:
    """What is drawn over the pictures of one drawing.

    Parameters
    ----------
    made
        Returns what draws an overlay, when it is needed first.
    begin
        Lets that draw what is shown.
    """

    def __init__(
        self, made: Callable[[Overlay], SwitchedOverlay], begin: Callable[[SwitchedOverlay], None]
    ) -> None:
        self._made, self._begin = made, begin
        #: What the user chose, by the names of overlays.
        self.chosen: dict[str, bool] = {}
        self._drawn: dict[str, SwitchedOverlay] = {}
        #: Those that suit what is shown.
        self.suited: tuple[Overlay, ...] = ()

    @property
    def on(self) -> frozenset[str]:
        """The names of those that are drawn."""
        return frozenset(
            overlay.name for overlay in self.suited if self.chosen.get(overlay.name, overlay.begins_on)
        )

    @property
    def is_settled(self) -> bool:
        """Whether nothing is still to come."""
        return all(self._drawn[name].is_settled for name in self.on)

    def notes(self) -> list[str]:
        """Return what is to be known about those that are drawn."""
        return [note for overlay in self._in_order() for note in overlay.notes()]

    def value_words(self, element: tuple[int, ...]) -> list[str]:
        """Return the values that those show which are drawn, at an element."""
        return [words for overlay in self._in_order() if (words := overlay.value_words(element))]

    def _in_order(self) -> list[SwitchedOverlay]:
        return [self._drawn[overlay.name] for overlay in self.suited if overlay.name in self.on]

    def switch(self, name: str, on: bool) -> None:
        """Draw an overlay from now on, here and over what is shown later, or do not."""
        before = self.on
        self.chosen[name] = on
        self._follow(before)

    def choose_for_array(self, names: frozenset[str]) -> None:
        """Take what the user chose for an array that is shown next: of these names are those that are on."""
        for overlay in OVERLAYS:
            if overlay.is_of_array:
                self.chosen[overlay.name] = overlay.name in names

    def set_slice(self, drawn: DrawnSlice | None) -> None:
        """Follow the slice of the drawing; None: there is none."""
        before = self.on
        self.suited = () if drawn is None else suited(drawn)
        for name in before & self.on:
            self._drawn[name].set_slice()
        self._follow(before)

    def _follow(self, before: frozenset[str]) -> None:
        now = self.on
        for name in before - now:
            self._drawn[name].clear()
        for overlay in self.suited:
            if overlay.name in now - before:
                if overlay.name not in self._drawn:
                    self._drawn[overlay.name] = self._made(overlay)
                self._begin(self._drawn[overlay.name])

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Show others, or none."""
        for name in self.on:
            self._drawn[name].set_pictures(base, detail)

    def draw(self, view: View) -> None:
        """Bring the canvas up to date."""
        for name in self.on:
            self._drawn[name].draw(view)
