"""The CDL view: made when it is looked at, follows edits, is searched, copied and saved."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QToolButton
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.commands.files import CdlCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes import cdl_pane as text_view
from refbrowser.app.panes.cdl_pane import CdlPane, TextView
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.references.edits.edits import SetMetadata
from refbrowser.views import cdl_text as found_lines
from refbrowser.views.cdl_text import CdlToken, Lines, tokens

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
CONTROL = Qt.KeyboardModifier.ControlModifier
ARRAY = {
    "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i2", "compressor": None, "filters": None,
    "fill_value": 0, "order": "C",
}  # fmt: skip


def contents(title: str = "A title") -> dict[str, object]:
    refs = {".zgroup": '{"zarr_format": 2}', ".zattrs": json.dumps({"title": title})}
    for name in ("x", "temp"):
        refs[f"{name}/.zarray"] = json.dumps(ARRAY)
        refs[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": ["x"], "units": f"𝐦 of {name}"})
    return {"version": 1, "refs": refs}


@pytest.fixture
def pane(window: MainWindow, tmp_path: Path, opened: Open, settle: Settle) -> CdlPane:
    """The view in front, with a small dataset."""
    path = tmp_path / "sea.json"
    path.write_text(json.dumps(contents()))
    opened(path)
    settle()
    window.actions_["show_cdl"].trigger()
    settle()
    return window.centre.cdl


def found(pane: CdlPane) -> str:
    return pane.findChild(QLabel, "cdlFound").text()


class TestText:
    @pytest.mark.slow
    def test_the_dataset_as_cdl(self, pane: CdlPane) -> None:
        text = pane.text.toPlainText()
        assert text.startswith("netcdf sea {")
        assert "short temp(x) ;" in text
        assert 'title = "A title"' in text
        assert pane.text.isReadOnly()
        assert pane.text.hasFocus()

    @pytest.mark.slow
    def test_ncgen_takes_it(self, pane: CdlPane, tmp_path: Path) -> None:
        if which("ncgen") is None:
            pytest.skip("ncgen is not installed")
        source = tmp_path / "sea.cdl"
        source.write_text(pane.text.toPlainText())
        subprocess.run(["ncgen", "-4", "-o", str(tmp_path / "sea.nc"), str(source)], check=True)

    @pytest.mark.slow
    def test_it_follows_edits(self, pane: CdlPane, window: MainWindow, settle: Settle) -> None:
        document = window.documents.current
        assert document is not None
        document.apply(SetMetadata(".zattrs", {"title": "Another"}))
        settle()
        assert 'title = "Another"' in pane.text.toPlainText()
        document.undo()
        settle()
        assert 'title = "A title"' in pane.text.toPlainText()

    @pytest.mark.slow
    def test_it_is_made_when_it_is_looked_at(
        self, window: MainWindow, tmp_path: Path, opened: Open, settle: Settle
    ) -> None:
        path = tmp_path / "sea.json"
        path.write_text(json.dumps(contents()))
        opened(path)
        settle()
        assert window.centre.cdl.text.toPlainText() == ""
        window.centre.show_tab(4)
        settle()
        assert window.centre.cdl.text.toPlainText() != ""

    @pytest.mark.slow
    def test_another_document_is_another_text(
        self, pane: CdlPane, window: MainWindow, tmp_path: Path, opened: Open, settle: Settle
    ) -> None:
        path = tmp_path / "other.json"
        path.write_text(json.dumps(contents("Other")))
        document = opened(path)
        settle()
        # A document begins with its plot; the text is one key away.
        window.actions_["show_cdl"].trigger()
        settle()
        assert pane.text.toPlainText().startswith("netcdf other {")
        window.documents.close(document)
        settle()
        assert pane.text.toPlainText().startswith("netcdf sea {")

    @pytest.mark.slow
    def test_what_is_seen_is_coloured(self, pane: CdlPane, qtbot: QtBot) -> None:
        block = pane.text.document().firstBlock()
        qtbot.waitUntil(lambda: bool(block.layout().formats()))
        assert block.layout().formats()[0].length == len("netcdf")


class TestFinding:
    def test_control_f_goes_to_the_field(self, pane: CdlPane, window: MainWindow) -> None:
        QTest.keyClick(pane.text, Qt.Key.Key_F, CONTROL)
        assert pane.field.hasFocus()
        QTest.keyClick(pane.field, Qt.Key.Key_Escape)
        assert pane.text.hasFocus()
        window.hierarchy.tree.setFocus()
        QTest.keyClick(window.hierarchy.tree, Qt.Key.Key_F, CONTROL)
        assert not pane.field.hasFocus()

    def test_places_one_after_the_other(self, pane: CdlPane, qtbot: QtBot) -> None:
        pane.focus_field()
        QTest.keyClicks(pane.field, "UNITS")
        qtbot.waitUntil(lambda: found(pane) == "1 of 2")
        assert pane.text.textCursor().selectedText() == "units"
        first = pane.text.position()
        QTest.keyClick(pane.field, Qt.Key.Key_Return)
        assert found(pane) == "2 of 2"
        assert pane.text.position() > first
        QTest.keyClick(pane.text, Qt.Key.Key_F3)
        assert found(pane) == "1 of 2"
        pane.findChild(QToolButton, "cdlFindBefore").click()
        assert found(pane) == "2 of 2"

    def test_after_letters_outside_the_basic_plane(self, pane: CdlPane, qtbot: QtBot) -> None:
        QTest.keyClicks(pane.field, "of temp")
        qtbot.waitUntil(lambda: found(pane) == "1 of 1")
        assert pane.text.textCursor().selectedText() == "of temp"

    def test_what_is_not_there(self, pane: CdlPane, qtbot: QtBot) -> None:
        QTest.keyClicks(pane.field, "nothing of this kind")
        qtbot.waitUntil(lambda: found(pane) == "not found")
        assert not pane.findChild(QToolButton, "cdlFindNext").isEnabled()


class TestOut:
    def test_copy_all_or_what_is_selected(self, pane: CdlPane, qtbot: QtBot) -> None:
        button(pane, "cdlCopyButton").click()
        assert QGuiApplication.clipboard().text().rstrip().endswith("}")
        QTest.keyClicks(pane.field, "A title")
        qtbot.waitUntil(lambda: found(pane) == "1 of 1")
        button(pane, "cdlCopyButton").click()
        assert QGuiApplication.clipboard().text() == "A title"

    def test_save(self, pane: CdlPane, window: MainWindow, tmp_path: Path, settle: Settle) -> None:
        button(pane, "cdlSaveButton").click()
        dialog = window.findChild(QFileDialog, "saveCdlDialog")
        assert dialog.selectedFiles()[0].endswith("sea.cdl")
        dialog.close()
        window.groups[CdlCommands].write(str(tmp_path / "out.cdl"))
        settle()
        assert (tmp_path / "out.cdl").read_text() == pane._lines.text

    def test_a_save_that_fails_is_told(
        self, pane: CdlPane, window: MainWindow, tmp_path: Path, qtbot: QtBot
    ) -> None:
        window.groups[CdlCommands].write(str(tmp_path / "no" / "out.cdl"))
        qtbot.waitUntil(window.centre.error_bar.isVisible)


def test_a_long_text_grows_and_is_searched_to_its_end(styled: object, qtbot: QtBot) -> None:
    count = 5 * text_view.PORTION
    lines = Lines.of("\n".join(f"line {number}" for number in range(count)))
    view = TextView()
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    view.set_lines(lines)
    assert view.document().blockCount() == text_view.PORTION
    last = f"line {count - 1}"
    (place,) = lines.find(last, lambda: None)
    view.go_to(place, len(last))
    assert view.textCursor().selectedText() == last
    assert view.textCursor().blockNumber() == count - 1
    qtbot.waitUntil(lambda: view.is_complete)
    assert view.document().blockCount() == count
    assert view.toPlainText() == lines.text


def test_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_lines, "LINES_SHOWN", 3)
    lines = Lines.of("a\nb\nc\nd\ne")
    assert (lines.shown, lines.count) == (2, 5)
    assert lines.lines(0, lines.shown) == "a\nb"
    assert lines.find("e", lambda: None) == ()
    monkeypatch.setattr(found_lines, "FOUND", 2)
    assert len(lines.find("", lambda: None)) == 0


def test_what_would_break_lines_or_turn_them_is_replaced() -> None:
    assert Lines.of("a\r\u2028\u202eb").lines(0, 1) == "a\ufffd\ufffd\ufffdb"


@given(st.text(alphabet="ab\n𝐦", max_size=60), st.text(alphabet="ab𝐦", min_size=1, max_size=2))
def test_places_of_what_is_found(text: str, wanted: str) -> None:
    lines = Lines.of(text)
    assert "\n".join(lines.lines(n, n + 1) for n in range(lines.shown)) == text
    for position in lines.find(wanted, lambda: None):
        assert text.startswith(wanted, position)
        line, before = lines.place(position)
        assert text.count("\n", 0, position) == line
        assert text[position - len(before) : position] == before


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("netcdf sea {", [("netcdf", CdlToken.SECTION)]),
        ("dimensions:", [("dimensions:", CdlToken.SECTION)]),
        (
            "\tt = UNLIMITED ; // (3 now)",
            [("UNLIMITED", CdlToken.TYPE), ("// (3 now)", CdlToken.COMMENT)],
        ),
        ("\tfloat float_x(x) ;", [("float", CdlToken.TYPE)]),
        ('\t\tx:units = "m // \\" s", 1.5f ;', [('"m // \\" s"', CdlToken.TEXT), ("1.5f", CdlToken.NUMBER)]),
        ("\t\tx:range = 1s, -2US, 0x1FUB ;", [("1s", CdlToken.NUMBER), ("-2US", CdlToken.NUMBER)]),
    ],
)
def test_parts_of_a_line(line: str, parts: list[tuple[str, CdlToken]]) -> None:
    made = [(line[start:stop].strip(), kind) for start, stop, kind in tokens(line)]
    assert made[: len(parts)] == parts
