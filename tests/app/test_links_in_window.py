"""Links in the window: copied, pasted, dropped and typed; and those from outside, which are asked about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from documents_of_values import value_document
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QPushButton
from window_fixtures import drop

from refbrowser.app.commands.links import LinkCommands
from refbrowser.app.dialogs.open_dialogs import OpenUrlDialog
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.launch import open_targets
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.links import Link

Settle = Callable[[], None]
SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample" / "sea_surface.json"


@pytest.fixture
def values(tmp_path: Path) -> Path:
    return value_document(tmp_path).write()


def plot_of(window: MainWindow) -> PlotPane:
    plot = window.centre.plot
    assert plot is not None
    return plot


def follow(window: MainWindow, link: str, settle: Settle) -> PlotPane:
    open_targets(window, [link], None, {}, ())
    settle()
    return plot_of(window)


def copied(window: MainWindow) -> str:
    QGuiApplication.clipboard().clear()
    window.actions_["copy_link"].trigger()
    return QGuiApplication.clipboard().text()


def paste(window: MainWindow, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    window.actions_["paste"].trigger()


def error_of(window: MainWindow) -> str:
    bar = window.centre.error_bar
    return bar.text() if bar.isVisible() else ""


def question(window: MainWindow) -> QMessageBox | None:
    return next((box for box in window.findChildren(QMessageBox, "linkQuestion") if box.isVisible()), None)


def answer(window: MainWindow, name: str) -> None:
    box = question(window)
    assert box is not None
    button = box.findChild(QPushButton, name)
    assert button is not None
    button.click()
    QApplication.processEvents()


class TestOpened:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("selection", "slices", "axes"),
        [
            ("[1,2,:,:]", "1,2,:,:", (2, 3)),
            ("[0,:,1,:]", "0,:,1,:", (1, 3)),
            ("[1,2,1,:]", "1,2,1,:", (3,)),
            ("[-1]", "1,0,:,:", (2, 3)),
            ("[...]", "0,0,:,:", (2, 3)),
            ("[:,1:2,:,3]", ":,1,:,3", (0, 2)),
        ],
    )
    def test_the_slice_is_the_one_that_is_named(
        self,
        window: MainWindow,
        values: Path,
        settle: Settle,
        selection: str,
        slices: str,
        axes: tuple[int, ...],
    ) -> None:
        plot = follow(window, f"{values}::/cube{selection}", settle)
        state = plot.slice_state()
        assert state is not None
        assert state.axes == axes
        assert state.text() == slices

    @pytest.mark.slow
    def test_a_part_is_zoomed_to_and_a_link_to_it_is_copied(
        self, window: MainWindow, values: Path, settle: Settle
    ) -> None:
        plot = follow(window, f"{values}::/cube[1,2,:,1:3]", settle)
        # Whole again, and then the part once more, of what is plotted already.
        plot.look().set_aspect(False)
        plot.reset_view()
        assert plot.selection_text() == "1,2,:,:"
        paste(window, f"{values}::/cube[1,2,:,1:3]")
        settle()
        assert plot.selection_text() == "1,2,:,1:3"
        assert copied(window) == f"{values}::/cube[1,2,:,1:3]"

    @pytest.mark.slow
    def test_what_is_no_part_of_the_array_is_told_and_costs_nothing_else(
        self, window: MainWindow, values: Path, settle: Settle
    ) -> None:
        plot = follow(window, f"{values}::/cube[99]", settle)
        assert "out of bounds" in error_of(window)
        assert plot.array() is not None
        paste(window, f"{values}::/nothing")
        settle()
        assert window.documents.current is not None

    @pytest.mark.slow
    def test_coordinates_name_the_slice(self, window: MainWindow, settle: Settle) -> None:
        plot = follow(window, f"{SAMPLE}::/ocean/sst[time=2024-03,lat=40:60]", settle)
        assert plot.slice_state().text() == "2,:,:"
        assert plot.picture().plan.slice.indices[0] == 2
        low, high = plot.selection_text().split(",")[1].split(":")
        assert int(low) <= 130
        assert int(high) >= 150


def test_files_that_a_desktop_hands_over_are_opened(
    window: MainWindow, tmp_path: Path, settle: Settle
) -> None:
    folder = tmp_path / "ä b%20"
    folder.mkdir()
    path = value_document(folder).write()
    open_targets(
        window,
        [QUrl.fromLocalFile(str(path)).toString(QUrl.ComponentFormattingOption.FullyEncoded)],
        None,
        {},
        (),
    )
    assert [each.path for each in window.documents.all()] == [str(path)]
    settle()


class TestCopied:
    @pytest.mark.slow
    def test_it_can_be_clicked_where_more_than_text_is_taken(
        self, window: MainWindow, tmp_path: Path, settle: Settle
    ) -> None:
        folder = tmp_path / "a&b <c>"
        folder.mkdir()
        path = value_document(folder).write()
        follow(window, f"{path}::/cube[1,0,:,:]", settle)
        assert copied(window) == f"{path}::/cube[1,0,:,:]"
        html = QGuiApplication.clipboard().mimeData().html()
        assert "<c>" not in html
        address = html.split('"')[1]
        assert Link.from_url(address) == Link(str(path), "/cube", "1,0,:,:")

    @pytest.mark.slow
    def test_of_a_group_and_of_the_document(self, window: MainWindow, settle: Settle) -> None:
        follow(window, f"{SAMPLE}::/ocean", settle)
        assert copied(window) == f"{SAMPLE}::/ocean"
        document, model = window.documents.current, window.hierarchy.model
        window.hierarchy.select_index(model.find_identity((document.number, "document", "")))
        settle()
        assert copied(window) == str(SAMPLE)


class TestPasted:
    @pytest.mark.slow
    def test_by_the_key_by_a_drop_and_in_the_dialog(
        self, window: MainWindow, values: Path, settle: Settle
    ) -> None:
        QGuiApplication.clipboard().setText(f"\n'{values}::/cube[1,2,:,:]'\n")
        window.activateWindow()
        QTest.keyClick(window.hierarchy.tree, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        settle()
        assert plot_of(window).slice_state().text() == "1,2,:,:"
        drop(window, text=f"{values}::/cube[1,1,:,:]")
        settle()
        assert plot_of(window).slice_state().text() == "1,1,:,:"
        window.actions_["open_url"].trigger()
        dialog = window.findChild(OpenUrlDialog)
        dialog.findChild(QLineEdit, "urlField").setText(Link(str(values), "/cube", "1,0,:,:").url)
        dialog.findChild(QPushButton, "urlOpenButton").click()
        settle()
        assert plot_of(window).slice_state().text() == "1,0,:,:"
        assert len(window.documents.all()) == 1

    def test_files_that_were_copied_are_opened(
        self, window: MainWindow, values: Path, settle: Settle
    ) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(values))])
        QGuiApplication.clipboard().setMimeData(data)
        window.actions_["paste"].trigger()
        assert [each.path for each in window.documents.all()] == [str(values)]
        settle()

    def test_what_is_no_link_opens_nothing(self, window: MainWindow) -> None:
        for text in ("", "hello", "a.json", "//host/share/a.json", "\\\\host\\share"):
            paste(window, text)
            assert not window.documents.all()

    def test_user_names_and_signatures_are_left_out(self, window: MainWindow, settle: Settle) -> None:
        paste(window, "http://me:secret@127.0.0.1:9/a.json?X-Amz-Signature=1&v=2::/x[0]")
        assert [each.path for each in window.documents.all()] == ["http://127.0.0.1:9/a.json?v=2"]
        settle()

    def test_a_hostile_link_is_refused(self, window: MainWindow) -> None:
        paste(window, "refbrowser:/dev/zero")
        assert not window.documents.all()
        assert "device" in error_of(window)


class TestFromOutside:
    def test_nothing_is_opened_before_the_answer(
        self, window: MainWindow, values: Path, settle: Settle
    ) -> None:
        open_targets(window, [Link(str(values), "/cube", "1,1,:,:").url], None, {}, ())
        box = question(window)
        assert box is not None
        assert not window.documents.all()
        text = box.informativeText()
        assert f"Opens: {values}\nShows: /cube[1,1,:,:]\nReads from: the folder {values.parent}\n" in text
        # Whoever presses Return opens nothing.
        assert box.defaultButton() is box.findChild(QPushButton, "linkQuestionNo")
        answer(window, "linkQuestionNo")
        assert not window.documents.all()
        settle()

    @pytest.mark.slow
    def test_the_slice_is_shown_after_it(self, window: MainWindow, values: Path, settle: Settle) -> None:
        open_targets(window, [Link(str(values), "/cube", "1,1,:,:").url], None, {}, ())
        answer(window, "linkQuestionYes")
        settle()
        assert plot_of(window).slice_state().text() == "1,1,:,:"

    def test_what_was_left_out_and_private_addresses_are_named(self, window: MainWindow) -> None:
        links = window.groups[LinkCommands]
        links.open_from_outside("refbrowser:http://me:secret@127.0.0.1:9/a.json%3Ftoken=t")
        box = question(window)
        assert box is not None
        text = box.informativeText()
        assert "private address" in text
        assert "user name" in text
        assert "token" in text
        assert "secret" not in text.replace("signed or secret", "")
        answer(window, "linkQuestionNo")

    def test_hostile_ones_are_not_even_asked_about(self, window: MainWindow) -> None:
        links = window.groups[LinkCommands]
        for rest in ("/dev/zero", "//host/share/x", "--allow=/", "/a%0Ab", "x" * 20_000, "%FF"):
            links.open_from_outside(f"refbrowser:{rest}")
            assert question(window) is None
            assert error_of(window)
            window.centre.error_bar.hide()
        assert not window.documents.all()

    def test_of_many_a_few_wait(self, window: MainWindow) -> None:
        links = window.groups[LinkCommands]
        for number in range(50):
            links.open_from_outside(f"refbrowser:/nowhere/{number}.json")
            links.open_from_outside(f"refbrowser:/nowhere/{number % 3}.json")
        asked = 0
        while (box := question(window)) is not None:
            assert f"/nowhere/{asked}.json" in box.informativeText()
            assert len(window.findChildren(QMessageBox, "linkQuestion")) <= 2
            answer(window, "linkQuestionNo")
            asked += 1
        assert asked == 5
        assert not window.documents.all()
