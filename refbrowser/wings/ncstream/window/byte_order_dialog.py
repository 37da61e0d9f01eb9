"""Both byte orders side by side: statistics of the same bytes, and the choice, which is kept for the file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QHeaderView, QTreeWidget, QVBoxLayout, QWidget

from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import ThemedItem, plain_label, push_button
from refbrowser.views.numbers import value_text
from refbrowser.views.words import one_line
from refbrowser.wings.ncstream.views.byte_order_readings import Reading, Readings
from refbrowser.wings.ncstream.window.document_stream import stream_of
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument


#: Variables that are offered.
_OFFERED = 500
_TITLES = {"big": "Big endian", "little": "Little endian"}
_WORDS = {
    None: "it is read by the rule for old servers",
    "flag": "it is read as the messages say",
    "big": "it is read as big endian",
    "little": "it is read as little endian",
}


class ByteOrderDialog(QDialog):
    """Reads a sample of an array and shows what it looks like in either order.

    Signals
    -------
    chosen(object)
        ``big``, ``little``, ``flag``, or None for the rule.
    """

    chosen = Signal(object)

    def __init__(
        self, document: OpenDocument, paths: tuple[str, ...], first: str | None, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("byteOrderDialog")
        self._sampling = Latest(self, "byte order")
        self.setWindowTitle("Byte order")
        self.setModal(True)
        self.resize(660, 470)
        self._document = document
        heading = plain_label("In which order are the bytes of each number?")
        heading.setFont(theme.heading_font())
        self._array = QComboBox()
        self._array.setObjectName("byteOrderArray")
        self._array.setAccessibleName("Array to look at")
        for path in paths[:_OFFERED]:
            self._array.addItem(one_line(path), path)
        self._array.setCurrentIndex(max(0, self._array.findData(first)))
        self._array.currentIndexChanged.connect(lambda _at: self._read())
        label = plain_label("Array", wrap=False)
        label.setBuddy(self._array)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(label)
        line.addWidget(self._array, 1)
        self._summary = plain_label("Reading…", role="muted")
        self._summary.setObjectName("byteOrderSummary")
        self.list = _make_list()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addLayout(line)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._summary)
        layout.addLayout(self._make_buttons())
        document.destroyed.connect(self.reject)
        self._read()

    def _make_buttons(self) -> QHBoxLayout:
        stream = stream_of(self._document)
        origin = None if stream is None else stream.origin
        now = None if origin is None else origin.options.byte_order
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        rule = push_button("By the rule", "byteOrderRuleButton", lambda: self._choose(None))
        rule.setToolTip(
            "As each message says, except that little endian of versions 2 and 3 means big, for "
            "plain and ragged numbers"
        )
        flag = push_button("As the messages say", "byteOrderFlagButton", lambda: self._choose("flag"))
        big = push_button("Big endian", "byteOrderBigButton", lambda: self._choose("big"))
        little = push_button("Little endian", "byteOrderLittleButton", lambda: self._choose("little"))
        for button, order in ((rule, None), (flag, "flag"), (big, "big"), (little, "little")):
            button.setEnabled(order != now and stream is not None and not stream.why_fixed)
        buttons.addWidget(push_button("Close", "byteOrderCloseButton", self.reject))
        buttons.addStretch(1)
        for button in (rule, flag, big, little):
            buttons.addWidget(button)
        return buttons

    def summary(self) -> str:
        """Return the words below the table."""
        return self._summary.text()

    def texts(self) -> dict[str, tuple[str, str]]:
        """Return the rows: what, in big and in little endian."""
        rows = [self.list.topLevelItem(at) for at in range(self.list.topLevelItemCount())]
        return {row.text(0): (row.text(1), row.text(2)) for row in rows if row is not None}

    def _choose(self, order: str | None) -> None:
        self.accept()
        self.chosen.emit(order)

    def _read(self) -> None:
        """Read a sample of the chosen array, off the GUI thread."""
        document, dataset = self._document, self._document.dataset
        path = self._array.currentData()
        self.list.clear()
        if dataset is None or path is None:
            self._summary.setText("This stream has no numbers of more than one byte.")
            return
        self._summary.setText("Reading…")

        def read(control: TaskControl) -> Readings | None:
            from refbrowser.wings.ncstream.views.byte_order_readings import sample_readings

            return sample_readings(dataset, path, control)

        self._sampling.run(
            document,
            f"Compare byte orders of {one_line(path)}",
            read,
            self._show,
            self._failed,
        )

    def _show(self, found: Readings | None) -> None:
        if found is None or not found.count:
            self._summary.setText("There are no values to compare: the stream has none.")
            return
        for what, big, little in rows_of(found):
            row = ThemedItem([what, big, little])
            row.setSizeHint(0, QSize(0, theme.ROW))
            for column, text in ((1, big), (2, little)):
                row.setFont(column, theme.mono_font())
                row.setToolTip(column, theme.plain_tooltip(text))
            self.list.addTopLevelItem(row)
        likelier = found.likelier
        self._mark(likelier)
        count = count_text(found.count)
        words = f"{_TITLES[likelier]} makes more sense" if likelier else "Both make sense, or neither does"
        self._summary.setText(f"{words}, by {count} values. {self._now()} {self._prospect()}.")

    def _prospect(self) -> str:
        """Return what a choice means, or why there is none."""
        stream = stream_of(self._document)
        return ("" if stream is None else stream.why_fixed) or "The choice is kept for this file"

    def _now(self) -> str:
        """Return how the stream is read now."""
        stream = stream_of(self._document)
        origin = None if stream is None else stream.origin
        return "" if origin is None else f"Now {_WORDS[origin.options.byte_order]}."

    def _mark(self, likelier: str | None) -> None:
        """Set the likelier reading in bold, and say it in its title."""
        titles = ["", *_TITLES.values()]
        for column, order in enumerate(_TITLES, 1):
            if order == likelier:
                titles[column] += "  ✓ likelier"
            for at in range(self.list.topLevelItemCount()):
                row = self.list.topLevelItem(at)
                assert isinstance(row, ThemedItem)
                font = row.font(column)
                font.setBold(order == likelier)
                row.setFont(column, font)
                if likelier is not None and order != likelier:
                    row.color(column, "muted")
        self.list.setHeaderLabels(titles)

    def _failed(self, error: BaseException) -> None:
        self._summary.setText(f"The array cannot be read. {error_text(error)}")


def rows_of(found: Readings) -> list[tuple[str, str, str]]:
    """Return the rows of the comparison: what, in big and in little endian."""
    big, little = found.big, found.little
    rows = [
        (what, value_text(getattr(big, name)), value_text(getattr(little, name)))
        for what, name in (("Least", "low"), ("Greatest", "high"), ("Mean", "mean"))
    ]
    rows += [
        (what, _share(getattr(big, name)), _share(getattr(little, name)))
        for what, name in (("Not a number, or infinite", "not_finite"), ("Absurdly large or small", "absurd"))
    ]
    rows.append(("Step between neighbours", _steps(big), _steps(little)))
    rows.append(("First values", _examples(big), _examples(little)))
    return rows


def _share(part: float) -> str:
    if 0 < part < 0.001:
        return "< 0.1 %"
    return f"{100 * part:.3g} %"


def _steps(reading: Reading) -> str:
    return "" if math.isnan(reading.low) else f"{_share(reading.roughness)} of the range"


def _examples(reading: Reading) -> str:
    return ", ".join(value_text(each) for each in reading.examples)


def _make_list() -> QTreeWidget:
    view = QTreeWidget()
    view.setObjectName("byteOrderList")
    view.setAccessibleName("Both readings")
    view.setUniformRowHeights(True)
    view.setRootIsDecorated(False)
    view.setHeaderLabels(["", *_TITLES.values()])
    view.header().setStretchLastSection(True)
    view.header().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
    view.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    for section, width in ((0, 190), (1, 205)):
        view.header().resizeSection(section, width)
    return view
