"""Jobs: shown and cancelled. Export: asked for, carried out, told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QProgressBar, QTableView
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.jobs_pane import SHARE_ROLE, WORDS_ROLE
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets.small_widgets import show_progress
from refbrowser.tools.export.window.export_dialog import ExportDialog

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


class TestJobs:
    @pytest.mark.slow
    def test_running_job_is_listed_and_cancelled(self, window: MainWindow, qtbot: QtBot) -> None:
        started = threading.Event()

        def work(control: TaskControl) -> None:
            started.set()
            for number in range(10_000):
                control.progress(
                    number,
                    10_000,
                    read_bytes=number * 1000,
                    requests=number,
                    tasks=number // 20,
                    tasks_total=500,
                )
                control.check()
                time.sleep(0.005)

        table = window.findChild(QTableView, "jobsView")
        model = table.model()
        window.tasks.run("test", "A long job", work)
        qtbot.waitUntil(window.actions_["cancel_newest"].isEnabled)
        assert model.rowCount() == 0, "nobody sees it"
        window.actions_["show_jobs"].trigger()
        qtbot.waitUntil(lambda: model.rowCount() == 1 and "requests" in model.index(0, 0).data(WORDS_ROLE))
        assert model.index(0, 0).data() == "A long job"
        assert model.index(0, 1).data() == "running"
        words = model.index(0, 0).data(Qt.ItemDataRole.AccessibleDescriptionRole)
        assert "B read in" in words
        assert "of 500 tasks" in words
        assert words.split(" · ")[1] in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
        lines = 2 * table.fontMetrics().lineSpacing()
        assert table.rowHeight(0) > lines
        assert window.actions_["cancel_newest"].isEnabled()
        table.selectRow(0)
        button(window, "jobCancelButton").click()
        qtbot.waitUntil(lambda: model.index(0, 1).data() == "cancelled")
        assert not button(window, "jobCancelAllButton").isEnabled()

    def test_progress_never_stands_at_its_end(self, window: MainWindow, qtbot: QtBot) -> None:
        gates = [threading.Event(), threading.Event()]

        def work(control: TaskControl) -> None:
            control.progress(7, 7, read_bytes=1, note="7 references")
            gates[0].wait(10)
            control.stage("Building the hierarchy")
            gates[1].wait(10)

        window.actions_["show_jobs"].trigger()
        window.tasks.run("test", "Open", work)
        model = window.findChild(QTableView, "jobsView").model()

        def shown() -> list[tuple[str, float | None]]:
            cells = [model.index(row, 0) for row in range(model.rowCount())]
            return [(cell.data(WORDS_ROLE).split(" · ")[0], cell.data(SHARE_ROLE)) for cell in cells]

        for gate, words in zip(gates, ("7 references", "Building the hierarchy"), strict=True):
            qtbot.waitUntil(lambda words=words: (words, None) in shown())  # type: ignore[misc]
            gate.set()
        qtbot.waitUntil(lambda: ("1 B read", 1.0) in shown())
        bar = QProgressBar()
        qtbot.addWidget(bar)
        for done, total, seen in ((3, 6, (1000, 500)), (6, 6, (0, -1)), (6, None, (0, -1))):
            show_progress(bar, done, total)
            assert (bar.maximum(), bar.value() if bar.maximum() else -1) == seen

    def test_escape_cancels_the_newest(self, window: MainWindow, qtbot: QtBot) -> None:
        begun, ended = [], []

        def work(control: TaskControl) -> None:
            begun.append(True)
            try:
                while True:
                    control.check()
                    time.sleep(0.005)
            finally:
                ended.append(True)

        window.tasks.run("test", "A long job", work)
        qtbot.waitUntil(lambda: bool(begun) and window.actions_["cancel_newest"].isEnabled())
        window.actions_["cancel_newest"].trigger()
        qtbot.waitUntil(lambda: bool(ended))

    def test_failed_job_without_a_place_is_told(self, window: MainWindow, qtbot: QtBot) -> None:
        def fail(_control: TaskControl) -> None:
            raise RuntimeError("the reason")

        window.tasks.run("test", "A job", fail)
        qtbot.waitUntil(window.centre.error_bar.isVisible)
        assert "the reason" in window.centre.error_bar.text()


class TestExport:
    def dialog(self, window: MainWindow, kind: str, target: Path) -> ExportDialog:
        window.actions_["export"].trigger()
        dialog = window.findChild(ExportDialog)
        assert dialog is not None
        dialog.choose_format(kind)
        dialog.findChild(QLineEdit, "exportTarget").setText(str(target))
        return dialog

    def test_whole_dataset_to_zarr(
        self, window: MainWindow, small: Path, tmp_path: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        opened(small)
        settle()
        dialog = self.dialog(window, "zarr-v3", tmp_path / "out.zarr")
        start, words = button(dialog, "exportStartButton"), dialog.findChild(QLabel, "exportCost")
        qtbot.waitUntil(start.isEnabled)
        assert "chunks" in words.text()
        start.click()
        qtbot.waitUntil(lambda: words.text().startswith("Done"))
        import zarr

        values = zarr.open(str(tmp_path / "out.zarr"), mode="r")["temp"][:]
        assert values[0, 1] == 0x0302
        assert values.shape == (4, 6)
        dialog.close()

    def test_what_is_there_is_not_replaced_unless_told(
        self, window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        opened(small)
        settle()
        dialog = self.dialog(window, "refs-v0", small)
        words = dialog.findChild(QLabel, "exportCost")
        qtbot.waitUntil(lambda: "already" in words.text())
        assert not button(dialog, "exportStartButton").isEnabled()
        dialog.close()

    def test_chosen_array_to_version_0_and_open_it(
        self, window: MainWindow, small: Path, tmp_path: Path, opened: Open, settle: Settle, qtbot: QtBot
    ) -> None:
        opened(small)
        settle()
        target = tmp_path / "part.json"
        dialog = self.dialog(window, "refs-v0", target)
        button(dialog, "exportNoneButton").click()
        words = dialog.findChild(QLabel, "exportCost")
        qtbot.waitUntil(lambda: "no array" in words.text().lower())
        dialog.arrays.tick_all(True)
        start = button(dialog, "exportStartButton")
        qtbot.waitUntil(start.isEnabled)
        start.click()
        qtbot.waitUntil(lambda: words.text().startswith("Done"))
        assert json.loads(target.read_text())["temp/1.1"][1:] == [36, 12]
        button(dialog, "exportOpenButton").click()
        qtbot.waitUntil(lambda: len(window.documents.all()) == 2)
        settle()
        assert window.documents.current.path == str(target)
