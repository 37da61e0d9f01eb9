"""The overlays: one table."""

from __future__ import annotations

from refbrowser.views.overlays.overlay import DrawnSlice, Overlay

#: In the order of the menu.
OVERLAYS: tuple[Overlay, ...] = ()


def suited(drawn: DrawnSlice) -> tuple[Overlay, ...]:
    """Return the overlays that can be drawn over a slice; none over a line."""
    if len(drawn.state.axes) != 2:
        return ()
    return tuple(overlay for overlay in OVERLAYS if overlay.suits(drawn))
