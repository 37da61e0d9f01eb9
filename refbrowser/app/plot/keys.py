"""What the keys do while the plot has the focus."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt

from refbrowser.app.plot.presenter import Presenter

#: Leaves out Shift, Alt and so on.
_KEY = ~int(Qt.KeyboardModifier.KeyboardModifierMask.value)


class PlotKeys:
    """The keys of one pane; parts of the pane can add their own."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self._actions: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Left: lambda: presenter.step_slider(-1),
            Qt.Key.Key_Right: lambda: presenter.step_slider(1),
            Qt.Key.Key_Up: lambda: presenter.next_slider(-1),
            Qt.Key.Key_Down: lambda: presenter.next_slider(1),
            Qt.Key.Key_R: presenter.reset_view,
            Qt.Key.Key_Home: presenter.reset_view,
            Qt.Key.Key_C: presenter.look.next_map,
            Qt.Key.Key_L: self._toggle_log,
            Qt.Key.Key_H: self._toggle_histogram,
            Qt.Key.Key_A: self._toggle_aspect,
            Qt.Key.Key_M: self._toggle_extremes,
            Qt.Key.Key_Escape: presenter.pointing.forget,
        }

    def add(self, key: Qt.Key, action: Callable[[], object]) -> None:
        """Let a key do something."""
        self._actions[key] = action

    def known(self) -> frozenset[Qt.Key]:
        """Return the keys that do something."""
        return frozenset(self._actions)

    def use(self, combined: int) -> None:
        """Do what a key means."""
        self._actions[Qt.Key(combined & _KEY)]()

    def _toggle_log(self) -> None:
        look = self._presenter.look
        if look.options.can_log:
            look.set_log(not look.options.log)

    def _toggle_histogram(self) -> None:
        look = self._presenter.look
        if look.options.has_levels:
            look.set_histogram(not look.options.histogram)

    def _toggle_extremes(self) -> None:
        look = self._presenter.look
        if look.options.has_levels:
            look.set_extremes(not look.options.extremes)

    def _toggle_aspect(self) -> None:
        look = self._presenter.look
        if look.options.has_image:
            look.set_aspect(not look.options.aspect)
