"""What someone who opens the window for the first time meets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTabBar,
    QTableView,
)
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.document_reading import SizeQuestion
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.preview_view import PreviewView
from refbrowser.app.frame.start_pane import PROMISE, TEXT, StartPane
from refbrowser.app.panes.hierarchy_pane import MARGINS, detail_room, fitting
from refbrowser.app.settings.settings import RecentEntry
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets.cards import ErrorCard, centred
from refbrowser.app.widgets.elided_label import cut_around
from refbrowser.formats.registry import BUILT_IN
from refbrowser.views.words import one_line
from refbrowser.words import count_text

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


def select(window: MainWindow, document: OpenDocument, kind: str, place: str | int) -> None:
    """Select a row of the tree."""
    index = window.hierarchy.model.find_identity((document.number, kind, place))
    assert index.isValid()
    window.hierarchy.select_index(index)


def type_offset(window: MainWindow, document: OpenDocument, text: str) -> None:
    """Type another offset of the first rule and apply nothing."""
    drafts = drafts_of(document)
    select(window, document, "rule", 0)
    assert document.document is not None
    from refbrowser.views.editing.rule_draft import RuleDraft, rule_fields

    draft = RuleDraft.of(rule_fields(document.document, 0)).with_text("offset", text)
    drafts.put_rule(0, draft)


def answer(window: MainWindow, name: str) -> None:
    """Click a button of the question about unsaved edits."""
    box = window.findChild(QMessageBox, "unsavedQuestion")
    assert box is not None
    found = box.findChild(QPushButton, name)
    assert found is not None
    found.click()


class TestTypedAndNotApplied:
    def test_status_bar_and_title_say_so(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        pending = window.statusBar().findChild(object, "statusPending")
        assert pending.text() == "saved"
        type_offset(window, document, "{{ 7 }}")
        assert pending.text() == "* 1 edit not applied"
        assert window.isWindowModified()
        drafts_of(document).drop_rule(0)
        assert pending.text() == "saved"
        assert not window.isWindowModified()

    def test_closing_applies_and_saves_them(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        document = opened(small)
        settle()
        type_offset(window, document, "{{ 7 }}")
        window.actions_["close_document"].trigger()
        box = window.findChild(QMessageBox, "unsavedQuestion")
        assert box.informativeText() == "1 edit (1 not applied yet) would be lost otherwise."
        answer(window, "unsavedSaveButton")
        qtbot.waitUntil(lambda: not window.documents.all())
        assert json.loads(small.read_text())["gen"][0]["offset"] == "{{ 7 }}"

    def test_one_that_cannot_be_made_keeps_the_document_open(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle
    ) -> None:
        from dataclasses import replace

        document = opened(small)
        settle()
        before = small.read_bytes()
        type_offset(window, document, "{{ 7 }}")
        drafts = drafts_of(document)
        draft = drafts.rule(0)
        assert draft is not None
        wrong = (replace(draft.dimensions[0], stop="many"), *draft.dimensions[1:])
        drafts.put_rule(0, draft.with_dimensions(wrong))
        window.actions_["close_document"].trigger()
        answer(window, "unsavedSaveButton")
        settle()
        assert window.documents.all() == [document]
        assert "many is not an integer" in window.centre.error_bar.text()
        assert drafts.count == 1
        assert small.read_bytes() == before


def test_size_question_goes_with_its_document(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(small)
    settle()
    document.sizeAsked.emit(SizeQuestion(10**12))
    assert window.findChild(QMessageBox, "sizeQuestion").isVisible()
    window.documents.close(document)
    qtbot.waitUntil(lambda: window.findChild(QMessageBox, "sizeQuestion") is None)


@pytest.mark.parametrize(("kind", "place", "words"), [
    ("rule", 0, "Gen rule 0   temp/{{i}}.{{j}}   4 rows"),
    ("template", "u", "Template u   data.bin"),
])  # fmt: skip
def test_toolbar_says_what_is_selected(
    window: MainWindow, small: Path, opened: Open, settle: Settle, kind: str, place: str | int, words: str
) -> None:
    document = opened(small)
    settle()
    select(window, document, kind, place)
    assert window.summary.text() == words


def test_titles_of_dimensions_are_whole_at_the_first_size(
    window: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    document = opened(small)
    settle()
    select(window, document, "rule", 0)
    settle()
    table = window.findChild(QTableView, "genDimensionsTable")
    header: QHeaderView = table.horizontalHeader()
    metrics: QFontMetrics = header.fontMetrics()
    for section in range(header.count()):
        title = header.model().headerData(section, Qt.Orientation.Horizontal)
        assert header.sectionSize(section) >= metrics.horizontalAdvance(title) + 8, title
    assert header.length() <= table.viewport().width()


def test_words_are_whole_in_a_small_window(
    window: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    document = opened(small)
    window.resize(1024, 700)
    window.lay_out_anew()
    settle()
    select(window, document, "rule", 0)
    settle()
    bars = [bar for bar in window.findChildren(QTabBar) if bar.isVisible() and bar.count() > 1]
    assert len(bars) >= 3
    for bar in bars:
        wanted = [bar.tabSizeHint(place).width() for place in range(bar.count()) if bar.isTabVisible(place)]
        room = [bar.tabRect(place).width() for place in range(bar.count()) if bar.isTabVisible(place)]
        assert room >= wanted, [bar.tabText(place) for place in range(bar.count())]
    assert window.findings.minimumSizeHint().width() <= window.centre.width() - 2
    spin = window.findChild(QSpinBox, "genRuleNumber")
    title = spin.parentWidget().findChild(QLabel, "genTitle")
    assert spin.width() >= spin.sizeHint().width()
    assert title.width() >= title.fontMetrics().horizontalAdvance("Gen rule")


def test_the_start_page_says_what_the_table_of_formats_says() -> None:
    assert "; ".join(each.brief for each in BUILT_IN if each.opener and each.suffixes) == TEXT


@pytest.mark.parametrize("width", [420, 520, 900])
def test_the_start_page_says_all_that_opens(styled: QApplication, qtbot: QtBot, width: int) -> None:
    pane = StartPane()
    qtbot.addWidget(pane)
    pane.resize(width, 400)
    _icon, _heading, text, controls = pane._parts()
    wrapped = pane.fontMetrics().boundingRect(0, 0, text.width(), 0, Qt.TextFlag.TextWordWrap, TEXT)
    assert wrapped.height() <= text.height()
    assert text.bottom() < controls


@pytest.mark.parametrize(("width", "height"), [(420, 300), (640, 420), (1200, 800)])
def test_the_start_page_says_what_is_read_before_it_is_allowed(
    styled: QApplication, qtbot: QtBot, width: int, height: int
) -> None:
    pane = StartPane()
    qtbot.addWidget(pane)
    pane.complete([RecentEntry(f"/data/{number}.json") for number in range(6)])
    pane.resize(width, height)
    pane.show()
    area = pane._promise()
    wrapped = pane.fontMetrics().boundingRect(0, 0, area.width(), 0, Qt.TextFlag.TextWordWrap, PROMISE)
    assert wrapped.height() <= area.height()
    assert pane.rect().contains(area)
    shown = [each for each in pane.findChildren(QPushButton) if each.isVisible()]
    assert shown
    assert all(each.mapTo(pane, each.rect().bottomLeft()).y() < area.top() for each in shown)
    assert PROMISE in pane.accessibleDescription()


def test_a_shape_stays_whole_before_its_type(styled: QApplication) -> None:
    metrics = QFontMetrics(QApplication.font())
    shape = "12×180×360"
    assert fitting(f"{shape} i2", metrics, 10_000) == f"{shape} i2"
    assert fitting(f"{shape} i2", metrics, metrics.horizontalAdvance(shape) + 4) == shape
    assert fitting("not opened", metrics, metrics.horizontalAdvance("not opened") - 4).startswith("not o")


def test_a_type_and_a_shape_leave_the_name_whole() -> None:
    nested, plain = "5 * var * float64", "12×180×360 i2"
    width = 240
    for named in (60, 100, 140):
        assert detail_room(nested, width, named) == width - MARGINS - named
        assert detail_room(plain, width, named) == width - MARGINS - named
    assert detail_room(nested, width, 170) == 0, "no word would fit"
    assert detail_room(plain, width, 170) == width - MARGINS - 170
    assert detail_room(plain, width, 190) == 0


def test_what_was_searched_for_is_seen_however_long_the_line(styled: QApplication) -> None:
    metrics = QFontMetrics(QApplication.font())
    text = "a_very_long_name_of_an_array_" * 4 + "needle" + "_and_something_behind_it" * 4
    room = metrics.horizontalAdvance("needle") * 4
    for whole in (text, text[: text.index("needle") + 6], text[text.index("needle") :]):
        first = whole.index("needle")
        shown, moved = cut_around(whole, first, first + 6, metrics, room)
        assert shown[first + moved : first + moved + 6] == "needle"
        assert metrics.horizontalAdvance(shown) <= room
    assert cut_around("needle", 0, 6, metrics, room) == ("needle", 0)
    assert cut_around(text, 0, 0, metrics, room) == (
        metrics.elidedText(text, Qt.TextElideMode.ElideRight, room),
        0,
    )


def test_thin_spaces_of_our_numbers_stay_spaces() -> None:
    assert one_line(count_text(1_320)) == count_text(1_320)
    assert one_line("a\u202eb") == "a·b"


@pytest.mark.parametrize("width", [300, 650])
def test_a_card_is_as_high_as_its_words(styled: QApplication, qtbot: QtBot, width: int) -> None:
    card = ErrorCard()
    page = centred(card)
    qtbot.addWidget(page)
    page.resize(width, 700)
    page.show()
    for words in ("short", "a sentence of some words " * 20, "short again"):
        card.set_content("fault", "small.json could not be opened", words)
        qtbot.waitUntil(lambda: card.height() == card.heightForWidth(card.width()))
        labels = [label.geometry() for label in card.findChildren(QLabel) if label.isVisible()]
        assert all(card.rect().contains(area) for area in labels)


class TestFilterByKeyboard:
    @pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Down])
    def test_goes_to_the_first_match(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot, key: Qt.Key
    ) -> None:
        opened(small)
        settle()
        window.activateWindow()
        window.actions_["find_node"].trigger()
        field = window.findChild(QLineEdit, "hierarchyFilter")
        qtbot.keyClicks(field, "dep")
        qtbot.keyClick(field, key)
        item = window.hierarchy.current_item()
        assert item is not None
        assert item.place == "/depth"
        settle()
        assert window.navigation.plotted() == "/depth"

    def test_what_was_open_is_open_again_when_the_filter_is_gone(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        document = opened(small)
        settle()
        tree, model = window.hierarchy.tree, window.hierarchy.model
        rules = (document.number, "rules", "")
        assert tree.isExpanded(model.find_identity(rules))
        tree.collapse(model.find_identity((document.number, "templates", "")))
        field = window.findChild(QLineEdit, "hierarchyFilter")
        for text, shown in (("depth", False), ("", True)):
            field.setText(text)
            qtbot.waitUntil(lambda shown=shown: model.find_identity(rules).isValid() is shown)
        assert tree.isExpanded(model.find_identity(rules))
        assert not tree.isExpanded(model.find_identity((document.number, "templates", "")))


def test_after_saving_nothing_changes_any_more_and_the_cursor_stays(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(small)
    settle()
    select(window, document, "rule", 0)
    settle()
    field = window.findChild(QPlainTextEdit, "genOffsetField")
    field.setFocus()
    qtbot.keyClicks(field, " ")
    field.selectAll()
    qtbot.keyClicks(field, "{{ 7 * i }}")
    preview = window.findChild(PreviewView)
    assert preview is not None
    qtbot.waitUntil(lambda: preview.report() is not None and preview.report().changed.count == 3)
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle()
    assert document.is_dirty
    place = field.textCursor().position()
    window.actions_["save"].trigger()
    settle()
    qtbot.waitUntil(lambda: preview.report() is not None)
    assert preview.report().changed.count == 0
    assert field.textCursor().position() == place


def test_tab_leaves_no_field_selected(
    window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
) -> None:
    document = opened(small)
    settle()
    select(window, document, "rule", 0)
    window.activateWindow()
    key, url = (window.findChild(QPlainTextEdit, f"gen{name}Field") for name in ("Key", "Url"))
    key.setFocus(Qt.FocusReason.TabFocusReason)
    assert key.textCursor().hasSelection()
    url.setFocus(Qt.FocusReason.TabFocusReason)
    assert url.textCursor().hasSelection()
    assert not key.textCursor().hasSelection()


@pytest.mark.slow
@pytest.mark.fresh
def test_columns_of_the_preview_fit_at_the_first_size(
    window: MainWindow, small: Path, opened: Open, settle: Settle
) -> None:
    document = opened(small)
    settle()
    select(window, document, "rule", 0)
    settle()
    preview = window.findChild(PreviewView)
    assert preview is not None
    assert not preview.table().horizontalScrollBar().maximum()


@pytest.mark.slow
@pytest.mark.fresh
def test_rows_of_a_group_are_made_when_it_is_unfolded(
    window: MainWindow, opened: Open, settle: Callable[[], None], tmp_path: Path
) -> None:
    array = {"shape": [2], "chunks": [2], "dtype": "<i4", "compressor": None, "fill_value": 0}
    array |= {"zarr_format": 2, "filters": None, "order": "C"}
    refs = {".zgroup": '{"zarr_format": 2}'}
    for name in ("some", "none"):
        refs[f"{name}/.zgroup"] = refs[".zgroup"]
    refs |= {f"some/a{number}/.zarray": json.dumps(array) for number in range(50)}
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(refs))
    opened(path)
    settle()
    model, tree = window.hierarchy.model, window.hierarchy.tree
    root = model.index(0, 0)
    found = {model.item(index).node.name: index for index in (model.index(row, 0, root) for row in range(2))}
    assert model.hasChildren(found["some"])
    assert not model.hasChildren(found["none"])
    assert model.item(found["some"]).children is None
    tree.expand(found["some"])
    assert model.rowCount(found["some"]) == 50
