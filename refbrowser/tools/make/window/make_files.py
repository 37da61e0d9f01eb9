"""Files of which references are made: what each is, what of it can be referenced, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QAbstractItemModel, QItemSelectionRange, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView, QWidget

from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import one_shot
from refbrowser.app.widgets.table_models import ROOT, Index
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from refbrowser.exporting.making.made_references import Made
    from refbrowser.tools.make.making import SourceFacts

_FILE, _KIND, _VARIABLES, _RESULT = range(4)
_TITLES = ("File", "What it is", "Can be referenced", "Result")
#: Rows are put in order so many milliseconds after something was told of one.
SORTING = 500
#: Reasons that are told where the pointer rests on a file.
_REASONS = 10


class _Cell(NamedTuple):
    """A text, the role of the theme that colours it, what is told where the pointer rests, and an icon."""

    text: str = ""
    role: str = "text"
    tip: str = ""
    icon: str = ""


_Cells = tuple[_Cell, ...]


@dataclass(slots=True, eq=False)
class _File:
    """One file: its number, the row it has, what is known of it, and what became of it."""

    source: str
    number: int
    row: int
    facts: SourceFacts | None = None
    answer: Made | BaseException | None = None
    cells: _Cells = ()
    below: tuple[_Cells, ...] = ()

    @property
    def trouble(self) -> int:
        """Where it comes: first what cannot be made, then what is not whole, then the rest."""
        facts, answer = self.facts, self.answer
        if isinstance(answer, BaseException) or (facts is not None and facts.error is not None):
            return 0
        is_whole = facts is None or not (facts.hindered or facts.damage)
        return 2 if is_whole and (answer is None or not answer.unread) else 1

    def describe(self) -> tuple[_Cells, tuple[_Cells, ...]]:
        """Return its cells, and those of the rows below it."""
        name = one_line(self.source.rstrip("/").rsplit("/", 1)[-1] or self.source)
        kind, variables, result, below = _Cell(), _Cell(), _Cell(), list[_Cells]()
        if self.facts is not None:
            kind, variables, result = _facts_cells(self.facts)
            below += _hindered_cells(self.facts)
        elif self.answer is None:
            kind = _Cell("looking…", "muted")
        if isinstance(self.answer, BaseException):
            result = _Cell(_short(self.answer), "fault", error_text(self.answer), "fault")
        elif self.answer is not None:
            from refbrowser.tools.make.making import made_text

            words = made_text(self.answer)
            mark = "warning" if self.answer.unread else "done"
            result = _Cell(words, "text", f"{self.answer.target}\n{words}", mark)
            below += [_below("", "", "in the document", held) for held in self.answer.held]
            below += [_below("", "", "not kept", loss) for loss in self.answer.losses]
        return (_Cell(name, "text", self.source), kind, variables, result), tuple(below)


def _facts_cells(facts: SourceFacts) -> _Cells:
    if facts.error is not None:
        what = error_text(facts.error)
        return (
            _Cell("cannot be opened", "fault", what, "fault"),
            _Cell(),
            _Cell(_short(facts.error), "muted", what),
        )
    whole, known = facts.variables - facts.hindered, count_text(facts.variables)
    words = f"{count_text(whole)} of {known} variables" if facts.hindered else f"all {known} variables"
    if facts.variables == 1:
        words = "no variable of one" if facts.hindered else "its variable"
    reasons = "\n".join(f"{each.path}: {each.why}" for each in facts.listed[:_REASONS])
    mark = "warning" if facts.hindered else ""
    kind = _Cell(facts.kind, "muted", facts.kind)
    if facts.damage:
        kind = _Cell("damaged", "warning", f"{facts.kind}\n{facts.damage}", "warning")
    return (
        kind,
        _Cell(words, mark or "text", reasons, mark),
        _Cell(one_line(facts.damage), "muted", facts.damage),
    )


def _hindered_cells(facts: SourceFacts) -> Iterator[_Cells]:
    for each in facts.listed:
        yield _below(each.path, each.what, "no", each.why)
    if (more := facts.hindered - len(facts.listed)) > 0:
        yield _below(f"and {count_text(more)} more", "", "no", "")


def _below(*texts: str) -> _Cells:
    return tuple(_Cell(one_line(text), "muted", text) for text in texts)


def _short(error: BaseException) -> str:
    """Return what an error says, without the place, which is that of the row."""
    return one_line(getattr(error, "message", str(error)))


class FilesModel(QAbstractItemModel):
    """A row for each file, those with trouble first; below it what cannot be referenced, or was not kept."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files: dict[str, _File] = {}
        self._shown: list[_File] = []
        #: By their numbers, which rows below them have.
        self._numbered: dict[int, _File] = {}
        self._next = 1

    def file(self, index: Index) -> _File:
        """Return the file of a row, or that above it."""
        return self._numbered[index.internalId()] if index.internalId() else self._shown[index.row()]

    def files_of(self, rows: QItemSelectionRange) -> list[_File]:
        """Return the files of rows, or that above them."""
        above = rows.parent()
        return [self.file(above)] if above.isValid() else self._shown[rows.top() : rows.bottom() + 1]

    def add(self, sources: Iterable[str]) -> None:
        """Add files that are not there yet."""
        fresh = [source for source in dict.fromkeys(sources) if source not in self.files]
        first = len(self._shown)
        if not fresh:
            return
        self.beginInsertRows(ROOT, first, first + len(fresh) - 1)
        for source in fresh:
            file = _File(source, self._next, len(self._shown))
            file.cells, _ = file.describe()
            self.files[source] = self._numbered[file.number] = file
            self._shown.append(file)
            self._next += 1
        self.endInsertRows()

    def remove(self, sources: Iterable[str]) -> None:
        """Take files out of the list."""
        self.beginResetModel()
        for source in sources:
            del self._numbered[self.files.pop(source).number]
        self._shown = [file for file in self._shown if file.source in self.files]
        self._number_rows()
        self.endResetModel()

    def update(self, file: _File) -> None:
        """Show what is known of a file by now."""
        cells, below = file.describe()
        row = self.index(file.row, 0)
        if below != file.below:
            if file.below:
                self.beginRemoveRows(row, 0, len(file.below) - 1)
                file.below = ()
                self.endRemoveRows()
            if below:
                self.beginInsertRows(row, 0, len(below) - 1)
                file.below = below
                self.endInsertRows()
        if cells != file.cells:
            file.cells = cells
            self.dataChanged.emit(row, self.index(file.row, _RESULT))

    def put_trouble_first(self) -> None:
        """Put rows in order; what is selected or unfolded stays that."""
        shown = sorted(self._shown, key=lambda file: (file.trouble, file.number))
        if shown == self._shown:
            return
        self.layoutAboutToBeChanged.emit()
        kept = [each for each in self.persistentIndexList() if not each.internalId()]
        files = [self._shown[each.row()] for each in kept]
        self._shown = shown
        self._number_rows()
        moved = [self.index(file.row, each.column()) for file, each in zip(files, kept, strict=True)]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _number_rows(self) -> None:
        for row, file in enumerate(self._shown):
            file.row = row

    # Qt's side

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        if not (0 <= column < len(_TITLES) and 0 <= row < self.rowCount(parent)):
            return QModelIndex()
        return self.createIndex(row, column, self.file(parent).number if parent.isValid() else 0)

    def parent(self, index: Index = ROOT) -> QModelIndex:  # type: ignore[override]
        if not index.isValid() or not index.internalId():
            return QModelIndex()
        return self.createIndex(self.file(index).row, 0, 0)

    def rowCount(self, parent: Index = ROOT) -> int:
        if not parent.isValid():
            return len(self._shown)
        is_file = not parent.internalId() and parent.column() == 0
        return len(self.file(parent).below) if is_file else 0

    def columnCount(self, parent: Index = ROOT) -> int:
        return len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        is_title = orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return _TITLES[section] if is_title else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        file = self.file(index)
        cell = (file.below[index.row()] if index.internalId() else file.cells)[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cell.text
            case Qt.ItemDataRole.ToolTipRole:
                return theme.plain_tooltip(cell.tip)
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(getattr(theme.colors(), cell.role))
            case Qt.ItemDataRole.DecorationRole if cell.icon:
                role_of_icon = "accent" if cell.icon == "done" else cell.icon
                return icons.icon(cell.icon, getattr(theme.colors(), role_of_icon))
            case Qt.ItemDataRole.SizeHintRole if index.column() == _FILE:
                return QSize(0, theme.ROW)
        return None


class FilesTable(QTreeView):
    """The files and what is known of them.

    Signals
    -------
    openWanted()
        The user wants to open the documents of the selected rows.
    removeWanted()
        The user wants the selected files not to be in the list.
    chosenChanged()
        Others are selected.
    """

    openWanted = Signal()
    removeWanted = Signal()
    chosenChanged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("makeFiles")
        self.setAccessibleName("Files to make references of")
        self.rows = FilesModel(self)
        self.setModel(self.rows)
        self._sorting = one_shot(self, SORTING, self.rows.put_trouble_first)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(_RESULT, QHeaderView.ResizeMode.Stretch)
        for section, width in ((_FILE, 200), (_KIND, 148), (_VARIABLES, 180)):
            self.header().resizeSection(section, width)
        self.setMinimumHeight(5 * theme.ROW)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosenChanged.emit())
        self.doubleClicked.connect(lambda _index: self.openWanted.emit())

    # What is in it

    def sources(self) -> tuple[str, ...]:
        """Return all files, as they were added."""
        return tuple(self.rows.files)

    def unknown(self) -> list[str]:
        """Return the files of which nothing is known yet."""
        return [
            file.source for file in self.rows.files.values() if file.facts is None and file.answer is None
        ]

    def errors(self) -> int:
        """Return how many files cannot be opened."""
        known = (file.facts for file in self.rows.files.values())
        return sum(facts is not None and facts.error is not None for facts in known)

    def has_chosen(self) -> bool:
        """Whether a file is selected."""
        return self.selectionModel().hasSelection()

    def chosen(self) -> Iterator[str]:
        """Yield the files of the selected rows, in the order of the rows."""
        found = set[str]()
        for each in sorted(self._ranges(), key=lambda each: self.rows.file(each.topLeft()).row):
            for file in self.rows.files_of(each):
                if file.source not in found:
                    found.add(file.source)
                    yield file.source

    def _ranges(self) -> list[QItemSelectionRange]:
        selection = self.selectionModel().selection()
        return [selection.at(number) for number in range(selection.count())]

    def add(self, sources: Iterable[str]) -> None:
        """Add files that are not there yet."""
        self.rows.add(sources)

    def remove_chosen(self) -> None:
        """Take the files of the selected rows out of the list."""
        self.rows.remove(set(self.chosen()))
        self.chosenChanged.emit()

    # What is known of them

    def tell(self, facts: SourceFacts) -> None:
        """Say what a file is; nothing where that is said already, or it is not in the list any more."""
        file = self.rows.files.get(facts.source)
        if file is not None and file.facts is None:
            file.facts = facts
            self._update(file)

    def tell_result(self, source: str, answer: Made | BaseException) -> None:
        """Say what became of a file."""
        file = self.rows.files.get(source)
        if file is not None:
            file.answer = answer
            self._update(file)

    def forget_results(self) -> None:
        """Say nothing of what became of files before."""
        for file in self.rows.files.values():
            if file.answer is not None:
                file.answer = None
                self._update(file)

    def _update(self, file: _File) -> None:
        self.rows.update(file)
        # Not each time: rows would never stand still while much is told.
        if not self._sorting.isActive():
            self._sorting.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.removeWanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Else the button of the sheet that makes references would be pressed.
            self.openWanted.emit()
        else:
            super().keyPressEvent(event)
