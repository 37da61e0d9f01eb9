"""Draws one overlay on the canvas of one drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refbrowser.app.plot.canvas import View
    from refbrowser.app.plot.drawing import Drawing
    from refbrowser.views.plot.picture import Picture


class DrawnOverlay:
    """Draws over the picture of one drawing while it is switched on; this one draws nothing.

    What is drawn lies where `DrawnKind.where` puts the elements, and `DrawnKind.on_earth` the places.

    Parameters
    ----------
    drawing
        What is shown, and where.
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing

    def set_slice(self) -> None:
        """Take note of another slice, other coordinates, or another place of the same ones."""

    def set_pictures(self, base: Picture | None, detail: Picture | None) -> None:
        """Take another picture, and one of a part of it in more detail; None: nothing is shown."""

    def draw(self, view: View) -> None:
        """Bring the canvas up to date: the view moved, more has come, or the theme is another one."""

    def clear(self) -> None:
        """Take everything off the canvas: it is switched off, or no longer suits what is shown."""
