"""How the values of an array differ: how many, by how much at most and where, which the plot shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import plain_label, push_button
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.engine.comparing.differences import ArrayComparison, Extreme

_INDEX = Qt.ItemDataRole.UserRole


class ComparedValues(QWidget):
    """The differences of values of one array.

    Signals
    -------
    elementWanted(object)
        The element with this index is to be shown in the plot.
    """

    elementWanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.rows = QTreeWidget()
        self.rows.setObjectName("comparedValues")
        self.rows.setAccessibleName("Where values differ")
        self.rows.setRootIsDecorated(False)
        self.rows.setHeaderLabels(["Largest", "By", "At", "Left", "Right"])
        self.rows.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.rows.itemActivated.connect(lambda _row, _column: self._want())
        self.rows.currentItemChanged.connect(lambda _row, _before: self._update())
        self.show_button = push_button("Show in the plot", "comparedShowButton", self._want)
        self.show_button.setToolTip("Select the array on the left, and put the cursor on this element")
        self._errors = plain_label("", role="fault")
        self._errors.setObjectName("comparedUnread")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.rows, 1)
        layout.addWidget(self._errors)
        layout.addWidget(self.show_button, 0, Qt.AlignmentFlag.AlignLeft)

    def set_array(self, array: ArrayComparison) -> None:
        """Show where the values of an array differ."""
        values = array.values
        self.rows.clear()
        if values is not None:
            told = (
                ("difference", values.absolute),
                ("relative difference", values.relative),
                ("first that differs", values.first),
            )
            for name, extreme in told:
                if extreme is not None:
                    self.rows.addTopLevelItem(_row(name, extreme))
            self.rows.setCurrentItem(self.rows.topLevelItem(0))
        lines = [] if values is None else [one_line(str(each)) for each in values.errors]
        self._errors.setText("\n".join(lines))
        self._errors.setVisible(bool(lines))
        self._update()

    def _update(self) -> None:
        self.show_button.setEnabled(self.rows.currentItem() is not None)

    def _want(self) -> None:
        row: QTreeWidgetItem | None = self.rows.currentItem()
        if row is not None:
            self.elementWanted.emit(tuple(row.data(0, _INDEX)))


def _row(name: str, extreme: Extreme) -> QTreeWidgetItem:
    amount = f"{extreme.amount:.6g}" if extreme.amount else ""
    place = f"[{', '.join(map(str, extreme.index))}]"
    row = QTreeWidgetItem([name, amount, place, one_line(extreme.here), one_line(extreme.there)])
    row.setData(0, _INDEX, list(extreme.index))
    row.setSizeHint(0, QSize(0, theme.ROW))
    for column in range(1, 5):
        row.setFont(column, theme.mono_font())
    return row
