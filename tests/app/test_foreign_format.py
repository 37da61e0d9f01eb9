"""A format of another package in the window: its tree, its plot, why an element shows as it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fixture_format import found, written_grid
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QSpinBox, QTextBrowser, QTextEdit
from pytestqt.qtbot import QtBot
from window_fixtures import close_shared
from window_reset import SharedWindow

from refbrowser.app.shell.format_places import FormatPlaces
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.views.hierarchy import format_words, short_format


@pytest.fixture(scope="module", autouse=True)
def a_window_of_their_own(shared: list[SharedWindow]) -> Iterator[None]:
    """Let no window that was made before, or is used after, meet the formats that come and go here."""
    close_shared()
    yield
    close_shared()


@pytest.mark.slow
def test_a_file_of_another_package_opens_plots_and_is_explained(
    window: MainWindow,
    qtbot: QtBot,
    settle: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.arange(12.0).reshape(3, 4)
    with found(monkeypatch, "fixture_format:GRID"):
        document = window.open_path(str(written_grid(tmp_path / "a.grid", values)), "/values")
        qtbot.waitUntil(lambda: window.centre.plot is not None and window.centre.plot.array() is not None)
        settle()
        item = window.hierarchy.current_item()
        assert item is not None
        assert (item.document, item.place) == (document, "/values")
        assert (format_words(document), short_format(document)) == ("Text grid", "Text grid")
        picture = window.centre.plot.picture()
        assert np.array_equal(picture.values, values)
        window.activateWindow()
        canvas = window.centre.plot.canvas
        canvas.setFocus()
        qtbot.keyClick(canvas, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
        settle()
        assert window.findChild(QTextEdit, "explainVerdict").toPlainText() == "This element is 5."
        assert "a.grid" in window.findChild(QTextBrowser, "explainText").toPlainText()
        # It is written too: offered last, with its own option.
        window.actions_["export"].trigger()
        dialog = window.findChild(ExportDialog)
        dialog.choose_format("textgrid")
        assert dialog.formats[-1].name == "textgrid"
        target = Path(dialog.order().target)
        assert target.name == "a-export.grid"
        dialog.findChild(QSpinBox, "exportGridDecimals").setValue(3)
        assert dialog.order().options == {"decimals": 3}
        start = dialog.findChild(QPushButton, "exportStartButton")
        qtbot.waitUntil(start.isEnabled)
        start.click()
        qtbot.waitUntil(lambda: dialog.findChild(QLabel, "exportCost").text().startswith("Done"))
        assert target.read_bytes() == (tmp_path / "a.grid").read_bytes()
        dialog.close()


def test_its_page_bar_and_commands_are_there_for_its_documents_alone(
    window: MainWindow,
    qtbot: QtBot,
    settle: Callable[[], None],
    tmp_path: Path,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with found(monkeypatch, "fixture_format:GRID"):
        grid = window.open_path(str(written_grid(tmp_path / "a.grid", np.arange(12.0).reshape(3, 4))))
        qtbot.waitUntil(lambda: window.pages.get("grid") is not None)
        settle()
        page = window.pages["grid"]
        assert (page.bar.isVisible(), page.bar.text()) == (True, "3 rows")
        assert window.groups[FormatPlaces].is_offered("grid")
        view = [each.objectName() for each in window.actions_.menu("&View").actions()]
        assert view[view.index("action_show_expressions") + 1] == "action_show_grid"
        window.actions_["show_grid"].trigger()
        assert window.centre.is_in_front(page.pane)
        assert page.pane.text() == grid.path
        window.actions_["count_rows"].trigger()
        assert window.findChild(QLabel, "statusText").text() == "counted"
        assert (grid.part.called, grid.file.grows) == ("the grid", True)
        other = window.open_path(str(small))
        qtbot.waitUntil(lambda: other.is_open)
        settle()
        assert (page.bar.isHidden(), window.groups[FormatPlaces].is_offered("grid")) == (True, False)
        assert not window.actions_["show_grid"].isEnabled()
        assert not window.centre.is_in_front(page.pane)
        window.documents.set_current(grid)
        settle()
        assert (page.bar.isHidden(), window.groups[FormatPlaces].is_offered("grid")) == (False, True)
        window.documents.close(grid)
        settle()
        assert (page.bar.isHidden(), window.groups[FormatPlaces].is_offered("grid")) == (True, False)


def test_what_it_adds_fails_alone(
    window: MainWindow,
    qtbot: QtBot,
    settle: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(
        window, "show_error", lambda title, error, again=None: told.append(f"{title}: {error}")
    )
    with found(monkeypatch, "fixture_format:BROKEN"):
        path = written_grid(tmp_path / "b.grid", np.arange(12.0).reshape(3, 4))
        document = window.open_path(str(path), "/values")
        qtbot.waitUntil(lambda: len(told) >= 4)
        settle()
        failed = "What Broken grid adds to the window failed: "
        assert sorted(told) == sorted(
            [
                "What Broken grid adds is missing: nothing is made here",
                f"{failed}who knows",
                f"{failed}nothing is made here",
                f"{failed}'grid'",
            ]
        )
        assert document.dataset is not None
        assert window.centre.plot.array().path == "/values"
        assert (window.pages.get("unmade"), window.pages.get("unshown")) == (None, None)
        assert window.findChild(QLabel, "brokenBar").isHidden()
        assert not window.groups[FormatPlaces].is_offered("unshown")
        assert not window.actions_["break_grid"].isEnabled()
        # What it does not break goes on.
        window.documents.close(document)
        settle()
        assert len(told) == 4
