"""Why an element or a key shows as it does, asked in the window by mouse and by keyboard."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTableView, QTextBrowser, QTextEdit, QWidget
from pytestqt.qtbot import QtBot
from servers.http_server import Fault, HttpServer
from small_documents import small_document
from window_fixtures import button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.trust import TrustSheet
from refbrowser.app.frame.centre import PLOT, REFERENCES, TABLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.virtual_table import VirtualTable
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.references.edits.edits import SetReference
from refbrowser.tools.explain.report.explain import Question
from refbrowser.tools.explain.window.commands import ExplainCommands
from refbrowser.tools.explain.window.explain_pane import ExplainPane
from refbrowser.tools.explain.window.explain_text import SCHEME, VerdictBox

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
Plot = Callable[[str | Path, str], OpenDocument]


@pytest.fixture
def plotted(window: MainWindow, qtbot: QtBot, settle: Settle) -> Plot:
    """Open a document and wait until an array of it is plotted."""

    def plot(path: str | Path, array: str) -> OpenDocument:
        document = window.open_path(str(path), array)
        qtbot.waitUntil(lambda: window.centre.plot is not None and window.centre.plot.array() is not None)
        settle()
        return document

    return plot


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[HttpServer, Path]]:
    """A document whose data lie on a server of this machine."""
    with HttpServer({"/data.bin": bytes(range(56))}) as server:
        path = tmp_path / "served.json"
        path.write_text(json.dumps(small_document(server.url("/data.bin"))))
        yield server, path


def pane_of(window: MainWindow) -> ExplainPane:
    return window.groups[ExplainCommands].pane


def verdict(window: MainWindow) -> str:
    return window.findChild(QTextEdit, "explainVerdict").toPlainText()


def steps(window: MainWindow) -> str:
    return window.findChild(QTextBrowser, "explainText").toPlainText()


def place_of(window: MainWindow, across: float, upwards: float) -> QPoint:
    canvas = window.centre.plot.canvas
    return canvas.mapFromScene(canvas.box.mapViewToScene(QPointF(across, upwards)))


def click(window: MainWindow, qtbot: QtBot, across: float, upwards: float) -> None:
    viewport = window.centre.plot.canvas.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place_of(window, across, upwards))


def press(window: MainWindow, qtbot: QtBot) -> None:
    """Press Ctrl+I where the keyboard is."""
    window.activateWindow()
    qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)


def follow(window: MainWindow, words: str) -> None:
    """Follow the link with some words in the steps of the explanation."""
    text = window.findChild(QTextBrowser, "explainText")
    cursor = text.document().find(words)
    assert not cursor.isNull(), words
    cursor.setPosition(cursor.selectionEnd(), QTextCursor.MoveMode.MoveAnchor)
    name = cursor.charFormat().anchorHref()
    assert name.startswith(f"{SCHEME}:")
    text.anchorClicked.emit(QUrl(name))


def explain_key(window: MainWindow, settle: Settle, key: str) -> None:
    """Select a key in the references and ask for its explanation by keyboard."""
    window.centre.show_tab(REFERENCES)
    window.centre.references.go_to_key(key)
    settle()
    window.actions_["explain"].trigger()
    settle()


def read_when_repaired(window: MainWindow, server: HttpServer, settle: Settle) -> None:
    """Take the server's fault away and press Try again: the element is read."""
    del server.faults["/data.bin"]
    button(window, "explain_retry_button").click()
    settle()
    assert verdict(window).startswith("This element is ")


class TestAsking:
    @pytest.mark.slow
    def test_a_pixel_of_a_real_file_by_mouse(
        self, window: MainWindow, plotted: Plot, shared_data: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        document = plotted(shared_data / "real" / "cth.refs.json", "/HT")
        values = document.dataset["/HT"][...]
        row, column = np.argwhere(values == -1)[1000].tolist()
        window.docks.raise_("explainDock")
        click(window, qtbot, column, row)
        settle()
        assert verdict(window) == (
            "This element is empty because the value stored for it, 65535, "
            "is the fill value of the array, which means no data."
        )
        for words in (f"{row} of 300", "HT/0.", "Codec zlib", "valid_range", "65535 (-1 without _Unsigned)"):
            assert words in steps(window)
        assert window.centre.tabs.currentIndex() == PLOT
        assert window.centre.references.current_key() == f"HT/0.{column // 250}"

    def test_a_pixel_by_keyboard(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        canvas = window.centre.plot.canvas
        qtbot.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
        index = window.centre.plot.element()
        qtbot.keyClick(canvas, Qt.Key.Key_E)
        settle()
        assert pane_of(window).isVisible()
        explanation = pane_of(window).explanation()
        assert explanation.step("element").facts == {"array": "/temp", "index": list(index)}
        assert explanation.step("entry").facts["rule"] == 0

    def test_moving_the_cursor_asks_nothing(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.docks.raise_("explainDock")
        qtbot.keyClick(window.centre.plot.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
        qtbot.mouseMove(window.centre.plot.canvas.viewport(), place_of(window, 2, 1))
        settle()
        assert pane_of(window).explanation() is None

    def test_the_selected_key(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        opened(small)
        settle()
        explain_key(window, settle, "depth/1")
        assert verdict(window) == "Chunk depth/1 can be read: 2 elements."
        assert "refs, row 6 of 7" in steps(window)
        explain_key(window, settle, "depth/.zarray")
        assert verdict(window) == "depth/.zarray is metadata of the array /depth, not a chunk."

    def test_the_menu_of_a_key(
        self, window: MainWindow, small: Path, opened: Open, qtbot: QtBot, settle: Settle
    ) -> None:
        opened(small)
        settle()
        table = window.centre.references.table
        assert window.actions_["explain"] in table.actions()
        window.centre.show_tab(REFERENCES)
        window.centre.references.go_to_key("depth/1")
        settle()
        place = QPoint(60, table.viewport().height() // 2)
        qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 12))
        settle()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(
            table.viewport(), QContextMenuEvent(reason, place, table.viewport().mapToGlobal(place))
        )
        qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert window.actions_["explain"] in menu.actions()
        menu.close()

    def test_without_a_pointer_the_middle_is_meant_and_marked(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        canvas = window.centre.plot.canvas
        assert window.centre.plot.element() is None
        canvas.setFocus()
        qtbot.keyClick(canvas, Qt.Key.Key_E)
        settle()
        index = window.centre.plot.element()
        assert index is not None
        assert canvas.focusWidget() is None or window.focusWidget() is canvas
        assert pane_of(window).explanation().step("element").facts["index"] == list(index)

    def test_what_was_clicked_is_meant_after_the_pointer_left(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.docks.raise_("explainDock")
        click(window, qtbot, 4, 3)
        settle()
        clicked = window.centre.plot.element()
        QApplication.sendEvent(window.centre.plot.canvas, QEvent(QEvent.Type.Leave))
        assert window.centre.plot.element() is None
        window.actions_["explain"].trigger()
        settle()
        assert window.centre.plot.element() == clicked
        assert pane_of(window).explanation().step("element").facts["index"] == list(clicked)

    def test_a_cell_of_the_table(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.centre.show_tab(TABLE)
        settle()
        grid = window.centre.table.grid
        qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.cell_rect(2, 3).center())
        qtbot.keyClick(grid, Qt.Key.Key_Down)
        assert window.actions_["explain"] in grid.actions()
        press(window, qtbot)
        settle()
        index = pane_of(window).explanation().step("element").facts["index"]
        assert tuple(index) == window.centre.table.layout_shown().element(3, 3)
        assert window.centre.tabs.currentIndex() == TABLE
        assert window.focusWidget() is grid

    def test_a_row_of_the_preview_and_an_edit_that_is_not_applied(
        self, window: MainWindow, opened: Open, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        document = opened(small)
        settle()
        window.hierarchy.select_index(window.hierarchy.model.find_identity((document.number, "rule", 0)))
        window.docks.raise_("previewDock")
        settle()
        table = window.findChild(VirtualTable, "previewTable")
        assert window.actions_["explain"] in table.actions()
        table.setFocus()
        qtbot.keyClick(table, Qt.Key.Key_End)
        press(window, qtbot)
        settle()
        assert pane_of(window).explanation().step("key").facts["key"] == "temp/1.1"
        assert pane_of(window).explanation().step("pending") is None
        length = window.findChild(QWidget, "genLengthField")
        length.setFocus()
        qtbot.keyClick(length, Qt.Key.Key_End)
        qtbot.keyClicks(length, "9")
        settle()
        table.setFocus()
        qtbot.keyClick(table, Qt.Key.Key_End)
        press(window, qtbot)
        settle()
        pending = pane_of(window).explanation().step("pending").facts["pending"]
        assert "past the end of 'data.bin'" in pending
        assert "it is not applied yet" in steps(window)

    def test_a_chunk_of_the_chunk_map(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.docks.raise_("chunkMapDock")
        settle()
        qtbot.waitUntil(lambda: window.chunk_map.pane is not None and window.chunk_map.pane.is_settled())
        view = window.chunk_map.pane.view
        view.setFocus()
        qtbot.keyClick(view, Qt.Key.Key_Right)
        qtbot.keyClick(view, Qt.Key.Key_Right)
        qtbot.keyClick(view, Qt.Key.Key_E)
        settle()
        assert verdict(window).startswith("Chunk temp/0.1 can be read")
        qtbot.keyClick(view, Qt.Key.Key_Down)
        press(window, qtbot)
        settle()
        assert verdict(window).startswith("Chunk temp/1.1 can be read")
        assert window.focusWidget() is view
        view.menuAsked.emit(view.mapToGlobal(QPoint(4, 4)))
        menu = window.findChild(QMenu, "chunkMapMenu")
        assert any("Explain" in action.text() for action in menu.actions())
        menu.close()

    def test_a_problem(
        self, window: MainWindow, opened: Open, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        values = json.loads(small.read_text())
        values["refs"]["depth/1"] = ["{{nowhere}}"]
        small.write_text(json.dumps(values))
        opened(small)
        settle()
        window.actions_["show_problems"].trigger()
        table = window.findChild(QTableView, "problemsView")
        assert window.actions_["explain"] in table.actions()
        row = next(
            number
            for number in range(table.model().rowCount())
            if any("depth/1" in row.finding.where for row in [window.findings.model.row(number)] if row)
        )
        table.setFocus()
        table.setCurrentIndex(table.model().index(row, 1))
        press(window, qtbot)
        settle()
        explanation = pane_of(window).explanation()
        assert explanation.step("problem").facts["where"] == "depth/1"
        assert verdict(window).startswith("Chunk depth/1 cannot be read because its reference is faulty")
        assert explanation.step("problem").state == "fault"
        window.documents.current.apply(SetReference("depth/1", ["{{u}}", 4, 4]))
        settle()
        qtbot.waitUntil(lambda: verdict(window) == "This problem is gone.")

    def test_a_document_that_cannot_be_opened(
        self, window: MainWindow, tmp_path: Path, opened: Open, qtbot: QtBot, settle: Settle
    ) -> None:
        path = tmp_path / "broken.json"
        path.write_text('{"version": 1, "refs": {')
        opened(path)
        settle()
        window.actions_["show_problems"].trigger()
        table = window.findChild(QTableView, "problemsView")
        table.setCurrentIndex(table.model().index(0, 1))
        press(window, qtbot)
        settle()
        assert window.findChild(QLabel, "explainWord").text() == "Problem"
        assert pane_of(window).explanation().step("problem") is not None

    def test_an_array_that_cannot_be_read(
        self, window: MainWindow, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        values = json.loads(small.read_text())
        values["refs"]["temp/.zarray"] = values["refs"]["temp/.zarray"].replace('"<i2"', '"<q7"')
        if '"<q7"' not in values["refs"]["temp/.zarray"]:
            values["refs"]["temp/.zarray"] = "{}"
        small.write_text(json.dumps(values))
        window.open_path(str(small), "/temp")
        qtbot.waitUntil(lambda: window.centre.plot is not None and window.centre.plot.array() is not None)
        settle()
        window.actions_["explain"].trigger()
        settle()
        assert verdict(window).startswith("No element of /temp can be read")
        assert window.findChild(QLabel, "explainWord").text() == "Unreadable array"

    def test_nothing_to_explain(self, window: MainWindow, small: Path, opened: Open, settle: Settle) -> None:
        assert not window.actions_["explain"].isEnabled()
        opened(small)
        settle()
        window.actions_["explain"].trigger()
        settle()
        assert pane_of(window).explanation() is None
        assert not button(window, "explainCopyButton").isEnabled()

    def test_a_scalar_and_a_failed_picture_have_an_element_too(
        self, window: MainWindow, plotted: Plot, small: Path, settle: Settle
    ) -> None:
        (small.parent / "data.bin").unlink()
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        assert verdict(window) == "This element could not be read: there is no such file."

    def test_a_hidden_pane_reads_when_it_is_seen(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.docks.raise_("attributesDock")
        click(window, qtbot, 2, 1)
        settle()
        assert pane_of(window).explanation() is None
        window.docks.raise_("explainDock")
        settle()
        assert verdict(window).startswith("This element is ")

    def test_a_click_leaves_the_keyboard_in_the_plot(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.activateWindow()
        click(window, qtbot, 2, 1)
        settle()
        assert window.focusWidget() is window.centre.plot.canvas


class TestFollowing:
    def test_the_pointer_is_followed_without_reading(
        self, window: MainWindow, plotted: Plot, served: tuple[HttpServer, Path], qtbot: QtBot, settle: Settle
    ) -> None:
        server, path = served
        document = plotted(path, "/temp")
        document.allow(document.wants)
        settle()
        window.docks.raise_("explainDock")
        button(window, "explainFollowButton").click()
        assert pane_of(window).follows
        requests = len(server.requests)
        assert requests
        viewport = window.centre.plot.canvas.viewport()
        qtbot.mouseMove(viewport, place_of(window, 0, 0))
        qtbot.mouseMove(viewport, place_of(window, 1, 2))
        qtbot.waitUntil(lambda: pane_of(window).explanation() is not None)
        settle()
        explanation = pane_of(window).explanation()
        assert explanation.step("element").facts["index"] == list(window.centre.plot.element())
        assert explanation.step("value") is not None
        assert explanation.step("answer") is None
        assert len(server.requests) == requests


class TestLinks:
    def test_permission_and_what_follows_from_it(
        self, window: MainWindow, plotted: Plot, served: tuple[HttpServer, Path], settle: Settle
    ) -> None:
        server, path = served
        document = plotted(path, "/temp")
        window.actions_["explain"].trigger()
        settle()
        assert verdict(window) == (
            f"This element was not read: reading from {server.origin} needs your permission."
        )
        assert server.requests == []
        button(window, "explain_permissions_button").click()
        sheet = window.findChild(TrustSheet)
        assert sheet is not None
        sheet.reject()
        document.allow(document.wants)
        settle()
        assert verdict(window).startswith("This element is ")
        assert "HTTP/1.1 206" in steps(window)

    @pytest.mark.slow
    def test_try_again(
        self, window: MainWindow, plotted: Plot, served: tuple[HttpServer, Path], settle: Settle
    ) -> None:
        server, path = served
        document = plotted(path, "/temp")
        document.allow(document.wants)
        server.faults["/data.bin"] = Fault("status", value=403)
        settle()
        window.actions_["explain"].trigger()
        settle()
        assert verdict(window).startswith("This element could not be read: the server answered 403")
        read_when_repaired(window, server, settle)

    def test_to_the_key(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.docks.raise_("explainDock")
        click(window, qtbot, 4, 3)
        settle()
        button(window, "explain_key_button").click()
        settle()
        assert window.centre.tabs.currentIndex() == REFERENCES
        assert window.centre.references.current_key() == "temp/1.1"

    @pytest.mark.slow
    def test_to_the_rule_the_template_and_the_reference(
        self, window: MainWindow, opened: Open, small: Path, settle: Settle
    ) -> None:
        opened(small)
        settle()
        explain_key(window, settle, "temp/1.1")
        follow(window, "Edit gen rule 0")
        settle()
        assert window.findChild(object, "genEditor").isVisible()
        window.docks.raise_("explainDock")
        follow(window, "Edit template u")
        settle()
        assert window.findChild(object, "templatesEditor").isVisible()
        explain_key(window, settle, "depth/0")
        follow(window, "Edit the reference")
        settle()
        assert window.findChild(object, "referenceEditor").isVisible()

    def test_to_the_attributes(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        follow(window, "Show the attributes")
        settle()
        assert window.attributes.isVisible()
        assert window.navigation.item().place == "/temp"


class TestThePane:
    def test_copy(self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle) -> None:
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        button(window, "explainCopyButton").click()
        text = QGuiApplication.clipboard().text()
        assert text == pane_of(window).explanation().text()
        assert text.startswith(verdict(window))

    @pytest.mark.slow
    def test_an_edit_is_followed(
        self, window: MainWindow, plotted: Plot, small: Path, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import SetTemplate

        document = plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        assert "data.bin" in steps(window)
        document.apply(SetTemplate("u", "none.bin"))
        settle()
        assert verdict(window) == "This element could not be read: there is no such file."
        document.undo()
        settle()
        assert verdict(window).startswith("This element is ")

    def test_steps_are_folded_by_mouse_and_by_keyboard(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        text = window.findChild(QTextBrowser, "explainText")
        assert "First bytes" in steps(window)
        cursor = text.document().find("The stored bytes")
        place = text.cursorRect(cursor).center() - QPoint(12, 0)
        qtbot.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert "First bytes" not in steps(window)
        assert "The stored bytes   12 bytes" in steps(window)
        # The keyboard is on the heading that was clicked; of the next explanation the step is folded too.
        qtbot.keyClick(text, Qt.Key.Key_Return)
        assert "First bytes" in steps(window)
        qtbot.keyClick(text, Qt.Key.Key_Return)
        press(window, qtbot)
        settle()
        assert "First bytes" not in steps(window)
        button(window, "explainFoldButton").click()
        assert "Key" not in steps(window).replace("Key ", "")
        assert len(steps(window).splitlines()) == len(pane_of(window).explanation().steps)
        button(window, "explainFoldButton").click()
        assert "First bytes" in steps(window)

    def test_tab_goes_from_link_to_link(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        press(window, qtbot)
        settle()
        # Asked for again, the keyboard goes into the explanation.
        press(window, qtbot)
        settle()
        text = window.findChild(QTextBrowser, "explainText")
        assert window.focusWidget() is text
        seen = []
        for _ in range(20):
            qtbot.keyClick(text, Qt.Key.Key_Tab)
            if window.focusWidget() is not text:
                break
            seen.append(text.textCursor().selectedText())
            if seen[-1] == "Edit gen rule 0":
                break
        assert any("The chunk" in words for words in seen)
        assert seen[-1] == "Edit gen rule 0"
        qtbot.keyClick(text, Qt.Key.Key_Return)
        settle()
        assert window.findChild(object, "genEditor").isVisible()

    @pytest.mark.slow
    def test_a_server_that_hangs_is_cancelled(
        self,
        window: MainWindow,
        plotted: Plot,
        served: tuple[HttpServer, Path],
        qtbot: QtBot,
        settle: Settle,
    ) -> None:
        server, path = served
        document = plotted(path, "/temp")
        document.allow(document.wants)
        settle()
        server.faults["/data.bin"] = Fault("silent")
        window.actions_["explain"].trigger()
        cancel = button(window, "explainCancelButton")
        qtbot.waitUntil(cancel.isVisible)
        qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: verdict(window) == "The explanation was cancelled.")
        assert not cancel.isVisible()
        read_when_repaired(window, server, settle)

    def test_the_newest_question_counts(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.docks.raise_("explainDock")
        document = window.documents.current
        for index in ((0, 0), (1, 1), (3, 5)):
            pane_of(window).explain(document, Question(array="/temp", index=index))
        settle()
        assert pane_of(window).explanation().step("element").facts["index"] == [3, 5]

    def test_long_urls_are_cut_and_told_in_full(
        self, window: MainWindow, opened: Open, tmp_path: Path, settle: Settle
    ) -> None:
        url = f"http://127.0.0.1:1/{'folder/' * 30}data.bin"
        path = tmp_path / "long.json"
        path.write_text(json.dumps(small_document(url)))
        opened(path)
        settle()
        explain_key(window, settle, "depth/0")
        assert url not in steps(window)
        document = window.findChild(QTextBrowser, "explainText").document()
        cursor = document.find("http://127.0.0.1:1/folder")
        assert "…" in cursor.block().text()
        cursor.setPosition(cursor.selectionEnd())
        assert url in cursor.charFormat().toolTip()
        button(window, "explainCopyButton").click()
        assert url in QGuiApplication.clipboard().text()

    @pytest.mark.slow
    def test_verdicts_have_a_word(
        self, window: MainWindow, plotted: Plot, small: Path, qtbot: QtBot, settle: Settle
    ) -> None:
        word = window.findChild(QLabel, "explainWord")
        document = plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        assert word.text() == "Value"
        (small.parent / "data.bin").unlink()
        pane_of(window).refresh(document)
        settle()
        assert word.text() == "Failed to read"

    def test_a_closed_document_is_forgotten(
        self, window: MainWindow, plotted: Plot, small: Path, settle: Settle
    ) -> None:
        document = plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        window.documents.close(document)
        settle()
        assert pane_of(window).explanation() is None
        assert not button(window, "explainCopyButton").isEnabled()

    @pytest.mark.slow
    def test_an_element_that_is_gone_is_told(
        self, window: MainWindow, plotted: Plot, small: Path, settle: Settle
    ) -> None:
        from refbrowser.references.edits.edits import RemoveReference

        document = plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        document.apply(RemoveReference("temp/.zarray"))
        settle()
        assert "There is no array '/temp'" in verdict(window)

    @pytest.mark.slow
    def test_the_theme_is_followed(
        self,
        window: MainWindow,
        plotted: Plot,
        small: Path,
        styled: QApplication,
        qtbot: QtBot,
        settle: Settle,
    ) -> None:
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()

        def color() -> str:
            document = window.findChild(QTextBrowser, "explainText").document()
            cursor = document.find("The element")
            return cursor.charFormat().foreground().color().name()

        assert color() == theme.LIGHT.text
        try:
            theme.apply(styled, theme.DARK)
            qtbot.waitUntil(lambda: color() == theme.DARK.text)
        finally:
            theme.apply(styled, theme.LIGHT)

    def test_hostile_texts_stay_plain(
        self, window: MainWindow, tmp_path: Path, opened: Open, settle: Settle
    ) -> None:
        key = "<b>bold</b><img src='file:///x.png'>\x1b[31m"
        path = tmp_path / "hostile.json"
        path.write_text(json.dumps({".zgroup": '{"zarr_format": 2}', key: "<i>text</i>"}))
        opened(path)
        settle()
        explain_key(window, settle, key)
        assert "<b>bold</b><img src='file:///x.png'>\\x1b[31m" in verdict(window)
        assert "<b>bold</b>" in steps(window)

    def test_bytes_fit_the_width(
        self, window: MainWindow, plotted: Plot, small: Path, settle: Settle, qtbot: QtBot
    ) -> None:
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        text = window.findChild(QTextBrowser, "explainText")
        assert text.horizontalScrollBar().maximum() == 0
        assert any(line.startswith("00000008") for line in text.toPlainText().splitlines())

    def test_the_verdict_is_all_seen(
        self, window: MainWindow, plotted: Plot, small: Path, settle: Settle
    ) -> None:
        plotted(small, "/temp")
        window.actions_["explain"].trigger()
        settle()
        box = window.findChild(QTextEdit, "explainVerdict")
        assert box.verticalScrollBar().maximum() == 0
        assert isinstance(window.findChild(ExplainPane, "explainView"), ExplainPane)


def test_a_verdict_without_steps_is_no_higher_than_its_words(qtbot: QtBot) -> None:
    pane = ExplainPane()
    qtbot.addWidget(pane)
    pane.resize(320, 700)
    pane.show()
    pane._failed(RefbrowserError(ErrorKind.SOURCE, "the file is not there"))
    box = pane.findChild(VerdictBox)
    qtbot.waitUntil(lambda: 0 < box.height() < 140)
