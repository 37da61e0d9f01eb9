"""The plan beside the byte map: its numbers, and sliders that try other gaps, blocks and connections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.small_widgets import plain_label, push_button
from refbrowser.io.plan import AUTOMATIC, PlanChoice
from refbrowser.tools.bytes.report.live_plan import BLOCKS, CONNECTIONS, GAPS, link_words
from refbrowser.words import count_text, size_text

if TYPE_CHECKING:
    from refbrowser.tools.bytes.report.live_plan import LivePlan

_AUTOMATIC = "automatic"
_ROWS = 4


class PlanPanel(QWidget):
    """Numbers of the plan for the view on the screen.

    Signals
    -------
    choiceChanged(object)
        Another `PlanChoice` is to be drawn; nothing is read by it.
    """

    choiceChanged = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("planPanel")
        self._choice = AUTOMATIC
        self._tried: LivePlan | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addLayout(self._make_head())
        layout.addLayout(self._make_numbers())
        layout.addLayout(self._make_sliders())
        self.link = ElidedLabel("planLink", role="muted")
        self.note = plain_label("", role="muted")
        self.note.setObjectName("planNote")
        layout.addWidget(self.link)
        layout.addWidget(self.note)
        layout.addStretch(1)
        self.set_plans(None, None)

    def _make_head(self) -> QHBoxLayout:
        line = QHBoxLayout()
        self.title = plain_label("How the view is read", role="paneTitle", wrap=False)
        line.addWidget(self.title, 1)
        self.reset = push_button("Automatic", "planAutomatic", lambda: self.set_choice(AUTOMATIC), flat=True)
        self.reset.setToolTip("Reset all sliders to the program's own plan")
        line.addWidget(self.reset)
        return line

    def _make_numbers(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(1, 1)
        self._numbers: list[tuple[QLabel, QLabel, QLabel]] = []
        grid.setColumnStretch(3, 1)
        for row in range(_ROWS):
            name, value, usual = (plain_label("", wrap=False) for _ in range(3))
            name.setProperty("role", "muted")
            usual.setProperty("role", "muted")
            value.setObjectName(f"planNumber{row}")
            usual.setObjectName(f"planUsual{row}")
            # Two beside each other, with what is usual below where it differs.
            line, column = 2 * (row // 2), 2 * (row % 2)
            grid.addWidget(name, line, column)
            grid.addWidget(value, line, column + 1)
            grid.addWidget(usual, line + 1, column, 1, 2)
            self._numbers.append((name, value, usual))
        return grid

    def _make_sliders(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        self._values: dict[str, QLabel] = {}
        self.sliders: dict[str, QSlider] = {}
        rows: tuple[tuple[str, str, str, Sequence[int]], ...] = (
            ("gap", "Gap", "Gap between two ranges that is read through", GAPS),
            ("block", "Block", "Largest size of one request", BLOCKS),
            ("connections", "Connections", "Most connections at once", CONNECTIONS),
        )
        for row, (name, text, tip, values) in enumerate(rows):
            slider = QSlider(Qt.Orientation.Horizontal)
            slider.setObjectName(f"plan_{name}")
            slider.setAccessibleName(tip)
            slider.setToolTip(f"{tip}; at the left end what the program does")
            slider.setRange(0, len(values))
            slider.setPageStep(2)
            slider.valueChanged.connect(lambda _value: self._moved())
            label = plain_label(text, role="muted", wrap=False)
            label.setBuddy(slider)
            value = plain_label("", wrap=False)
            value.setObjectName(f"planValue_{name}")
            value.setMinimumWidth(value.fontMetrics().horizontalAdvance("auto, 999 MB  "))
            for column, part in enumerate((label, slider, value)):
                grid.addWidget(part, row, column)
            self.sliders[name], self._values[name] = slider, value
        return grid

    # What is shown

    def choice(self) -> PlanChoice:
        """Return what is to be drawn."""
        return self._choice

    def set_choice(self, choice: PlanChoice) -> None:
        """Put the sliders so, and tell it where that is another choice."""
        for name, values in (("gap", GAPS), ("block", BLOCKS), ("connections", CONNECTIONS)):
            slider, value = self.sliders[name], getattr(choice, name)
            slider.blockSignals(True)
            slider.setValue(0 if value is None else 1 + values.index(value))
            slider.blockSignals(False)
        self._moved()

    def set_plans(self, tried: LivePlan | None, usual: LivePlan | None) -> None:
        """Show the numbers of the plan that is drawn, and of what the program does."""
        is_other = tried is not None and usual is not None and self._choice != AUTOMATIC
        words = list(tried.words()) if tried is not None else []
        before = list(usual.words()) if usual is not None else words
        for row, (name, value, beside) in enumerate(self._numbers):
            name.setText(words[row][0] if row < len(words) else "")
            value.setText(words[row][1] if row < len(words) else "")
            differs = is_other and row < len(words) and before[row][1] != words[row][1]
            beside.setText(f"now {before[row][1]}" if differs else "")
            beside.setVisible(differs)
        self.link.set_text("" if usual is None else f"Link {link_words(usual.link)}")
        self._tried = tried
        self._show_values(tried)
        self.note.setText("Only a sketch: the program still reads by its own plan." if is_other else "")
        self.note.setVisible(bool(self.note.text()))
        self.reset.setEnabled(self._choice != AUTOMATIC)
        for slider in self.sliders.values():
            slider.setEnabled(tried is not None)

    def _show_values(self, tried: LivePlan | None) -> None:
        told: dict[str, Callable[[int], str]] = {
            "gap": lambda value: size_text(value) if value else "none",
            "block": size_text,
            "connections": count_text,
        }
        for name, words in told.items():
            value = getattr(self._choice, name)
            automatic = None if tried is None else getattr(tried, name)
            text = _AUTOMATIC if automatic is None else f"auto, {words(automatic)}"
            self._values[name].setText(text if value is None else words(value))
            self.sliders[name].setAccessibleDescription(self._values[name].text())

    def _moved(self) -> None:
        at = {name: slider.value() for name, slider in self.sliders.items()}
        choice = PlanChoice(
            GAPS[at["gap"] - 1] if at["gap"] else None,
            BLOCKS[at["block"] - 1] if at["block"] else None,
            CONNECTIONS[at["connections"] - 1] if at["connections"] else None,
        )
        if choice != self._choice:
            self._choice = choice
            self._show_values(self._tried)
            self.choiceChanged.emit(choice)
