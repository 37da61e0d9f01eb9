"""The tree of opened documents, with a filter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QShortcut,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.hierarchy_model import HierarchyModel
from refbrowser.app.panes.tree_badges import badge_width, paint_badge
from refbrowser.app.panes.tree_items import Item
from refbrowser.app.panes.tree_rows import (
    BADGE_ROLE,
    CHANGED_ROLE,
    DETAIL_ROLE,
    MATCH_ROLE,
    FileRow,
    Identity,
)
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.docks import hint_of
from refbrowser.app.widgets.elided_label import cut_around
from refbrowser.app.widgets.small_widgets import one_shot, plain_label
from refbrowser.views.file_sets import FileSet
from refbrowser.views.hierarchy import CHANGED_MARK, ItemKind
from refbrowser.views.window_states.window_state import EXPANDED
from refbrowser.words import count_text, counted_spaced

_ROOT = QModelIndex()


def without_named_parts(
    model: HierarchyModel, text: str, parent: QModelIndex = _ROOT
) -> Iterator[QModelIndex]:
    """Yield the arrays that have parts of which none has a text in its own name."""
    for index in _below(model, parent):
        item = model.item(index)
        if item is None or item.kind is not ItemKind.ARRAY:
            yield from without_named_parts(model, text, index)
        elif model.rowCount(index) and not _is_named(model, text, index):
            yield index


def _is_named(model: HierarchyModel, text: str, parent: QModelIndex) -> bool:
    """Whether a text is in the name of any row below one."""
    below = _below(model, parent)
    nodes = [item.node for item in map(model.item, below) if item is not None and item.node is not None]
    if any(text in node.name.casefold() for node in nodes):
        return True
    return any(_is_named(model, text, index) for index in below)


def _below(model: HierarchyModel, parent: QModelIndex) -> list[QModelIndex]:
    return [model.index(row, 0, parent) for row in range(model.rowCount(parent))]


FILTER_TIP = (
    "Shows what has this in its name or title, and nothing else. units:K finds arrays by their units, "
    "dims:time by a dimension, path:2003 documents and files by where they are."
)
#: The filter waits this long after a keystroke, in milliseconds.
FILTER_DELAY = 120
#: What icon and gaps of a row take beside name and detail, in device independent pixels.
MARGINS = 44
#: The name comes first; a detail that would have less room beside it is left out, in pixels.
DETAIL_LEAST = 24
#: Words, and types of nested values, take what the name leaves; of less, in pixels, they would say nothing.
WORDS_LEAST = 48
#: A name that fits to the pixel would be cut all the same.
SLACK = 4

#: In a narrower tree no name could be told from another.
_LEAST_WIDTH = 120


class HierarchyPane(QWidget):
    """The tree with its filter box.

    Signals
    -------
    selected(object)
        The `Item` that became current, or None.
    edited(object)
        The `Item` that was double-clicked, or on which Return was pressed.
    openedAside(object)
        The `Item` that was clicked with the middle button; it is not selected.
    fileWanted(str)
        A file of a set is to be opened: its path.
    """

    selected = Signal(object)
    edited = Signal(object)
    openedAside = Signal(object)
    fileWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = HierarchyModel(self)
        self._filter_timer = one_shot(self, FILTER_DELAY, self._apply_filter)
        self._filter = QLineEdit()
        self._filter.setObjectName("hierarchyFilter")
        self._filter.setAccessibleName("Filter the hierarchy")
        self._filter.setPlaceholderText("Filter by name or title  (Ctrl+F)")
        self._filter.setToolTip(theme.plain_tooltip(FILTER_TIP))
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(lambda _text: self._filter_timer.start())
        self._filter.returnPressed.connect(self._go_to_match)
        down = QShortcut(Qt.Key.Key_Down, self._filter, context=Qt.ShortcutContext.WidgetShortcut)
        down.activated.connect(self._go_to_match)
        self._before_filter: list[Identity] | None = None
        self.tree = _Tree()
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(_Delegate(self.tree))
        self.tree.selectionModel().currentChanged.connect(self._current_changed)
        self.tree.doubleClicked.connect(self._double_clicked)
        self.tree.entered_return.connect(self._double_clicked)
        self.tree.middle_clicked.connect(lambda index: self.openedAside.emit(self.model.item(index)))
        self._quiet = False
        self._found = plain_label("", role="muted", wrap=False)
        self._found.setObjectName("hierarchyFound")
        self._found.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._filter)
        layout.addWidget(self._found)
        layout.addWidget(self.tree, 1)
        self.setFocusProxy(self.tree)
        self.setMinimumWidth(_LEAST_WIDTH)

    def focus_filter(self) -> None:
        """Put the cursor in the filter box."""
        self._filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._filter.selectAll()

    def current_item(self) -> Item | None:
        """Return the item that is current."""
        return self.model.item(self.tree.currentIndex())

    def selected_items(self) -> list[Item]:
        """Return the items that are selected, the current one last."""
        current = self.tree.currentIndex()
        indices = sorted(self.tree.selectionModel().selectedIndexes(), key=lambda index: index == current)
        return [item for item in map(self.model.item, indices) if item is not None]

    def current_files(self) -> FileRow | None:
        """Return the row of a set, or of a file that is not open, where one is current."""
        return self.model.file_row(self.tree.currentIndex())

    def chosen_set(self) -> FileSet | None:
        """Return the set whose row, or one of whose files, is current."""
        files, index = self.current_files(), self.tree.currentIndex()
        while files is None and index.isValid():
            index = index.parent()
            files = self.model.file_row(index)
        return None if files is None else files.files

    def set_sets(self, sets: list[FileSet]) -> None:
        """Show other sets of files, each as a row."""
        with _Kept(self):
            self.model.set_sets(sets)
        self._show_found()

    def set_order(self, documents: list[OpenDocument]) -> None:
        """Show the documents in another order; what is open and selected stays so."""
        with _Kept(self):
            self.model.set_order(documents)

    def add_document(self, document: OpenDocument) -> None:
        """Show a document as one more root and select it."""
        with _Kept(self):
            self.model.add_document(document)
        self.select_index(self._revealed(lambda: self._root_of(document)))

    def remove_document(self, document: OpenDocument) -> None:
        """Take a document's root away."""
        with _Kept(self):
            self.model.remove_document(document)

    def refresh(self, document: OpenDocument) -> None:
        """Show the document's newest structure; what was open and selected stays so."""
        first = not self._is_expanded(document)
        with _Kept(self):
            self.model.rebuild()
        if first:
            self._expand_document(document)
            # As much of it as there is room for, from its name on, or that of its set.
            root = self._root_of(document)
            top = root.parent() if root.row() == 0 and root.parent().isValid() else root
            self.tree.scrollTo(top, QAbstractItemView.ScrollHint.PositionAtTop)
        if self.tree.currentIndex().isValid():
            self.tree.scrollTo(self.tree.currentIndex())

    def take_nodes(self, document: OpenDocument) -> None:
        """Take over the nodes of a new hierarchy that tells the same of each; nothing is painted anew."""
        if self.model.is_filtered():
            # What a filter finds may be what was edited.
            self.refresh(document)
        else:
            self.model.take_nodes(document)

    def update_titles(self) -> None:
        """Paint names and marks anew (`*`, faults); the rows are the same."""
        self.tree.viewport().update()

    def update_marks(self) -> None:
        """Paint anew the rows that have another mark than they had when they were painted last."""
        index = self.tree.indexAt(self.tree.viewport().rect().topLeft())
        bottom = self.tree.viewport().height()
        while index.isValid() and (place := self.tree.visualRect(index)).top() < bottom:
            if not self.model.is_marked_as_shown(index):
                self.tree.viewport().update(place)
            index = self.tree.indexBelow(index)

    def update_title(self, document: OpenDocument) -> None:
        """Paint the name of a document anew."""
        self.tree.viewport().update(self.tree.visualRect(self._root_of(document)))

    def select_node(self, document: OpenDocument, path: str) -> bool:
        """Select a group or array; whether it is in the tree. A filter that hides it is cleared."""
        index = self._revealed(lambda: self.model.find_node(document, path))
        if index.isValid():
            self.select_index(index)
        return index.isValid()

    def show_node(self, document: OpenDocument, path: str) -> None:
        """Mark a group or array as current without telling (`selected` is not emitted)."""
        index = self.model.find_node(document, path)
        if index.isValid() and index != self.tree.currentIndex():
            self._quiet = True
            self.select_index(index)
            self._quiet = False

    def select_index(self, index: QModelIndex) -> None:
        """Make an index current and visible."""
        if index.isValid():
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _root_of(self, document: OpenDocument) -> QModelIndex:
        return self.model.find_identity((document.number, str(ItemKind.DOCUMENT), ""))

    def _revealed(self, find: Callable[[], QModelIndex]) -> QModelIndex:
        """Return an index; where the filter hides it, the filter is cleared first."""
        index = find()
        if not index.isValid() and self.model.is_filtered():
            self._filter.clear()
            self._apply_filter()
            index = find()
        return index

    def _is_expanded(self, document: OpenDocument) -> bool:
        index = self._root_of(document)
        return index.isValid() and self.tree.isExpanded(index)

    def _expand_document(self, document: OpenDocument) -> None:
        root = self._root_of(document)
        self.tree.expand(root)
        for row in range(self.model.rowCount(root)):
            child = self.model.index(row, 0, root)
            item = self.model.item(child)
            if item is not None and item.kind in (ItemKind.TEMPLATES, ItemKind.RULES):
                few = self.model.rowCount(child) <= 12
                self.tree.setExpanded(child, few)

    def _apply_filter(self) -> None:
        self._filter_timer.stop()
        if self._before_filter is None:
            self._before_filter = self._expanded()
        with _Kept(self):
            self.model.set_filter(self._filter.text())
        self._show_found()
        if self.model.is_filtered():
            self._expand_matches()
            for index in without_named_parts(self.model, self.model.filter_text):
                self.tree.collapse(index)
            return
        # What is selected now stays in sight; all else is as it was.
        self.tree.collapseAll()
        self._expand(self._before_filter)
        self._before_filter = None
        if self.tree.currentIndex().isValid():
            self.tree.scrollTo(self.tree.currentIndex())

    def _expand_matches(self) -> None:
        """Unfold what a filter found; of a document that is shown for its name, itself alone."""
        tops = _below(self.model, QModelIndex())
        for files in [index for index in tops if self.model.file_row(index) is not None]:
            self.tree.expand(files)
            tops += _below(self.model, files)
        for root in tops:
            item = self.model.item(root)
            if item is None:
                continue
            if self.model.is_called_so(item.document):
                self.tree.expand(root)
            else:
                self.tree.expandRecursively(root)

    def _show_found(self) -> None:
        """Say how much a filter found."""
        model = self.model
        self._found.setVisible(model.is_filtered())
        if model.is_filtered():
            rows = counted_spaced(model.found, "row")
            where = f"{count_text(model.found_in)} of {counted_spaced(model.count, 'document')}"
            self._found.setText(f"{rows} in {where}")

    def _go_to_match(self) -> None:
        """Go from the filter to the tree: to the first match, or to where the tree was."""
        if self._filter_timer.isActive():
            self._apply_filter()
        self.tree.setFocus(Qt.FocusReason.TabFocusReason)
        index = self.model.first_match()
        if index.isValid():
            self.select_index(index)

    def _expanded(self, within: QModelIndex | None = None) -> list[Identity]:
        """Return what is expanded, in all of the tree or within one of its rows."""
        found: list[Identity] = []
        pending = [within or QModelIndex()]
        while pending:
            index = pending.pop()
            for child in self.model.with_children(index):
                identity = self.model.identity(child)
                if identity is not None and self.tree.isExpanded(child):
                    found.append(identity)
                    pending.append(child)
        return found

    def expanded_groups(self, document: OpenDocument) -> tuple[str, ...]:
        """Return the paths of the groups of a document whose members are seen, without a filter too."""
        kept = self._before_filter
        expanded = self._expanded(self._root_of(document)) if kept is None else kept
        paths = [
            str(place)
            for number, kind, place in expanded
            if number == document.number and kind == ItemKind.GROUP
        ]
        return tuple(paths[:EXPANDED])

    def expand_groups(self, document: OpenDocument, paths: Sequence[str]) -> None:
        """Let the members of groups of a document be seen, as far as there are such groups."""
        self._expand([(document.number, str(ItemKind.GROUP), path) for path in paths])

    def _expand(self, identities: list[Identity]) -> None:
        for identity in identities:
            index = self.model.find_identity(identity)
            if index.isValid():
                self.tree.expand(index)

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if not self._quiet:
            self.selected.emit(self.model.item(current))

    def _double_clicked(self, index: QModelIndex) -> None:
        item, files = self.model.item(index), self.model.file_row(index)
        if item is not None:
            self.edited.emit(item)
        elif files is not None and files.path:
            self.fileWanted.emit(files.path)


class _Kept:
    """Keeps what is expanded and current over a reset of the model."""

    def __init__(self, pane: HierarchyPane) -> None:
        self._pane = pane

    def __enter__(self) -> None:
        pane = self._pane
        self._current = pane.model.identity(pane.tree.currentIndex())
        self._expanded = pane._expanded()
        pane._quiet = True

    def __exit__(self, *_exception: object) -> None:
        pane = self._pane
        pane._expand(self._expanded)
        if self._current is not None:
            index = pane.model.find_identity(self._current)
            if index.isValid():
                pane.tree.setCurrentIndex(index)
        pane._quiet = False


class _Tree(QTreeView):
    """The tree itself."""

    entered_return = Signal(QModelIndex)
    middle_clicked = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("hierarchyView")
        self.setAccessibleName("Hierarchy")
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(16)
        self.setIconSize(QSize(16, 16))
        # With Ctrl and Shift several, for what is done with two arrays; what is shown is the current one.
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setExpandsOnDoubleClick(True)
        # Documents are dragged among themselves; files that are dragged here are the window's.
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # What it opens elsewhere is not selected here.
        if event.button() != Qt.MouseButton.MiddleButton:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.MiddleButton and index.isValid():
            self.middle_clicked.emit(index)
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_return.emit(self.currentIndex())
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.model().rowCount() == 0:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.colors().muted))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            area = self.viewport().rect().adjusted(theme.HUGE, 0, -theme.HUGE, 0)
            is_filtered = getattr(self.model(), "is_filtered", bool)()
            words = "No name matches" if is_filtered else hint_of("hierarchyDock")
            painter.drawText(area, flags, words)
            painter.end()

    def drawBranches(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        if not index.model().hasChildren(index):
            return
        painter.save()
        name = "M 5 3 L 10 8 L 5 13" if not self.isExpanded(index) else "M 3 5 L 8 10 L 13 5"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = painter.pen()
        pen.setColor(QColor(theme.colors().muted))
        pen.setWidthF(1.3)
        painter.setPen(pen)
        painter.translate(rect.right() - 13, rect.center().y() - 6)
        painter.scale(0.8, 0.8)
        painter.drawPath(icons.path(name))
        painter.restore()


def fitting(detail: str, metrics: QFontMetrics, room: int) -> str:
    """Return a detail such as ``12×180×360 i2`` in so many pixels: the type goes before the shape is cut."""
    if metrics.horizontalAdvance(detail) + 2 > room and is_shape(detail):
        detail = detail.rpartition(" ")[0] or detail
    return metrics.elidedText(detail, Qt.TextElideMode.ElideRight, room)


def is_shape(detail: str) -> bool:
    """Whether a detail begins with a shape: it is no word, and no type as Awkward writes it (``5 * var``)."""
    return detail[:1].isdigit() and " * " not in detail


def detail_room(detail: str, width: int, named: int) -> int:
    """Return how much of a row's width a detail may take beside a name of `named` pixels; 0 for no room."""
    left = width - MARGINS - named
    return left if left >= (DETAIL_LEAST if is_shape(detail) else WORDS_LEAST) else 0


class _Delegate(QStyledItemDelegate):
    """A row: the name as the style paints it, the muted detail at the right edge."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        full = QStyleOptionViewItem(option)
        self.initStyleOption(full, index)
        detail = index.data(DETAIL_ROLE) or ""
        area = QRect(full.rect)
        metrics = full.fontMetrics
        badge = index.data(BADGE_ROLE)
        changed = f" {CHANGED_MARK}" if index.data(CHANGED_ROLE) else ""
        marked = badge_width(badge, metrics)
        area.setRight(area.right() - marked)
        named = metrics.horizontalAdvance(full.text + changed) + SLACK
        most = detail_room(detail, area.width(), named)
        detail = fitting(detail, metrics, most) if most else ""
        wide = min(metrics.horizontalAdvance(detail) + 2, most) if detail else 0
        room = area.width() - wide - (MARGINS if detail or marked else 0)
        room -= metrics.horizontalAdvance(changed)
        first, stop = index.data(MATCH_ROLE) or (0, 0)
        shown, moved = cut_around(full.text, first, stop, metrics, room)
        full.text = shown + changed
        view = self.parent()
        if isinstance(view, QWidget):
            view.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, full, painter, view)
            if stop:
                text = view.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, full, view)
                left = text.left() + view.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
                ends = [metrics.horizontalAdvance(shown[: at + moved]) for at in (first, stop)]
                line = QRect(
                    left + ends[0], text.center().y() + metrics.ascent() // 2 + 3, ends[1] - ends[0], 2
                )
                painter.fillRect(line, QColor(theme.colors().accent))
        if marked:
            place = QRect(area.right() + 1, area.top(), marked, area.height())
            paint_badge(painter, place, badge, full.font)
        if detail:
            painter.save()
            plain = QFont(full.font)
            plain.setBold(False)
            painter.setFont(plain)
            role = QPalette.ColorRole.PlaceholderText
            painter.setPen(full.palette.color(role))
            box = area.adjusted(area.width() - wide - 8, 0, -6, 0)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, detail)
            painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        hint = super().sizeHint(option, index)
        return QSize(hint.width(), max(hint.height(), theme.ROW))
