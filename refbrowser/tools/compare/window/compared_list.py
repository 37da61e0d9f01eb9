"""What differs, section by section, with counts and what finds some of it; and where values differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QHeaderView,
    QLineEdit,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import ThemedItem, one_shot, plain_label, push_button
from refbrowser.limits import LIMITS
from refbrowser.tools.compare.window.grid_map import GridMap
from refbrowser.views.chunks.chunk_map import ChunkLayout
from refbrowser.views.words import index_text, one_line
from refbrowser.words import count_text, counted_spaced

if TYPE_CHECKING:
    from refbrowser.app.tasks.latest import Work
    from refbrowser.engine.comparing.differences import ArrayComparison, ChunkValues, Extreme
    from refbrowser.tools.compare.compared import Compared
    from refbrowser.tools.compare.compared_entries import ComparedEntry

_ENTRY = Qt.ItemDataRole.UserRole
#: Lines of a section that are listed; more are found by typing.
LISTED = 1_000
#: What is typed is looked for after a pause, in milliseconds.
_PAUSE = 120
#: Why elements could not be read: so many reasons are told.
_ERRORS = 2
_TOO_LARGE = "The grid is too large to be drawn: the chunks that differ most are listed."
#: Sign and words of each side.
_SIDES = {"here": "− only here", "there": "+ only there", "both": "≠ differs"}


class ComparedList(QWidget):
    """The list of differences.

    Signals
    -------
    chosen(object)
        Another `ComparedEntry` is looked at; None for none.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[ComparedEntry, ...] = ()
        self.filter = QLineEdit()
        self.filter.setObjectName("comparedFilter")
        self.filter.setAccessibleName("Find differences by words")
        self.filter.setPlaceholderText("Find: units, /temp, moved…")
        self.filter.setClearButtonEnabled(True)
        self._pause = one_shot(self, _PAUSE, self._fill)
        self.filter.textChanged.connect(lambda _text: self._pause.start())
        self.rows = QTreeWidget()
        self.rows.setObjectName("comparedList")
        self.rows.setAccessibleName("What differs")
        self.rows.setHeaderLabels(["Difference", "Side"])
        self.rows.setUniformRowHeights(True)
        self.rows.header().setStretchLastSection(False)
        self.rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.currentItemChanged.connect(lambda row, _before: self.chosen.emit(_entry_of(row)))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self.filter)
        layout.addWidget(self.rows, 1)

    def set_entries(self, entries: Sequence[ComparedEntry]) -> None:
        """List other differences; what was chosen stays chosen, else what stands at its place."""
        self._entries = tuple(entries)
        self._fill()

    def current(self) -> ComparedEntry | None:
        """Return what is chosen."""
        return _entry_of(self.rows.currentItem())

    def shown(self) -> list[ComparedEntry]:
        """Return what is listed."""
        words = self.filter.text().lower().split()
        return [each for each in self._entries if each.holds(words)]

    def _fill(self) -> None:
        before = self.current()
        place = self._place()
        blocked = self.rows.blockSignals(True)
        self.rows.clear()
        found: list[tuple[ComparedEntry, QTreeWidgetItem]] = []
        for section, entries in groupby(self.shown(), key=lambda each: each.section):
            several = list(entries)
            top = _heading(f"{section} ({count_text(len(several))})")
            self.rows.addTopLevelItem(top)
            rows = [_row(each) for each in several[:LISTED]]
            top.addChildren(rows)
            found += zip(several, rows, strict=False)
            if len(several) > LISTED:
                top.addChild(_muted(f"and {count_text(len(several) - LISTED)} more: type to find them"))
            top.setFirstColumnSpanned(True)
            top.setExpanded(True)
        self.rows.blockSignals(blocked)
        self._choose(found, before, place)

    def _place(self) -> int:
        """Return how many entries stand before the chosen one."""
        entry = self.current()
        shown = [] if entry is None else list(self._entries_listed())
        return next((at for at, each in enumerate(shown) if each is entry), 0)

    def _entries_listed(self) -> list[ComparedEntry]:
        tops = (self.rows.topLevelItem(at) for at in range(self.rows.topLevelItemCount()))
        rows = (top.child(at) for top in tops if top is not None for at in range(top.childCount()))
        return [entry for row in rows if (entry := _entry_of(row)) is not None]

    def _choose(
        self, found: list[tuple[ComparedEntry, QTreeWidgetItem]], before: ComparedEntry | None, place: int
    ) -> None:
        if not found:
            self.chosen.emit(None)
            return
        same = (row for each, row in found if before is not None and _is_same(each, before))
        row = next(same, found[min(place, len(found) - 1)][1])
        self.rows.setCurrentItem(row)
        if row is self.rows.currentItem():
            self.rows.scrollToItem(row)


def _is_same(one: ComparedEntry, other: ComparedEntry) -> bool:
    return (one.section, one.path, one.what) == (other.section, other.path, other.what)


def _entry_of(row: QTreeWidgetItem | None) -> ComparedEntry | None:
    return None if row is None else row.data(0, _ENTRY)


def _heading(text: str) -> QTreeWidgetItem:
    row = QTreeWidgetItem([text, ""])
    row.setSizeHint(0, QSize(0, theme.ROW))
    row.setFlags(row.flags() & ~Qt.ItemFlag.ItemIsSelectable)
    font = row.font(0)
    font.setBold(True)
    row.setFont(0, font)
    return row


def _row(entry: ComparedEntry) -> QTreeWidgetItem:
    words = _SIDES[entry.side]
    row = ThemedItem([one_line(entry.title), words])
    row.setData(0, _ENTRY, entry)
    row.color(1, "muted")
    row.setToolTip(0, theme.plain_tooltip(f"{entry.title}\n{entry.note or words}"))
    row.setSizeHint(0, QSize(0, theme.ROW))
    return row


def _muted(text: str) -> QTreeWidgetItem:
    row = ThemedItem([text, ""])
    row.color(0, "muted")
    row.setFlags(row.flags() & ~Qt.ItemFlag.ItemIsSelectable)
    row.setSizeHint(0, QSize(0, theme.ROW))
    return row


class ComparedValues(QWidget):
    """The differences of values of one array.

    Signals
    -------
    elementWanted(object)
        The element with this index is to be shown in the plot.
    """

    elementWanted = Signal(object)

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.grid = GridMap(work, "comparedValuesMap", "Chunks, by how much their values differ", _TOO_LARGE)
        self.grid.pointed.connect(self._point)
        self.rows = QTreeWidget()
        self.rows.setObjectName("comparedValues")
        self.rows.setAccessibleName("Where values differ")
        self.rows.setRootIsDecorated(False)
        self.rows.setHeaderLabels(["Where", "By", "At", "Here", "There"])
        self.rows.setUniformRowHeights(True)
        self.rows.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, width in enumerate((160, 110, 130, 150)):
            self.rows.header().resizeSection(column, width)
        self.rows.itemActivated.connect(lambda _row, _column: self._want())
        self.rows.currentItemChanged.connect(lambda _row, _before: self._update())
        self.show_button = push_button("Show in the plot", "comparedShowButton", self._want)
        self.show_button.setToolTip("Select the array on the left, and put the cursor on this element")
        self._errors = plain_label("", role="fault")
        self._errors.setObjectName("comparedUnread")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MEDIUM)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setObjectName("comparedValuesSplit")
        split.setChildrenCollapsible(False)
        split.addWidget(self.grid)
        split.addWidget(self.rows)
        layout.addWidget(split, 1)
        layout.addWidget(self._errors)
        layout.addWidget(self.show_button, 0, Qt.AlignmentFlag.AlignLeft)

    def set_array(self, found: Compared, array: ArrayComparison) -> None:
        """Show where the values of an array differ."""
        values = array.values
        self._show_grid(found, array)
        self.rows.clear()
        if values is not None:
            # Of numbers the largest ones say more than the first.
            first = values.first if values.absolute is None else None
            told = (
                ("largest difference", values.absolute),
                ("largest relative", values.relative),
                ("first that differs", first),
            )
            for name, extreme in told:
                if extreme is not None:
                    self.rows.addTopLevelItem(_extreme_row(name, extreme))
            for chunk in values.chunks:
                self.rows.addTopLevelItem(_chunk_row(chunk))
            if (row := self.rows.topLevelItem(0)) is not None:
                self.rows.setCurrentItem(row)
        errors = () if values is None else values.errors[:_ERRORS]
        lines = [f"Cannot be read: {one_line(str(each))}" for each in errors]
        self._errors.setText("\n".join(lines))
        self._errors.setVisible(bool(lines))
        self._update()

    def _show_grid(self, found: Compared, array: ArrayComparison) -> None:
        from refbrowser.tools.compare.chunk_states import amounts_map, states_slice
        from refbrowser.tools.compare.compared import names_of

        amounts = None if array.values is None else array.values.amounts
        self.grid.setVisible(amounts is not None)
        if amounts is None or array.values is None:
            self.grid.clear()
            return
        if prod(amounts.grid_shape) > LIMITS.map_chunks:
            self.grid.show_large()
            return
        worst = array.values.chunks[0].coords if array.values.chunks else None
        layout = ChunkLayout.of(states_slice(amounts.grid_shape, names_of(found, array), worst))
        self.grid.show_layout(layout, partial(amounts_map, amounts))
        if worst is not None:
            self.grid.place_cursor(worst)

    def _point(self, coords: tuple[int, ...]) -> None:
        """Choose the line of a chunk, where it has one."""
        name = _name_of_chunk(coords)
        found = self.rows.findItems(name, Qt.MatchFlag.MatchExactly)
        self.grid.view.say(f"{name}: {found[0].text(1)} {found[0].text(3)}" if found else name)
        if found:
            self.rows.setCurrentItem(found[0])

    def _update(self) -> None:
        self.show_button.setEnabled(self.rows.currentItem() is not None)

    def _want(self) -> None:
        row: QTreeWidgetItem | None = self.rows.currentItem()
        if row is not None:
            self.elementWanted.emit(tuple(row.data(0, _ENTRY)))


def _extreme_row(name: str, extreme: Extreme) -> QTreeWidgetItem:
    return _value_row(name, extreme.amount, extreme.index, extreme.here, extreme.there)


def _name_of_chunk(coords: tuple[int, ...]) -> str:
    return f"chunk {index_text(coords)}"


def _chunk_row(chunk: ChunkValues) -> QTreeWidgetItem:
    name = _name_of_chunk(chunk.coords)
    words = counted_spaced(chunk.different, "value differs", "values differ")
    return _value_row(name, chunk.amount, chunk.index, words, "")


def _value_row(name: str, amount: float, index: tuple[int, ...], here: str, there: str) -> QTreeWidgetItem:
    by = f"{amount:.6g}" if amount else ""
    row = QTreeWidgetItem([name, by, index_text(index), one_line(here), one_line(there)])
    row.setData(0, _ENTRY, list(index))
    row.setSizeHint(0, QSize(0, theme.ROW))
    for column in range(1, 5):
        row.setFont(column, theme.mono_font())
    return row
