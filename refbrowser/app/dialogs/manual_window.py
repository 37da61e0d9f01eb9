"""The manual: its pages, Markdown files among the resources, and the window that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QSize, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextListFormat,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
)

from refbrowser.app.dialogs.shortcut_list import as_markdown
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import bring_up, push_button, resize_within_screen
from refbrowser.bundled import resource
from refbrowser.formats.registry import foreign, openable, opening_options
from refbrowser.tools import registry as tools
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.actions.actions import Actions


#: The pages in their order, below their headings.
SECTIONS = {
    "Start": ("index", "tasks", "why_missing", "glossary", "coming_from"),
    "Tutorials": (
        "tutorial_first",
        "tutorial_faults",
        "tutorial_files",
        "tutorial_cluster",
        "tutorial_icechunk",
    ),
    "What it is about": ("virtual_stores", "references", "templates", "chunk_costs"),
    "What can be opened": ("stores", "files", "streams", "awkward"),
    "What can be done": (
        "plots",
        "maps",
        "links",
        "editing",
        "source",
        "audit",
        "expectations",
        "readers",
        "lock",
        "moving",
        "comparing",
        "computing",
        "regions",
        "sessions",
        "figures",
        "bytes",
        "export",
    ),
    "Places and settings": ("installing", "permissions", "objects", "cluster", "preferences", "keyboard"),
    "Without the window": ("command_line", "pipelines", "python"),
}
PAGES = tuple(page for pages in SECTIONS.values() for page in pages)
#: Stands in a page for the tables of all keys.
KEYS_MARK = "[[keys]]"
#: Stands in a page for the rows of formats of other packages.
FORMATS_MARK = "[[formats of other packages]]"
#: Stands in a page for the rows of formats that other packages write.
WRITTEN_MARK = "[[written formats of other packages]]"
#: Stands in a page for the tables of the options of exports.
OPTIONS_MARK = "[[options of exports]]"
OPENING_MARK = "[[options of opening]]"
#: Stands in a page for the rows of tools of other packages.
TOOLS_MARK = "[[tools of other packages]]"


class ManualPage(NamedTuple):
    """One page: its name in links, its title, and its text in Markdown."""

    name: str
    title: str
    text: str


def read_page(name: str) -> ManualPage:
    """Return a page.

    Raises
    ------
    RefbrowserError
        It is not installed.
    """
    text = resource(f"manual/{name}.md").read_text("utf-8")
    if KEYS_MARK in text:
        text = text.replace(KEYS_MARK, as_markdown())
    if FORMATS_MARK in text:
        rows = (
            f"| {one_line(each.brief)} | drop it; another package reads it |\n" for each in foreign().values
        )
        text = text.replace(f"{FORMATS_MARK}\n", "".join(rows))
    if TOOLS_MARK in text:
        rows = (
            f"| `refbrowser {each.name} PATH` | {one_line(each.words)} |\n" for each in tools.foreign().values
        )
        text = text.replace(f"{TOOLS_MARK}\n", "".join(rows))
    if WRITTEN_MARK in text:
        forms = (form for each in foreign().values for form in each.writes)
        rows = (f"| `{form.name}` | {one_line(form.title)} |\n" for form in forms)
        text = text.replace(f"{WRITTEN_MARK}\n", "".join(rows))
    if OPENING_MARK in text:
        rows = (f"{each.row}\n" for each in opening_options(openable()).values())
        text = text.replace(f"{OPENING_MARK}\n", "".join(rows))
    if OPTIONS_MARK in text:
        # Not before: it has the table of codecs with it.
        from refbrowser.exporting.option_fields import options_as_markdown

        text = text.replace(OPTIONS_MARK, options_as_markdown())
    title = text.split("\n", 1)[0].lstrip("# ").strip()
    return ManualPage(name, title, text)


_NAME_ROLE = Qt.ItemDataRole.UserRole
_LIST_WIDTH = 215


class ManualWindow(QDialog):
    """Shows the manual beside the main window; links lead to pages, actions and addresses."""

    def __init__(self, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("manualWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 920, 700)
        self._window, self._shortcuts = window, actions
        self._visited: list[str] = []
        self._pages = {name: read_page(name) for name in PAGES}
        self._list = QListWidget()
        self._list.setObjectName("manualPages")
        self._list.setAccessibleName("Pages of the manual")
        for heading, names in SECTIONS.items():
            self._list.addItem(_heading(heading))
            for name in names:
                item = QListWidgetItem(self._pages[name].title)
                item.setData(_NAME_ROLE, name)
                item.setSizeHint(QSize(0, theme.ROW + theme.SMALL))
                self._list.addItem(item)
        self._list.currentItemChanged.connect(lambda item, _before: self._chosen(item))
        self._view = QTextBrowser()
        self._view.setObjectName("helpView")
        self._view.setAccessibleName("Page of the manual")
        self._view.setOpenLinks(False)
        self._view.document().setDocumentMargin(theme.HUGE)
        self._view.anchorClicked.connect(self._follow)
        self._back = push_button("Back", "manualBackButton", self.go_back)
        self._field = QLineEdit()
        self._field.setObjectName("manualFind")
        self._field.setAccessibleName("Find in the manual")
        self._field.setPlaceholderText("Find in the manual, Enter for the next place")
        self._field.setClearButtonEnabled(True)
        self._field.returnPressed.connect(self.find_next)
        QShortcut(QKeySequence.StandardKey.Find, self, self._field.setFocus)
        QShortcut(QKeySequence("Alt+Left"), self, self.go_back)
        self._lay_out()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(theme.MEDIUM)
        top.addWidget(self._back)
        top.addWidget(self._field, 1)
        parts = QSplitter()
        parts.setChildrenCollapsible(False)
        parts.addWidget(self._list)
        parts.addWidget(self._view)
        parts.setSizes([_LIST_WIDTH, self.width() - _LIST_WIDTH])
        parts.setStretchFactor(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(top)
        layout.addWidget(parts, 1)

    def show_page(self, name: str) -> None:
        """Show a page and bring the window to the front."""
        self._go_to(name)
        bring_up(self)
        self._view.setFocus()

    def page(self) -> str:
        """Return the name of the page that is shown."""
        return str(self._list.currentItem().data(_NAME_ROLE))

    def go_back(self) -> None:
        """Show the page before."""
        if len(self._visited) > 1:
            self._visited.pop()
            self._go_to(self._visited.pop())

    def find_next(self) -> None:
        """Go to the next place of the text in the field, on this page or another one."""
        text = self._field.text().strip()
        if not text or self._view.find(text):
            return
        here = PAGES.index(self.page())
        for name in (*PAGES[here + 1 :], *PAGES[: here + 1]):
            if text.casefold() in self._pages[name].text.casefold():
                self._go_to(name)
                self._view.moveCursor(QTextCursor.MoveOperation.Start)
                if self._view.find(text):
                    return

    def _go_to(self, name: str) -> None:
        """Choose a page in the list."""
        rows = (self._list.item(row) for row in range(self._list.count()))
        self._list.setCurrentItem(next(item for item in rows if item.data(_NAME_ROLE) == name))

    # Reactions

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        name = str(item.data(_NAME_ROLE))
        self._visited.append(name)
        self._back.setEnabled(len(self._visited) > 1)
        self._show(self._pages[name])

    def _show(self, page: ManualPage) -> None:
        self.setWindowTitle(f"{page.title} - Manual of refbrowser")
        self._view.setMarkdown(page.text)
        style_document(self._view.document())
        self._view.moveCursor(QTextCursor.MoveOperation.Start)

    def _follow(self, url: QUrl) -> None:
        name = url.path().removesuffix(".md")
        if url.scheme() == "action":
            self._window.activateWindow()
            self._shortcuts[name].trigger()
        elif url.isRelative() and name in PAGES:
            self._go_to(name)
        elif url.scheme() == "https":
            QDesktopServices.openUrl(url)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._list.currentItem() is not None:
            self._show(self._pages[self.page()])


def _heading(words: str) -> QListWidgetItem:
    """Return a row that names the pages below it and cannot be chosen."""
    item = QListWidgetItem(words)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setSizeHint(QSize(0, theme.ROW + theme.MEDIUM))
    item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
    font = item.font()
    font.setBold(True)
    item.setFont(font)
    return item


def style_document(document: QTextDocument) -> None:
    """Give a page of Markdown room between its lines, and its code and tables the colours in force."""
    scheme = theme.colors()
    # The whole page would be laid out anew for each change.
    changes = QTextCursor(document)
    changes.beginEditBlock()
    block = document.begin()
    while block.isValid():
        following = block.next()
        _style_block(block, _is_fence(following), scheme)
        _style_code(block, document, scheme)
        block = following
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _style_table(frame, scheme)
    changes.endEditBlock()


def _is_fence(block: QTextBlock) -> bool:
    return block.isValid() and block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


def _style_block(block: QTextBlock, before_fence: bool, scheme: theme.Colors) -> None:
    cursor = QTextCursor(block)
    shape = QTextBlockFormat(block.blockFormat())
    shape.setTopMargin(0)
    shape.setBottomMargin(theme.MEDIUM)
    if _is_fence(block):
        shape.setBackground(QColor(scheme.hover))
        shape.setLeftMargin(theme.LARGE)
        # A wider line would leave a stripe of the page below each.
        shape.setLineHeight(100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        shape.setBottomMargin(0 if before_fence else theme.LARGE)
    elif cursor.currentTable() is not None:
        shape.setBottomMargin(0)
    else:
        shape.setLineHeight(125, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if shape.headingLevel() > 1:
            shape.setTopMargin(theme.LARGE)
    cursor.setBlockFormat(shape)
    listed = block.textList()
    if listed is not None and listed.format().style() == QTextListFormat.Style.ListCircle:
        form = listed.format()
        form.setStyle(QTextListFormat.Style.ListDisc)
        listed.setFormat(form)


def _style_code(block: QTextBlock, document: QTextDocument, scheme: theme.Colors) -> None:
    """Write code in the fixed-width font of the window; what stands in a line is marked by a ground too."""
    spans = []
    walker = block.begin()
    while not walker.atEnd():
        fragment = walker.fragment()
        if fragment.isValid() and fragment.charFormat().fontFixedPitch():
            spans.append((fragment.position(), fragment.length()))
        walker += 1
    look = QTextCharFormat()
    look.setFont(theme.mono_font(), QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesAll)
    look.setBackground(QColor(scheme.hover))
    for position, size in spans:
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + size, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)


def _style_table(table: QTextTable, scheme: theme.Colors) -> None:
    """Rule off each row."""
    shape = table.format()
    shape.setCellPadding(6)
    shape.setCellSpacing(0)
    shape.setBorder(0)
    shape.setTopMargin(theme.SMALL)
    shape.setBottomMargin(theme.LARGE)
    table.setFormat(shape)
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            look = cell.format().toTableCellFormat()
            look.setBottomBorder(1)
            look.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            look.setBottomBorderBrush(QColor(scheme.border))
            cell.setFormat(look)
