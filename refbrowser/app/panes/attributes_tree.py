"""The list of the attributes pane: it shows them in columns, and takes what is typed in its cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QHeaderView, QMenu, QTreeView, QWidget

from refbrowser.app.panes.attribute_cells import (
    ATTRIBUTE_ROLE,
    BESIDE_TEXT,
    LINK_ROLE,
    NAME,
    NEW,
    TYPE,
    TYPE_ROLE,
    VALUE,
    VALUE_ROLE,
    Beside,
    Cell,
    Cells,
    cells_of,
    set_text,
)
from refbrowser.references.text.typed_values import typed_lines
from refbrowser.views.attributes import PACKING, Row, Section, layout_of
from refbrowser.views.words import one_line

#: The least width, and the part of the view that names take at most.
_LEAST, _MOST = 96, 0.5
#: Values have so many pixels before their types are shown.
_VALUES = 120


class NameColumn(QObject):
    """Fits the first column of a tree to its names, up to half of the tree's width.

    Parameters
    ----------
    words
        Another column, of short words: the delegate bounds its width. It is seen where there are words, and
        room for them beside the values.
    """

    def __init__(self, tree: QTreeView, *, words: int) -> None:
        super().__init__(tree)
        self._tree = tree
        self._words = words
        self._by_user = False
        #: Whether there are words, and the room that the values beside them need.
        self._has_words, self._values = False, 0
        tree.header().viewport().installEventFilter(self)
        tree.viewport().installEventFilter(self)
        self.fit()

    def fit(self) -> None:
        """Give the names and the words the width they need, unless the user chose one."""
        header, width = self._tree.header(), self._tree.viewport().width()
        if not self._by_user:
            needed = max(_LEAST, self._tree.sizeHintForColumn(0))
            header.resizeSection(0, min(needed, int(width * _MOST)))
        words = max(self._tree.sizeHintForColumn(self._words), header.sectionSizeHint(self._words))
        values = max(self._values, header.sectionSizeHint(VALUE))
        is_room = width - header.sectionSize(0) - words >= values
        self._tree.setColumnHidden(self._words, not (self._has_words and is_room))
        if not self._by_user and not header.isSectionHidden(self._words):
            header.resizeSection(self._words, words)

    def set_words(self, *, has_words: bool, values: int) -> None:
        """Tell whether there are words, and how wide the values beside them are; values come first."""
        self._has_words, self._values = has_words, min(values, _VALUES)
        self.fit()

    def forget(self) -> None:
        """Forget what the user chose."""
        self._by_user = False
        self.fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Only of these events is the tree asked: others come while it is taken apart, when it cannot answer.
        if event.type() == QEvent.Type.Resize and watched is self._tree.viewport():
            self.fit()
        elif event.type() == QEvent.Type.MouseButtonPress and watched is self._tree.header().viewport():
            # The edge between two columns is where the header shows the pointer that draws it.
            self._by_user |= self._tree.header().cursor().shape() == Qt.CursorShape.SplitHCursor
        return False


Index = QModelIndex | QPersistentModelIndex
_OWN_KEYS = (Qt.Key.Key_F2, Qt.Key.Key_Insert, Qt.Key.Key_Delete)


class AttributesTree(QTreeView):
    """Sections of names and values. Enter edits a value, F2 what is current, Insert adds, Delete removes.

    A value that is longer than its cell is edited, or read where it cannot be edited, wrapped below its row.
    A value keeps the type that the metadata records. Where none is recorded, what is JSON is that value,
    anything else is text. What cannot be is refused beside the field.

    Signals
    -------
    valueTyped(str, object), renamed(str, str), added(str, object), removed(str)
        What the user wants of the attributes.
    typeChosen(str, str)
        The attribute is to be of this type.
    linkChosen(str)
        The node with this path is to be shown; `PACKING`: packing is to be said in the other way.
    typed(str, int, object)
        What is typed for an attribute (`NEW` for one that is begun) in a column; None: it was given up.
    editEnded()
        No cell is edited any more.
    """

    valueTyped = Signal(str, object)
    renamed = Signal(str, str)
    added = Signal(str, object)
    removed = Signal(str)
    typeChosen = Signal(str, str)
    linkChosen = Signal(str)
    typed = Signal(str, int, object)
    editEnded = Signal()

    def __init__(self) -> None:
        super().__init__()
        #: Returns what was typed for an attribute in a column, and neither taken nor given up.
        self.kept: Callable[[str, int], str | None] = lambda _name, _column: None
        self.beside = Beside(self.viewport())
        self.setObjectName("attributesView")
        self.setAccessibleName("Attributes and metadata")
        self.setUniformRowHeights(True)
        self.setIndentation(12)
        self.setRootIsDecorated(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setTabKeyNavigation(False)
        self._model = QStandardItemModel(0, 3, self)
        self._model.setHorizontalHeaderLabels(["Name", "Value", "Type"])
        self.setModel(self._model)
        # A value reaches into the column of types where it has none.
        self._model.dataChanged.connect(lambda *_: self.viewport().update())
        self._delegate = Cells(self, self)
        self.setItemDelegate(self._delegate)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.setExpandsOnDoubleClick(False)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(NAME, QHeaderView.ResizeMode.Interactive)
        self.header().setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(TYPE, QHeaderView.ResizeMode.Interactive)
        self.name_column = NameColumn(self, words=TYPE)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self._sections: list[Section] = []
        self._can_edit = self._records_types = False
        self.clicked.connect(self._clicked)
        self.doubleClicked.connect(self._double_clicked)
        self._hidden: frozenset[str] = frozenset()
        self._new: QPersistentModelIndex | None = None
        self._new_name = ""

    # What is shown

    def show_sections(self, sections: Sequence[Section], *, anew: bool) -> None:
        """Show other sections; unless `anew`, the current row, and what is folded, stay as they are."""
        if not anew and layout_of(sections) == layout_of(self._sections):
            self._sections = list(sections)
            for number, section in enumerate(sections):
                parent = self._model.item(number)
                for place, row in enumerate(section.rows):
                    if parent.child(place, VALUE).data(VALUE_ROLE) != row.value:
                        set_text(parent.child(place, VALUE), row.value)
            return
        current = None if anew else self.current_attribute()
        top = 0 if anew else self.verticalScrollBar().value()
        folded = set() if anew else self._folded()
        self._new = None
        self._sections = list(sections)
        self._model.removeRows(0, self._model.rowCount())
        for number, section in enumerate(sections):
            self._add(number, section)
        self.expandAll()
        for number in folded:
            self.collapse(self._model.index(number, 0))
        typed = [row for section in sections for row in section.rows if row.type]
        values = [row.value for row in typed if row.attribute is not None]
        self.name_column.set_words(has_words=bool(typed), values=self._width_of(values))
        if current is not None:
            self.choose(current)
        self.verticalScrollBar().setValue(top)

    def _width_of(self, values: Sequence[str]) -> int:
        """Return the width of the widest of some values, which are cut where they are very long."""
        texts = (one_line(value[:_VALUES]) for value in values)
        return max(map(self.fontMetrics().horizontalAdvance, texts), default=0) + BESIDE_TEXT

    def _folded(self) -> set[int]:
        rows = range(self._model.rowCount())
        return {row for row in rows if not self.isExpanded(self._model.index(row, 0))}

    def _add(self, number: int, section: Section) -> None:
        title = QStandardItem(section.title)
        title.setEditable(False)
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        for row in section.rows:
            title.appendRow(cells_of(row))
        blanks = [QStandardItem(""), QStandardItem("")]
        for blank in blanks:
            blank.setEditable(False)
        self._model.appendRow([title, *blanks])
        self.setFirstColumnSpanned(number, QModelIndex(), True)

    def set_text(self, name: str, value: str) -> None:
        """Show another value in the rows of a name that is no attribute."""
        for number, section in enumerate(self._sections):
            for place, row in enumerate(section.rows):
                if row.attribute is None and row.name == name:
                    set_text(self._model.item(number).child(place, VALUE), value)

    def values(self) -> dict[str, str]:
        """Return every name and its full value, as shown."""
        result = {}
        for section in range(self._model.rowCount()):
            parent = self._model.item(section)
            for row in range(parent.rowCount()):
                result[parent.child(row, NAME).text()] = str(parent.child(row, VALUE).data(VALUE_ROLE))
        return result

    def set_editable(self, can_edit: bool, *, records_types: bool = False) -> None:
        """Let attributes be edited, or not; their types are recorded beside them, or only suggested."""
        self._can_edit, self._records_types = can_edit, records_types

    def set_hidden(self, names: Collection[str]) -> None:
        """Set the names of attributes that are there and not shown."""
        self._hidden = frozenset(names)

    @property
    def can_edit(self) -> bool:
        """Whether attributes can be edited now."""
        return self._can_edit

    # Attributes

    def current_attribute(self) -> str | None:
        """Return the name of the attribute that is current."""
        name = self.currentIndex().siblingAtColumn(NAME).data(ATTRIBUTE_ROLE)
        return None if name is None or name == NEW else str(name)

    def choose(self, attribute: str) -> None:
        """Make an attribute current."""
        index = self.index_of(attribute)
        if index.isValid():
            self.setCurrentIndex(index)

    def index_of(self, attribute: str, column: int = NAME) -> QModelIndex:
        """Return the cell of an attribute; an invalid index where there is none."""
        parent = self._parent()
        for row in range(0 if parent is None else parent.rowCount()):
            if parent is not None and parent.child(row, NAME).data(ATTRIBUTE_ROLE) == attribute:
                return parent.child(row, column).index()
        return QModelIndex()

    def names(self) -> list[str]:
        """Return the names of the attributes."""
        parent = self._parent()
        rows = range(0 if parent is None else parent.rowCount())
        names = [parent.child(row, NAME).data(ATTRIBUTE_ROLE) for row in rows] if parent is not None else []
        return [str(name) for name in names if name is not None and name != NEW]

    def _parent(self) -> QStandardItem | None:
        for number, section in enumerate(self._sections):
            if section.has_attributes:
                return self._model.item(number)
        return None

    def begin_new(self) -> None:
        """Begin an attribute: its name is typed first, then its value."""
        parent = self._parent()
        if parent is None or not self._can_edit or self._new is not None:
            return
        cells = cells_of(Row("", "", NEW))
        parent.appendRow(cells)
        self.expand(parent.index())
        self._new, self._new_name = QPersistentModelIndex(cells[NAME].index()), ""
        self._edit_cell(cells[NAME].index())

    def remove_current(self) -> None:
        """Remove the attribute that is current."""
        name = self.current_attribute()
        if name is not None and self._can_edit:
            self.removed.emit(name)

    def go_on(self, attribute: str, column: int, span: tuple[int, int] | None) -> None:
        """Go on with what was typed for an attribute, with the cursor where it is wrong."""
        if attribute == NEW:
            if self._new is None:
                self.begin_new()
                if column == VALUE:
                    self._new_name = self.kept(NEW, NAME) or ""
                    self._edit_new_value()
        else:
            self._edit_cell(self.index_of(attribute, column))
        line = self.open_cell()
        if line is not None:
            line.setFocus()
            self._delegate.look(line)
            if span is not None:
                line.select(*span)

    def end_edit(self) -> None:
        """Close the cell that is edited; what is typed in it was taken."""
        line = self.open_cell()
        if line is not None:
            self._delegate.closeEditor.emit(line, QAbstractItemDelegate.EndEditHint.RevertModelCache)

    def tell_typed(self, index: Index, text: str) -> None:
        """Tell what is typed in a cell."""
        name = str(index.sibling(index.row(), NAME).data(ATTRIBUTE_ROLE))
        self.typed.emit(name, index.column(), text)

    @property
    def new_name(self) -> str:
        """The name of the attribute that is begun, once it was typed."""
        return self._new_name

    def edit_current(self) -> None:
        """Edit the value of the attribute that is current."""
        name = self.current_attribute()
        if name is not None and self._can_edit:
            self._edit_cell(self.index_of(name, VALUE))

    def _edit_cell(self, index: QModelIndex) -> None:
        self.scrollTo(index)
        self.setCurrentIndex(index)
        super().edit(index)

    @property
    def is_editing(self) -> bool:
        """Whether a cell is being edited, or an attribute is begun."""
        return self.state() == QAbstractItemView.State.EditingState or self._new is not None

    # Editing, for the delegate

    def open_cell(self) -> Cell | None:
        """Return the field over the cell that is edited."""
        cells = self.viewport().findChildren(QWidget, "attributeCell")
        # Those that are closed go a little later.
        return next((cell for cell in cells if isinstance(cell, Cell) and not cell.isHidden()), None)

    def edit(  # type: ignore[override]
        self,
        index: QModelIndex,
        trigger: QAbstractItemView.EditTrigger = QAbstractItemView.EditTrigger.AllEditTriggers,
        event: Any = None,
    ) -> bool:
        if not self._can_edit or index.siblingAtColumn(NAME).data(ATTRIBUTE_ROLE) is None:
            triggers = QAbstractItemView.EditTrigger
            if trigger in (triggers.DoubleClicked, triggers.EditKeyPressed):
                self._delegate.read_whole(index)
            return False
        if index.column() == TYPE:
            return False
        return bool(super().edit(index, trigger, event))

    def verdict(self, index: Index, text: str) -> tuple[str, str]:
        """Return why a text cannot stand in a cell, or else what it comes to."""
        if index.column() == NAME:
            own = index.data(ATTRIBUTE_ROLE)
            if text == "":
                return "the attribute has no name", ""
            if text != own and text in self.names():
                return "an attribute of this name exists already", ""
            if text != own and text in self._hidden:
                return "the format uses an attribute of this name: see View > Format attributes", ""
            return "", ""
        from refbrowser.errors import RefbrowserError

        try:
            return "", self._outcome(index, self._value_of(index, text))
        except RefbrowserError as error:
            where = "" if error.place.column is None else f"column {error.place.column}: "
            return f"{where}{error.message}. {error.advice}".strip(), ""

    def _value_of(self, index: Index, text: str) -> Any:
        """Return the value that is typed in a cell, in the type that is recorded."""
        from refbrowser.engine.attribute_edits import value_in
        from refbrowser.references.text.typed_values import typed_value

        name, is_recorded = index.sibling(index.row(), NAME).data(TYPE_ROLE) or ("", False)
        return value_in(name, text) if is_recorded else typed_value(text)

    @staticmethod
    def _outcome(index: Index, value: Any) -> str:
        """Return what a value comes to: its kind, its type, and which type it had."""
        from refbrowser.engine.attribute_edits import count_words, suggested
        from refbrowser.references.text.typed_values import kind_words

        before, is_recorded = index.sibling(index.row(), NAME).data(TYPE_ROLE) or ("", False)
        if is_recorded:
            return count_words(before, value)
        after = suggested(value)
        return kind_words(value) if before in ("", after) else f"{kind_words(value)}: {after}, was {before}"

    def committed(self, index: QModelIndex, text: str) -> None:
        """Take what was typed in a cell."""
        if self.verdict(index, text)[0]:
            return
        attribute = str(index.siblingAtColumn(NAME).data(ATTRIBUTE_ROLE))
        if attribute == NEW:
            self._new_committed(index, text)
            return
        self.typed.emit(attribute, index.column(), None)
        if index.column() == NAME:
            if text != attribute:
                self.renamed.emit(attribute, text)
        elif text not in (shown := str(index.data(VALUE_ROLE)), typed_lines(shown)):
            from refbrowser.references.text.typed_values import typed_text

            value = self._value_of(index, text)
            set_text(self._model.itemFromIndex(index), typed_text(value))
            self.valueTyped.emit(attribute, value)

    def _new_committed(self, index: QModelIndex, text: str) -> None:
        if index.column() == NAME:
            self._new_name = text
            set_text(self._model.itemFromIndex(index), text)
            return
        from refbrowser.references.text.typed_values import typed_value

        name, self._new_name = self._new_name, ""
        self.typed.emit(NEW, VALUE, None)
        self._drop_new()
        self.added.emit(name, typed_value(text))

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        was_name = self.currentIndex().column() == NAME
        if hint == QAbstractItemDelegate.EndEditHint.RevertModelCache:
            attribute = self.currentIndex().siblingAtColumn(NAME).data(ATTRIBUTE_ROLE)
            self.typed.emit(str(attribute), self.currentIndex().column(), None)
        super().closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)
        self.beside.hide()
        reverted = hint == QAbstractItemDelegate.EndEditHint.RevertModelCache
        if self._new is not None:
            if was_name and self._new_name and not reverted:
                QTimer.singleShot(0, self._edit_new_value)
                return
            self._drop_new()
        self.editEnded.emit()

    def _edit_new_value(self) -> None:
        new = self._new
        if new is not None and new.isValid():
            self._edit_cell(self._model.index(new.row(), VALUE, new.parent()))

    def refuse(self, attribute: str, why: str) -> None:
        """Say below the row of an attribute why it cannot be changed so."""
        index = self.index_of(attribute, VALUE)
        if index.isValid():
            self.scrollTo(index)
            self.beside.show_below(self.visualRect(index), why)

    def _drop_new(self) -> None:
        new, self._new, parent = self._new, None, self._parent()
        if new is not None and new.isValid() and parent is not None:
            parent.removeRow(new.row())

    # Events

    def event(self, event: QEvent) -> bool:
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and event.key() in _OWN_KEYS and self._parent() is not None:  # type: ignore[attr-defined]
            event.accept()  # not the window's action of this key
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_value()
        elif plain and event.key() == Qt.Key.Key_Insert:
            self.begin_new()
        elif plain and event.key() == Qt.Key.Key_Delete:
            self.remove_current()
        elif plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.current_attribute() and self._can_edit:
                self.edit_current()
            elif self.currentIndex().siblingAtColumn(NAME).data(LINK_ROLE) or not self._delegate.read_whole(
                self.currentIndex()
            ):
                self._clicked(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _clicked(self, index: QModelIndex) -> None:
        link = index.siblingAtColumn(NAME).data(LINK_ROLE)
        # What the line of packing says is read, too: its name alone leads on.
        if link and (link != PACKING or index.column() == NAME):
            self.linkChosen.emit(str(link))

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() == TYPE and self._can_edit and self.current_attribute() is not None:
            menu = self._type_menu(QMenu(self))
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.viewport().mapToGlobal(self.visualRect(index).bottomLeft()))

    def _type_menu(self, menu: QMenu) -> QMenu:
        """Fill a menu with the types that the current attribute can be changed to."""
        from refbrowser.engine.attribute_edits import offered

        attribute = self.current_attribute()
        menu.setObjectName("attributeTypes")
        now, _is_recorded = self.currentIndex().siblingAtColumn(NAME).data(TYPE_ROLE) or ("", False)
        for name in offered(self._records_types) if attribute is not None else ():
            action = menu.addAction(name)
            action.setCheckable(True)
            action.setChecked(name == now)
            action.triggered.connect(
                lambda _on=False, name=name, of=attribute: self.typeChosen.emit(of, name)
            )
        return menu

    def copy_value(self) -> None:
        """Put the value of the current row on the clipboard."""
        index = self.currentIndex()
        value = index.siblingAtColumn(VALUE).data(VALUE_ROLE)
        QGuiApplication.clipboard().setText(str(value or index.data() or ""))

    def _menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("Copy value", self.copy_value)
        if not self._can_edit or self.current_attribute() is None:
            cell = self.currentIndex().siblingAtColumn(VALUE)
            whole = menu.addAction("Show the whole value", lambda: self._delegate.read_whole(cell))
            whole.setEnabled(self._delegate.is_long(cell, str(cell.data(VALUE_ROLE) or "")))
        if self._parent() is not None:
            menu.addSeparator()
            attribute = self.current_attribute()
            for title, keys, act, needs in (
                ("Edit value", "Enter", self.edit_current, True),
                ("Rename", "F2", self._rename_current, True),
                ("Remove", "Del", self.remove_current, True),
                ("Add attribute", "Ins", self.begin_new, False),
            ):
                action = menu.addAction(f"{title}\t{keys}", act)
                action.setEnabled(self._can_edit and (attribute is not None or not needs))
            types = self._type_menu(menu.addMenu("Change the type"))
            types.setEnabled(self._can_edit and attribute is not None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.viewport().mapToGlobal(position))

    def _rename_current(self) -> None:
        name = self.current_attribute()
        if name is not None:
            self._edit_cell(self.index_of(name, NAME))
