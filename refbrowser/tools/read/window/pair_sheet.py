"""The sheet "Difference of two arrays": which two, what of each, and in what their grids differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QGridLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import (
    answer_line,
    combo_box,
    one_shot,
    plain_label,
    push_button,
    resize_within_screen,
)
from refbrowser.model.expressions.grammar import NamedArray
from refbrowser.tools.read.window.compute_sheet import (
    Chosen,
    Computed,
    arrays_of,
    datasets_of,
    labels_of,
    look_at,
)
from refbrowser.views.derived.pairs import Pair, paired
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.engine.dataset import Dataset

_ABOUT = {
    "-": "The values of the second array are subtracted from those of the first.",
    "/": "The values of the first array are divided by those of the second.",
}
_TITLES = {"-": "Difference of two arrays", "/": "Ratio of two arrays"}
#: Milliseconds without a keystroke after which the two are looked at.
_PAUSE = 150
#: Arrays of all documents that are offered.
_OFFERED = 2_000


@dataclass(frozen=True, slots=True)
class FoundPair:
    """What two arrays give, and the array itself where their grids are alike."""

    pair: Pair
    computed: Computed | None

    @property
    def words(self) -> str:
        """What it gives and how they were put together, or in what the grids differ."""
        if self.computed is None:
            return "\n".join(["The grids differ.", *self.pair.differences])
        return "\n".join([self.computed.words, *self.pair.notes])


class PairSheet(QDialog):
    """Takes two arrays, and opens their difference or ratio; looks at them as they are chosen.

    Signals
    -------
    told(str)
        What was done.
    """

    told = Signal(str)

    def __init__(
        self, sign: str, first: Chosen, second: Chosen, documents: Documents, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("pairSheet")
        self.setWindowTitle(_TITLES[sign])
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 640, 380)
        self._sign, self._documents = sign, documents
        self._document = first.document
        self._labels = labels_of(first.document, documents.all())
        self._found: FoundPair | None = None
        #: Dimensions that can be laid by position.
        self._movable: tuple[str, ...] = ()
        self._work = Latest(self, "pair")
        self._pause = one_shot(self, _PAUSE, self.look)
        self._lay_out()
        self._fill(first, second)
        self.rejected.connect(self._work.cancel)
        for document in self._labels.values():
            document.destroyed.connect(self.reject)
        self._parts[1].setFocus()
        self.look()

    def _lay_out(self) -> None:
        heading = plain_label(_TITLES[self._sign])
        heading.setFont(theme.heading_font())
        self._arrays, self._parts = [], []
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.LARGE)
        grid.setVerticalSpacing(theme.SMALL)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)
        grid.addWidget(plain_label("Part", role="muted", wrap=False), 0, 2)
        for row, name in enumerate(("First", "Second")):
            label = plain_label(name, wrap=False)
            array = combo_box(f"pairArray{name}", f"{name} array")
            array.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            array.setMinimumContentsLength(20)
            part = QLineEdit()
            part.setObjectName(f"pairPart{name}")
            part.setAccessibleName(f"What of the {name.lower()} array is taken, such as time=2024-07")
            part.setPlaceholderText("all, or time=2024-07")
            label.setBuddy(array)
            self._arrays.append(array)
            self._parts.append(part)
            grid.addWidget(label, row + 1, 0)
            grid.addWidget(array, row + 1, 1)
            grid.addWidget(part, row + 1, 2)
        self._exchange = push_button("Swap", "pairExchangeButton", self.exchange)
        grid.addWidget(self._exchange, 3, 1, Qt.AlignmentFlag.AlignLeft)
        self._moved = QCheckBox()
        self._moved.setObjectName("pairByPosition")
        self._moved.setAccessibleName("Match the arrays by position")
        self._moved.hide()
        self._outcome = plain_label()
        self._outcome.setObjectName("pairOutcome")
        self._outcome.setMinimumHeight(4 * self.fontMetrics().lineSpacing())
        self._outcome.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._open = push_button("Open", "pairButton", self.open_result)
        self._open.setDefault(True)
        self._open.setEnabled(False)
        cancel = push_button("Cancel", "pairCancelButton", self.reject)
        line = answer_line(cancel, self._open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT[self._sign], role="muted"))
        layout.addLayout(grid)
        layout.addWidget(self._moved)
        layout.addWidget(self._outcome, 1)
        layout.addLayout(line)

    def _fill(self, first: Chosen, second: Chosen) -> None:
        offered = [
            (label, node.path)
            for label, document in self._labels.items()
            for node in arrays_of(document)
            if node.known_dtype.kind in "biufc"
        ][:_OFFERED]
        several = len(self._labels) > 1
        for array, part, chosen in zip(self._arrays, self._parts, (first, second), strict=True):
            wanted = (chosen.named(self._labels).label, chosen.path)
            rows = offered if wanted in offered else [wanted, *offered]
            for label, path in rows:
                title = f"{one_line(self._labels[label].title)}: {one_line(path)}"
                array.addItem(title if several else one_line(path), (label, path))
            array.setCurrentIndex(rows.index(wanted))
            part.setText(chosen.selection)
            array.currentIndexChanged.connect(self._changed)
            part.textChanged.connect(self._changed)
        self._moved.toggled.connect(self.look)

    def sizeHint(self) -> QSize:
        return QSize(640, 380)

    # Looking

    def _changed(self) -> None:
        self._moved.hide()
        self._moved.setChecked(False)
        self._found = None
        self._open.setEnabled(False)
        self._work.cancel()
        self._pause.start()

    def look(self) -> None:
        """Find out what the two give."""
        sides = [
            NamedArray(label, path, part.text().strip())
            for array, part in zip(self._arrays, self._parts, strict=True)
            for label, path in [array.currentData()]
        ]
        sign, datasets = self._sign, datasets_of(self._labels)
        moved = self._movable if self._moved.isChecked() else ()
        self._open.setEnabled(False)

        def find(control: TaskControl) -> FoundPair:
            return found_pair(sign, sides[0], sides[1], datasets, control, moved)

        self._work.run(self._document, "Look at two arrays", find, self._show, self._failed)

    def _show(self, found: FoundPair) -> None:
        self._found = found
        self._outcome.setText(found.words)
        self._open.setEnabled(found.computed is not None)
        movable = found.pair.movable
        if movable and len(movable) == len(found.pair.differences):
            self._movable = movable
            self._moved.setText(f"Match {' and '.join(map(one_line, movable))} by position")
            self._moved.show()

    def _failed(self, error: BaseException) -> None:
        self._outcome.setText(error_text(error))

    # Acting

    def exchange(self) -> None:
        """Let the two change places."""
        one, other = self._arrays
        index = one.currentIndex(), other.currentIndex()
        texts = [part.text() for part in self._parts]
        one.setCurrentIndex(index[1])
        other.setCurrentIndex(index[0])
        for part, text in zip(self._parts, reversed(texts), strict=True):
            part.setText(text)

    def open_result(self) -> None:
        """Open what the two give."""
        computed = None if self._found is None else self._found.computed
        if computed is None:
            return
        self.accept()
        self.told.emit(computed.show(self._document, self._documents))


def found_pair(
    sign: str,
    first: NamedArray,
    second: NamedArray,
    datasets: Mapping[str, Dataset],
    control: TaskControl,
    by_position: Sequence[str] = (),
) -> FoundPair:
    """Return what two arrays give, with the array where their grids are alike.

    Raises
    ------
    RefbrowserError
        As `paired` and `refbrowser.compute` do.
    """
    pair = paired(first, second, sign, datasets, control.token, by_position)
    computed = look_at(pair.text, datasets, control, pair.title) if pair.text else None
    return FoundPair(pair, computed)
