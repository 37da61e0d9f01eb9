"""Light and dark: switched live in every pane, with nothing of the other one left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QImage, QPixmap
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSlider,
    QTabBar,
    QTableWidget,
    QTextBrowser,
    QTextEdit,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot
from small_documents import small_document
from unread_data import HDF4, without_pyhdf
from window_fixtures import Open

from refbrowser.app.frame.centre import PLOT
from refbrowser.app.panes.chunk_map_view import ChunkMapView
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.docks import DOCKS
from refbrowser.app.widgets.small_widgets import ThemedItem
from refbrowser.app.widgets.table_grid import GridView
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.edits.edits import SetReference

Settle = Callable[[], None]


@pytest.fixture(autouse=True)
def light_again(styled: QApplication) -> Iterator[None]:
    theme.choose(styled, "light")
    yield
    theme.choose(styled, "light")


def only_of(scheme: theme.Colors, other: theme.Colors) -> dict[int, str]:
    """Return the colours that one scheme alone has."""
    mine = {name: value for name, value in scheme._asdict().items() if isinstance(value, str)}
    others = {value for value in other if isinstance(value, str)}
    return {QColor(value).rgb(): name for name, value in mine.items() if value not in others}


def test_rows_take_the_colours_of_the_scheme_that_is_in_force(styled: QApplication, qtbot: QtBot) -> None:
    view = QTreeWidget()
    qtbot.addWidget(view)
    view.setColumnCount(2)
    row = ThemedItem(["refused", "42"])
    row.mark(0, "lock", "fault")
    row.color(1, "muted")
    view.addTopLevelItem(row)
    for name, scheme in (("light", theme.LIGHT), ("dark", theme.DARK)):
        theme.choose(styled, name)
        place = view.model().index(0, 1)
        assert place.data(Qt.ItemDataRole.ForegroundRole).color() == QColor(scheme.muted)
        assert place.data() == "42"
        icon = view.model().index(0, 0).data(Qt.ItemDataRole.DecorationRole).pixmap(32).toImage()
        seen = {
            icon.pixelColor(x, y).name()
            for x in range(32)
            for y in range(32)
            if icon.pixelColor(x, y).alpha() == 255
        }
        assert QColor(scheme.fault).name() in seen
        assert view.model().index(0, 0).data(Qt.ItemDataRole.ForegroundRole) is None


def pixels(picture: QPixmap) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Return the colours of the pixels of a picture, one number each."""
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint32) | np.uint32(0xFF000000)


def left_over(picture: QPixmap, colours: dict[int, str]) -> dict[str, int]:
    """Return how many pixels of a picture have one of the colours."""
    words = pixels(picture)
    found: dict[str, int] = {}
    for value in colours:
        count = np.count_nonzero(words == value)
        # Edges of letters come by greys of the other scheme.
        if count > (60 if colours[value] in ("border", "muted", "text") else 3):
            found[colours[value]] = count
    return found


def panes(window: MainWindow, settle: Settle) -> Iterator[tuple[str, QWidget]]:
    """Show one pane after the other."""
    for tab in range(window.centre.tabs.count()):
        window.centre.tabs.setCurrentIndex(tab)
        settle()
        yield f"tab {tab}", window
    window.centre.tabs.setCurrentIndex(PLOT)
    for name, *_ in DOCKS:
        window.docks.raise_(name)
        settle()
        yield name, window.docks[name]


def test_a_box_that_is_not_ticked_is_seen_in_lists(styled: QApplication, qtbot: QtBot) -> None:
    tree = QTreeWidget()
    qtbot.addWidget(tree)
    QTreeWidgetItem(tree, [""]).setCheckState(0, Qt.CheckState.Unchecked)
    tree.show()
    for scheme in (theme.LIGHT, theme.DARK):
        theme.apply(styled, scheme)
        edges = np.count_nonzero(pixels(tree.viewport().grab()) == QColor(scheme.muted).rgb())
        assert edges > 20, scheme


class StyleChanges(QObject):
    """Counts how often widgets are told that their style is another one."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.StyleChange
        return False


def test_a_switch_lays_nothing_out_anew(styled: QApplication, qtbot: QtBot) -> None:
    page, rows, button = QWidget(), QListWidget(), QPushButton("Export")
    qtbot.addWidget(page)
    rows.addItems([str(number) for number in range(200)])
    layout = QVBoxLayout(page)
    for widget in (rows, button):
        layout.addWidget(widget)
    page.show()
    qtbot.waitExposed(page)
    rows.scrollToBottom()
    place, size, told = rows.verticalScrollBar().value(), button.size(), StyleChanges()
    for widget in (page, rows, rows.viewport(), button):
        widget.installEventFilter(told)
    for name, scheme in (("dark", theme.DARK), ("light", theme.LIGHT)):
        theme.choose(styled, name)
        assert button.grab().toImage().pixelColor(6, 6) == QColor(scheme.raised)
        assert (rows.verticalScrollBar().value(), button.size(), told.count) == (place, size, 0)


@pytest.fixture
def full(window: MainWindow, opened: Open, settle: Settle, tmp_path: Path) -> MainWindow:
    """A window with something in every pane and every bar."""
    (tmp_path / "data.bin").write_bytes(bytes(range(56)))
    path = tmp_path / "full.json"
    faulty = small_document()
    faulty["refs"]["bad/.zarray"] = "{nope"  # type: ignore[index]
    faulty["refs"]["temp/9.9"] = ["https://elsewhere.example.org/a", 0, 4]  # type: ignore[index]
    path.write_text(json.dumps(faulty))
    document = opened(path)
    settle()
    for offset in (4, 8):
        document.apply(SetReference("depth/0", ["data.bin", offset, 4]))
    document.undo()
    window.editors.show_rule(document, 0)
    window.hierarchy.select_node(document, "/temp")
    settle()
    window.centre.error_bar.show_error("A job failed", RefbrowserError(ErrorKind.IO, "no more"))
    window.centre.copy_bar.show_copy(document, "/elsewhere.json")
    path.write_text(json.dumps(small_document("other.bin")))
    return window


@pytest.mark.slow
def test_each_pane_follows_a_live_switch(
    full: MainWindow, styled: QApplication, settle: Settle, qtbot: QtBot
) -> None:
    qtbot.waitUntil(full.centre.disk_bar.isVisible)
    assert full.centre.trust_bar.isVisible()
    for _name, _pane in panes(full, settle):
        pass
    schemes = {"dark": (theme.LIGHT, theme.DARK), "light": (theme.DARK, theme.LIGHT)}
    for choice, (old, new) in schemes.items():
        theme.choose(styled, choice)
        settle()
        found = {name: left_over(pane.grab(), only_of(old, new)) for name, pane in panes(full, settle)}
        assert not {name: colours for name, colours in found.items() if colours}, choice
        bar = full.centre.disk_bar.grab()
        assert left_over(bar, only_of(new, old)), "the colours are looked for rightly"


@pytest.mark.parametrize("name", ["start", "loading", "error"])
def test_cards_follow_too(window: MainWindow, styled: QApplication, name: str) -> None:
    centre = window.centre
    if name == "error":
        centre.error.set_error("It failed", RefbrowserError(ErrorKind.IO, "no more"))
    elif name == "loading":
        centre.loading.start("large.json")
    card: QWidget = {"start": centre.start, "loading": centre.loading, "error": centre.error}[name]
    if name != "start":
        page = centre._loading_page if name == "loading" else centre._error_page
        centre._pages.setCurrentWidget(page)
    theme.choose(styled, "dark")
    QApplication.processEvents()
    assert not left_over(card.grab(), only_of(theme.LIGHT, theme.DARK))
    assert left_over(card.grab(), only_of(theme.DARK, theme.LIGHT))


@pytest.mark.slow
def test_the_card_of_a_file_of_data_follows(
    window: MainWindow, opened: Open, styled: QApplication, tmp_path: Path
) -> None:
    path = tmp_path / "data.nc"
    path.write_bytes(HDF4)
    with without_pyhdf():
        opened(path)
    card = window.centre.found
    assert card is not None
    theme.choose(styled, "dark")
    QApplication.processEvents()
    assert not left_over(card.grab(), only_of(theme.LIGHT, theme.DARK))


def accent_edges(widget: QWidget) -> int:
    """Return how many pixels of a widget have the colour of the ring of focus."""
    return np.count_nonzero(pixels(widget.grab()) == QColor(theme.colors().accent).rgb())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_has_the_keyboard_has_a_ring(styled: QApplication, qtbot: QtBot, scheme: str) -> None:
    theme.choose(styled, scheme)
    host = QWidget()
    qtbot.addWidget(host)
    layout = QVBoxLayout(host)
    tabs = QTabBar()
    tabs.addTab("One")
    tabs.addTab("Two")
    bare, pressed = QPlainTextEdit("Text"), QPushButton("Pressed")
    choice, typed = QComboBox(), QComboBox()
    choice.addItem("One")
    typed.setEditable(True)
    bare.setProperty("role", "bare")
    pressed.setCheckable(True)
    pressed.setChecked(True)
    kinds = (
        *(QPushButton("Push"), QToolButton(), QLineEdit("Text"), QCheckBox("Check"), QRadioButton("One of")),
        *(QSlider(Qt.Orientation.Horizontal), tabs, QTreeWidget(), QTableWidget(2, 2), QListWidget()),
        *(QTextEdit("Text"), QTextBrowser(), QPlainTextEdit("Text"), bare, pressed),
        *(choice, typed),
        *(VirtualTable(), GridView(), ChunkMapView()),
    )
    for widget in kinds:
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.setMaximumSize(120, 40)
        layout.addWidget(widget)
    host.show()
    host.activateWindow()
    for widget in kinds:
        host.setFocus()
        inside = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
        before, place, hint = accent_edges(widget), inside.geometry(), widget.sizeHint()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        name = type(widget).__name__
        assert widget.hasFocus(), name
        # One long side of it at least, and nothing moves.
        long = min(widget.width(), tabs.tabRect(0).width())
        assert accent_edges(widget) - before >= long, name
        assert (inside.geometry(), widget.sizeHint()) == (place, hint), name
        host.setFocus()
        assert accent_edges(widget) == before, f"{name} gives it back"
