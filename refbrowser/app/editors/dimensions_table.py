"""The table of a rule's dimensions: name, range or list, and its numbers, edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.table_models import ROOT, Index, TitledModel
from refbrowser.views.editing.rule_draft import DimensionDraft, DimensionKind
from refbrowser.words import count_text

COLUMNS = ("Name", "Kind", "Start", "Stop", "Step", "Values")
NAME, KIND, START, STOP, STEP, SIZE = range(6)
_MEMBERS = {START: "start", STOP: "stop", STEP: "step"}
_OWN_KEYS = (Qt.Key.Key_F2, Qt.Key.Key_Insert, Qt.Key.Key_Delete)
_ROWS_SHOWN = 6
#: Shares of the room that is left when each title fits; numbers are longest in *Stop*.
_SHARES = {NAME: 0.3, START: 0.2, STOP: 0.4, STEP: 0.1}
#: Room around a title or a value.
_AROUND = 14


class DimensionsModel(TitledModel):
    """The drafts of the dimensions as rows.

    Signals
    -------
    edited()
        After each change that the user made.
    """

    titles = COLUMNS

    edited = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows: list[DimensionDraft] = []
        self._faults: dict[tuple[int, str], str] = {}

    def dimensions(self) -> tuple[DimensionDraft, ...]:
        """Return the drafts in order."""
        return tuple(self._rows)

    def show_dimensions(self, rows: tuple[DimensionDraft, ...]) -> None:
        """Show other dimensions."""
        self.beginResetModel()
        self._rows = list(rows)
        self._faults = {}
        self.endResetModel()

    def show_faults(self, faults: Mapping[tuple[int, str], str]) -> None:
        """Mark the cells (row, ``name``, ``start``, ``stop``, ``step`` or ``values``) that are wrong."""
        if faults != self._faults:
            self._faults = dict(faults)
            if self._rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, SIZE))

    def put(self, row: int, draft: DimensionDraft) -> None:
        """Replace one dimension."""
        if self._rows[row] != draft:
            self._rows[row] = draft
            self.dataChanged.emit(self.index(row, 0), self.index(row, SIZE))
            self.edited.emit()

    def insert(self, row: int, draft: DimensionDraft) -> None:
        """Add a dimension before row `row`."""
        self.beginInsertRows(ROOT, row, row)
        self._rows.insert(row, draft)
        self.endInsertRows()
        self.edited.emit()

    def remove(self, row: int) -> None:
        """Take a dimension away."""
        self.beginRemoveRows(ROOT, row, row)
        del self._rows[row]
        self.endRemoveRows()
        self.edited.emit()

    def move(self, row: int, to: int) -> None:
        """Move a dimension to another row; the last one varies fastest."""
        self.beginMoveRows(ROOT, row, row, ROOT, to + 1 if to > row else to)
        self._rows.insert(to, self._rows.pop(row))
        self.endMoveRows()
        self.edited.emit()

    # What the view asks

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        draft, column = self._rows[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._text(draft, column, role)
        if role == Qt.ItemDataRole.FontRole:
            return theme.mono_font() if column not in (KIND, SIZE) else None
        if role == Qt.ItemDataRole.TextAlignmentRole and self._is_number(draft, column):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        reason = self._reason(index.row(), column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._brush(draft, column, reason)
        if role == Qt.ItemDataRole.BackgroundRole and reason:
            return QBrush(QColor(theme.colors().fault_soft))
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.plain_tooltip(reason)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{COLUMNS[column]} {self._text(draft, column, role)} {reason}".strip()
        return None

    def _text(self, draft: DimensionDraft, column: int, role: int) -> str:
        editing = role == Qt.ItemDataRole.EditRole
        if column == NAME:
            return draft.name
        if column == KIND:
            return str(draft.kind)
        if column == SIZE:
            size = draft.size()
            return "?" if size is None else count_text(size)
        if draft.kind is not DimensionKind.RANGE:
            return draft.values if column == START else ""
        text: str = getattr(draft, _MEMBERS[column])
        if text == "" and not editing and column != STOP:
            return "0" if column == START else "1"
        return text

    def _is_number(self, draft: DimensionDraft, column: int) -> bool:
        return column == SIZE or (column in _MEMBERS and draft.kind is DimensionKind.RANGE)

    def _reason(self, row: int, column: int) -> str:
        names = {
            NAME: ("name",),
            KIND: ("kind",),
            START: ("start", "values"),
            STOP: ("stop",),
            STEP: ("step",),
        }
        for name in names.get(column, ()):
            if (row, name) in self._faults:
                return self._faults[row, name]
        return ""

    def _brush(self, draft: DimensionDraft, column: int, reason: str) -> QBrush | None:
        scheme = theme.colors()
        if reason:
            return QBrush(QColor(scheme.fault))
        defaulted = column in (START, STEP) and getattr(draft, _MEMBERS[column]) == ""
        if column == SIZE or (defaulted and draft.kind is DimensionKind.RANGE):
            return QBrush(QColor(scheme.muted))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        draft = self._rows[index.row()]
        fixed = draft.kind is not DimensionKind.RANGE and (
            draft.too_long or draft.kind is DimensionKind.OTHER
        )
        if index.column() == SIZE or (fixed and index.column() in _MEMBERS):
            return flags
        return flags | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        draft, column, text = self._rows[index.row()], index.column(), str(value)
        if column == NAME:
            draft = replace(draft, name=text)
        elif column == KIND:
            draft = draft.as_kind(DimensionKind(text))
        elif draft.kind is DimensionKind.LIST:
            draft = replace(draft, values=text)
        elif column == START:
            draft = replace(draft, start=text)
        elif column == STOP:
            draft = replace(draft, stop=text)
        else:
            draft = replace(draft, step=text)
        self.put(index.row(), draft)
        return True


class _CellDelegate(QStyledItemDelegate):
    """Editors of cells that give each keystroke to the model at once."""

    returnPressed = Signal()

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        is_key = isinstance(editor, QLineEdit) and event.type() == QEvent.Type.KeyPress
        if is_key and isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # The filter of Qt closes the cell after this.
            self.returnPressed.emit()
        return super().eventFilter(editor, event)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        if index.column() == KIND:
            box = QComboBox(parent)
            box.setObjectName("genDimensionKind")
            box.setAccessibleName("Kind of the dimension")
            box.addItems([DimensionKind.RANGE.value, DimensionKind.LIST.value])
            box.activated.connect(lambda _row: self.commitData.emit(box))
            return box
        line = QLineEdit(parent)
        line.setObjectName("genDimensionCell")
        line.setAccessibleName(f"{COLUMNS[index.column()]} of the dimension")
        line.setFont(theme.mono_font())
        line.setFrame(False)
        line.setStyleSheet("QLineEdit { border-radius: 0; padding: 0 2px; }")
        line.textEdited.connect(lambda _text: self.commitData.emit(line))
        return line

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        text = str(index.data(Qt.ItemDataRole.EditRole))
        if isinstance(editor, QComboBox):
            editor.setCurrentText(text)
        elif isinstance(editor, QLineEdit) and editor.text() != text:  # keeps the cursor while typing
            editor.setText(text)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        text = editor.currentText() if isinstance(editor, QComboBox) else None
        if isinstance(editor, QLineEdit):
            text = editor.text()
        if text is not None and text != index.data(Qt.ItemDataRole.EditRole):
            model.setData(index, text)


class DimensionsTable(QTableView):
    """The dimensions, first one slowest, last one fastest.

    Delete removes the current row, Alt+Up and Alt+Down move it, Insert adds one. The values of a list stand
    in one cell across *Start* to *Step*.

    Signals
    -------
    edited()
        After each change, each keystroke in a cell included.
    returnPressed()
        Enter was pressed in a cell; it is closed.
    """

    edited = Signal()
    returnPressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("genDimensionsTable")
        self.setAccessibleName("Dimensions of the rule, the last one varies fastest")
        self._model = DimensionsModel(self)
        self.setModel(self._model)
        delegate = _CellDelegate(self)
        delegate.returnPressed.connect(self.returnPressed, Qt.ConnectionType.QueuedConnection)
        self.setItemDelegate(delegate)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.SelectedClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(True)
        self.setWordWrap(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._set_up_headers()
        self._model.edited.connect(self._changed)
        self._model.modelReset.connect(self._shape)
        self._shape()

    def _set_up_headers(self) -> None:
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(36)
        header.setStyleSheet("QHeaderView::section { padding: 4px 4px; }")
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._measure()

    def _measure(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 10)
        header = self.horizontalHeader()
        header.resizeSection(KIND, metrics.horizontalAdvance("range") + _AROUND)
        header.resizeSection(SIZE, metrics.horizontalAdvance("1 000 000") + _AROUND)
        self._share_width()

    def _share_width(self) -> None:
        """Give each title its room, and share what is left."""
        header, metrics = self.horizontalHeader(), self.horizontalHeader().fontMetrics()
        needed = {section: metrics.horizontalAdvance(COLUMNS[section]) + _AROUND for section in _SHARES}
        fixed = header.sectionSize(KIND) + header.sectionSize(SIZE)
        room = max(0, self.viewport().width() - fixed - sum(needed.values()))
        for section, share in _SHARES.items():
            header.resizeSection(section, needed[section] + int(room * share))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    # The dimensions

    def dimensions(self) -> tuple[DimensionDraft, ...]:
        """Return the drafts in order."""
        return self._model.dimensions()

    def show_dimensions(self, rows: tuple[DimensionDraft, ...]) -> None:
        """Show other dimensions, unless they are the ones that are shown."""
        if rows != self._model.dimensions() or any(
            new.given is not old.given for new, old in zip(rows, self._model.dimensions(), strict=True)
        ):
            self._model.show_dimensions(rows)

    def show_faults(self, faults: Mapping[tuple[int, str], str]) -> None:
        """Mark cells as wrong, see `DimensionsModel.show_faults`."""
        self._model.show_faults(faults)

    def add(self) -> None:
        """Add a dimension below the current one and edit its name."""
        row = self.currentIndex().row() + 1 if self.currentIndex().isValid() else self._model.rowCount()
        taken = {draft.name for draft in self._model.dimensions()}
        free = (name for name in "ijklmnopqrstuvwxyzabcdefgh" if name not in taken)
        self._model.insert(row, DimensionDraft(next(free, f"d{len(taken)}"), stop="1"))
        index = self._model.index(row, NAME)
        self.setCurrentIndex(index)
        self.edit(index)

    def remove(self) -> None:
        """Take the current dimension away."""
        row = self.currentIndex().row()
        if row >= 0:
            self._model.remove(row)

    def move_current(self, step: int) -> None:
        """Move the current dimension up (-1) or down (1)."""
        row = self.currentIndex().row()
        if row >= 0 and 0 <= row + step < self._model.rowCount():
            self._model.move(row, row + step)
            self.setCurrentIndex(self._model.index(row + step, self.currentIndex().column()))

    def show_cell(self, row: int, column: str) -> None:
        """Edit the cell of a dimension that errors call so (``name``, ``start``, ``stop``, ``step``)."""
        number = next((place for place, name in _MEMBERS.items() if name == column), START)
        index = self._model.index(row, NAME if column == "name" else number)
        self.setCurrentIndex(index)
        self.edit(index)

    # Shape

    def _changed(self) -> None:
        self._shape()
        self.edited.emit()

    def _shape(self) -> None:
        """Give a list's values the room of three cells, and the table the height of its rows."""
        self.clearSpans()
        for row, draft in enumerate(self._model.dimensions()):
            if draft.kind is not DimensionKind.RANGE:
                self.setSpan(row, START, 1, STEP - START + 1)
        rows = max(1, min(self._model.rowCount(), _ROWS_SHOWN))
        height = self.verticalHeader().defaultSectionSize()
        header = max(self.horizontalHeader().sizeHint().height(), height)
        self.setFixedHeight(rows * height + header + 2 * self.frameWidth() + 1)

    def sizeHint(self) -> QSize:
        return QSize(320, self.minimumHeight())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_model"):
            self._measure()
            self._shape()

    def event(self, event: QEvent) -> bool:
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and event.key() in _OWN_KEYS:  # type: ignore[attr-defined]
            event.accept()  # not the window's action of this key
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.key() == Qt.Key.Key_Delete:
            self.remove()
        elif event.key() == Qt.Key.Key_Insert:
            self.add()
        elif alt and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.move_current(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().keyPressEvent(event)
