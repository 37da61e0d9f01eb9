"""What was found in files that are to be combined: their differences with remedies, and where each lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QToolTip,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import ThemedItem, push_button
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.exporting.combining.combination import Remedy
    from refbrowser.exporting.combining.mismatches import Mismatch
    from refbrowser.tools.make.combining import FileRow, Found
    from refbrowser.tools.make.custom_remedies import CustomRemedy

#: Differences of one group that are listed, and files that a line names.
_LISTED, _NAMED = 200, 2
#: Width of the words on a button, in pixels.
_BUTTON = 165
_VARIABLE, _PROPERTY, _COMMON, _ODD, _REMEDY = range(5)
_SOURCE = Qt.ItemDataRole.UserRole


def remedy_words(remedy: Remedy) -> str:
    """Return what a remedy does, as a sentence begins."""
    words = one_line(remedy.words)
    return words[0].upper() + words[1:]


def _name(source: str) -> str:
    return one_line(source.rstrip("/").rsplit("/", 1)[-1] or source)


class _Rows(QTreeWidget):
    """A list with columns, one of which takes what is left."""

    def __init__(self, name: str, described: str, titles: Sequence[str], widths: Sequence[int]) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(described)
        self.setHeaderLabels(list(titles))
        self.header().setStretchLastSection(False)
        for section, width in enumerate(widths):
            if width:
                self.header().resizeSection(section, width)
            else:
                self.header().setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)

    def _row(self, texts: Sequence[str], parent: QTreeWidgetItem | None = None) -> ThemedItem:
        row = self._alone(texts)
        if parent is None:
            self.addTopLevelItem(row)
        else:
            parent.addChild(row)
        return row

    @staticmethod
    def _alone(texts: Sequence[str]) -> ThemedItem:
        """Return a row that is in no list yet: what it is given there is told to the list each time."""
        row = ThemedItem([one_line(text) for text in texts])
        row.setSizeHint(0, QSize(0, theme.ROW))
        for column, text in enumerate(texts):
            if text:
                row.setToolTip(column, theme.plain_tooltip(text))
        return row


class DifferencesList(_Rows):
    """One line for each difference: what most files have, the odd ones by name, and what can be done.

    Signals
    -------
    chosen(object)
        The user wants a `Remedy`.
    takenBack(object)
        The user does not want it any more.
    wordsWanted(object)
        The user wants to say the rest of an `CustomRemedy`.
    """

    chosen = Signal(object)
    takenBack = Signal(object)
    wordsWanted = Signal(object)

    def __init__(self) -> None:
        titles = ("Variable", "Differs in", "Most files", "Odd ones out", "What to do")
        super().__init__("combineDifferences", "What the files differ in", titles, (130, 110, 140, 0, 300))
        self.setUniformRowHeights(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setMinimumHeight(6 * theme.ROW)
        self._found: Found | None = None

    def show_found(self, found: Found | None, decided: Sequence[Remedy]) -> None:
        """Show what was found, and what was decided about it."""
        self.clear()
        self._found = found
        if found is not None and found.blocking:
            group = self._group("To be decided", len(found.blocking), "fault", "fault")
            for each in found.blocking[:_LISTED]:
                self._difference(each, group)
            self._more(found.blocking, group)
        if decided:
            group = self._group("Decided", len(decided), "good", "done")
            for remedy in decided:
                row = self._row(["", "", "", remedy_words(remedy)], group)
                row.setToolTip(_ODD, theme.plain_tooltip(remedy.option))
                self._button(row, remedy_words(remedy), [("Take back", partial(self.takenBack.emit, remedy))])
        if found is not None and found.harmless:
            group = self._group("Noted; nothing has to be done", len(found.harmless), "muted", "")
            for each in found.harmless[:_LISTED]:
                self._difference(each, group)
            self._more(found.harmless, group)
        if found is not None and not (found.blocking or found.harmless or decided):
            self._group("No differences", 0, "good", "done")

    def _group(self, title: str, count: int, role: str, icon: str) -> ThemedItem:
        row = self._row([f"{title} ({count_text(count)})" if count else title])
        row.color(0, role)
        if icon:
            row.mark(0, icon, "accent" if icon == "done" else role)
        font = row.font(0)
        font.setBold(True)
        row.setFont(0, font)
        row.setFirstColumnSpanned(True)
        row.setExpanded(True)
        return row

    def _more(self, all_of_them: Sequence[Mismatch], group: ThemedItem) -> None:
        if len(all_of_them) > _LISTED:
            self._row([f"and {count_text(len(all_of_them) - _LISTED)} more"], group).setFirstColumnSpanned(
                True
            )

    def _difference(self, each: Mismatch, group: ThemedItem) -> None:
        common = f"{each.common} in {count_text(each.common_files)}" if each.common else ""
        odd = "; ".join(
            f"{value.value} in {count_text(len(value.files))}: {_names(value.files)}" for value in each.odd
        )
        if not common and not each.is_blocking:
            # Told whole: it is no value that some have and others do not.
            row = self._row([each.message], group)
            row.setFirstColumnSpanned(True)
            row.color(0, "muted")
            return
        if not common:
            odd = each.message.removeprefix(f"{each.path}: ")
        row = self._row([each.path, each.name, common, odd], group)
        for column in range(_REMEDY):
            row.setToolTip(column, theme.plain_tooltip(each.message))
        if not each.is_blocking:
            for column in range(_REMEDY):
                row.color(column, "muted")
            return
        row.color(_ODD, "fault")
        remedies = [(remedy_words(it), partial(self.chosen.emit, it)) for it in each.remedies]
        ways = [(f"{way.title}…", partial(self.wordsWanted.emit, way)) for way in self._ways(each)]
        if remedies or ways:
            self._button(row, f"{each.path} {each.name}", remedies, ways)

    def _ways(self, mismatch: Mismatch) -> list[CustomRemedy]:
        # What it needs was loaded when files were looked at.
        from refbrowser.tools.make.custom_remedies import custom_remedies

        if self._found is None:
            return []
        plan = self._found.plan
        sources = [each.source for each in plan.files[self._found.is_added :]]
        return custom_remedies(mismatch, plan.request, sources, plan.arrays)

    def _button(
        self,
        row: ThemedItem,
        described: str,
        actions: Sequence[tuple[str, Callable[[], object]]],
        ways: Sequence[tuple[str, Callable[[], object]]] = (),
    ) -> None:
        """Put a button at the end of a row: the first action; what else there is, in a menu."""
        place = QWidget()
        line = QHBoxLayout(place)
        line.setContentsMargins(0, 2, 0, 2)
        line.setSpacing(theme.SMALL)
        (text, first), *others = actions or ways
        ways = ways if actions else ()
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, _BUTTON)
        button = push_button(shown.replace("&", "&&"), "combineRemedy", lambda: None)
        button.setToolTip(theme.plain_tooltip(text))
        button.setAccessibleName(f"{described}: {text}")
        # What it does makes all rows anew, and the button with them.
        button.clicked.connect(lambda _checked=False: first(), Qt.ConnectionType.QueuedConnection)
        line.addWidget(button)
        if others or ways:
            other = push_button("Other…", "combineOtherRemedies", lambda: None)
            other.setAccessibleName(f"{described}: other ways")
            menu = QMenu(other)
            for number, (words, act) in enumerate((*others, *ways)):
                if others and number == len(others):
                    menu.addSeparator()
                action = menu.addAction(words.replace("&", "&&"))
                action.triggered.connect(
                    lambda _checked=False, act=act: act(), Qt.ConnectionType.QueuedConnection
                )
            other.setMenu(menu)
            line.addWidget(other)
        line.addStretch(1)
        row.setSizeHint(0, QSize(0, theme.ROW + theme.LARGE))
        self.setItemWidget(row, _REMEDY, place)


def _names(files: Sequence[str]) -> str:
    more = f" and {count_text(len(files) - _NAMED)} more" if len(files) > _NAMED else ""
    return ", ".join(map(_name, files[:_NAMED])) + more


class PlacedFiles(_Rows):
    """The files in the order in which they lie, from where to where, and what is wrong with it.

    Signals
    -------
    removeWanted(list)
        The user wants files not to be in the list.
    """

    removeWanted = Signal(list)

    def __init__(self) -> None:
        super().__init__(
            "combineFiles", "Files and their places", ("File", "From", "To", "Length", ""),
            (190, 140, 140, 110, 0),
        )  # fmt: skip
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setMinimumHeight(5 * theme.ROW)
        self.headerItem().setTextAlignment(3, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def show_files(self, sources: Sequence[str]) -> None:
        """Show files of which nothing is known yet."""
        self.clear()
        self.addTopLevelItems(
            [self._file(source, [_name(source), "", "", "", ""]) for source in sources[:_LISTED]]
        )
        if len(sources) > _LISTED:
            self._row([f"and {count_text(len(sources) - _LISTED)} more"]).color(0, "muted")

    def show_found(self, found: Found) -> None:
        """Show where files lie."""
        self.clear()
        seen = None
        rows: list[QTreeWidgetItem] = []
        for each in found.rows:
            length = count_text(each.length) if each.length else ""
            row = self._file(each.source, [_name(each.source), each.low, each.high, length, each.trouble])
            row.setTextAlignment(3, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            role = "fault" if each.is_fault else "warning" if each.trouble else "text"
            for column in range(5):
                row.color(column, "muted" if each.is_out else role if column in (0, 4) else "text")
            if each.is_out or each.trouble:
                icon = "cancel" if each.is_out else "fault" if each.is_fault else "warning"
                row.mark(0, icon, "muted" if each.is_out else role)
                seen = seen or row
            rows.append(row)
        self.addTopLevelItems(rows)
        if seen is not None:
            self.scrollToItem(seen, QAbstractItemView.ScrollHint.PositionAtCenter)
        if found.files > len(found.rows):
            self._row([f"and {count_text(found.files - len(found.rows))} more"]).color(0, "muted")

    def _file(self, source: str, texts: Sequence[str]) -> ThemedItem:
        row = self._alone(texts)
        row.setData(0, _SOURCE, source)
        row.setToolTip(0, theme.plain_tooltip(source))
        return row

    def selected(self) -> list[str]:
        """Return the files of the selected rows."""
        return [source for row in self.selectedItems() if (source := row.data(0, _SOURCE))]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.selected():
            self.removeWanted.emit(self.selected())
        else:
            super().keyPressEvent(event)


class AxisStrip(QWidget):
    """Draws where each file lies along the dimension: gaps and what lies twice are red."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("combineAxis")
        self._rows: tuple[FileRow, ...] = ()
        self._gaps: tuple[tuple[float, float], ...] = ()
        self.setFixedHeight(theme.ROW)
        self._describe()

    def show_found(self, found: Found | None) -> None:
        """Show where files lie; nothing where that is not known."""
        self._rows, self._gaps = ((), ()) if found is None else (found.drawn, found.gaps)
        self._describe()
        self.update()

    def _describe(self) -> None:
        bad = sum(row.is_fault for row in self._rows)
        self.setAccessibleName(
            f"Places of {count_text(len(self._rows))} files; with gaps: {count_text(len(self._gaps))}, "
            f"in trouble: {count_text(bad)}"
        )

    def _place(self, start: float, end: float) -> QRectF:
        width = self.width() - 1
        return QRectF(start * width, 3, max((end - start) * width, 2), self.height() - 6)

    def paintEvent(self, _event: QPaintEvent) -> None:
        scheme = theme.colors()
        painter = QPainter(self)
        painter.fillRect(QRectF(0, 3, self.width(), self.height() - 6), QColor(scheme.raised))
        for start, end in self._gaps:
            place = self._place(start, end)
            painter.fillRect(place, QColor(scheme.fault_soft))
            painter.setPen(QColor(scheme.fault))
            middle = place.center().y()
            painter.drawLine(QPointF(place.left(), middle), QPointF(place.right(), middle))
        for fault in (False, True):
            painted = -1
            for row in self._rows:
                if row.is_fault != fault:
                    continue
                place = self._place(row.start, row.end)
                if int(place.right()) == painted:
                    continue
                painted = int(place.right())
                line = QColor(scheme.fault if fault else scheme.accent)
                if place.width() < 5:
                    # Of thousands none has room for an edge.
                    painter.fillRect(place, line)
                    continue
                place = place.adjusted(0.5, 0.5, -1.5, -0.5)
                painter.fillRect(place, QColor(scheme.fault_soft if fault else scheme.accent_soft))
                painter.setPen(line)
                painter.drawRect(place)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            at = event.pos().x() / max(self.width() - 1, 1)
            lines = [
                f"{_name(row.source)}: {row.low} to {row.high}" + (f"; {row.trouble}" * bool(row.trouble))
                for row in self._rows
                if row.start <= at <= row.end
            ]
            lines = lines or ["no file" for start, end in self._gaps if start <= at <= end]
            QToolTip.showText(event.globalPos(), theme.plain_tooltip("\n".join(lines)), self)
            return True
        return super().event(event)
