"""Where exports run: chosen in the preferences, asked without waiting, and told by the Export dialog."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QSpinBox, QTabWidget
from pytestqt.qtbot import QtBot
from window_fixtures import Open, button

from refbrowser.app.commands.view import PreferenceCommands
from refbrowser.app.dialogs import preferences_dialog
from refbrowser.app.dialogs.open_dialogs import ConnectionDialog
from refbrowser.app.dialogs.preferences_dialog import PreferencesDialog
from refbrowser.app.settings.preferences import Preferences
from refbrowser.app.settings.settings import Settings
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.engine.compute import Compute, ComputeStatus
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.tools.export.window.export_dialog import ExportDialog, is_bucket
from refbrowser.views.compute_places import (
    CLUSTER,
    PROCESSES,
    ComputeChoice,
    ask_workers,
    where_text,
    workers_text,
)

Settle = Callable[[], None]
ADDRESS = "tcp://node1:8786"
WORKING = ComputeStatus(4, 8, 1_200_000_000, 16_000_000_000, "http://node1:8787/status")


@pytest.fixture
def page(window: MainWindow) -> PreferencesDialog:
    """The page of the preferences about where exports run."""
    window.groups[PreferenceCommands].compute()
    found = window.findChild(PreferencesDialog, "preferencesDialog")
    assert found is not None
    return found


def words(dialog: PreferencesDialog) -> str:
    return dialog.findChild(QLabel, "computeStatus").text()


def choose(dialog: PreferencesDialog, kind: str) -> None:
    box = dialog.findChild(QComboBox, "preference_compute")
    box.setCurrentIndex(box.findData(kind))


def write(dialog: PreferencesDialog, name: str, text: str) -> None:
    field = dialog.findChild(QLineEdit, f"preference_{name}")
    field.setFocus()
    field.setText(text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert dialog.isVisible()


class TestChoice:
    def test_what_the_engine_is_told(self, styled: object) -> None:
        preferences = Preferences(Settings())
        told = [preferences.compute.compute()]
        preferences.set("compute", PROCESSES)
        told.append(preferences.compute.compute())
        preferences.set("compute_processes", 3)
        told.append(preferences.compute.compute())
        preferences.set("compute", CLUSTER)
        preferences.set("compute_scheduler", f" {ADDRESS} ")
        preferences.set("compute_ca", "/ca.pem")
        # Files for TLS are kept, and count where it is spoken.
        told.append(preferences.compute.compute())
        preferences.set("compute_scheduler", "tls://node1")
        told.append(preferences.compute.compute())
        assert told == [
            Compute(), Compute("local"), Compute("local:3"), Compute(ADDRESS),
            Compute("tls://node1:8786", ca="/ca.pem"),
        ]  # fmt: skip
        again = Preferences(Settings()).compute
        assert again == ComputeChoice(CLUSTER, 3, "tls://node1", "/ca.pem")
        preferences.restore_defaults()
        assert preferences.compute == ComputeChoice()

    def test_words(self) -> None:
        for choice, text in (
            (ComputeChoice(), "in this program"),
            (ComputeChoice(PROCESSES), "in one process for each core of this computer"),
            (ComputeChoice(PROCESSES, 1), "in one process of this computer"),
            (ComputeChoice(PROCESSES, 4), "in 4 processes of this computer"),
            (ComputeChoice(CLUSTER, 4, ADDRESS), f"on {ADDRESS}"),
            (ComputeChoice(CLUSTER), "on a Dask cluster without an address"),
        ):
            assert choice.words == text
        assert where_text(ComputeChoice(), "a reason") == "in this program"
        assert (
            where_text(ComputeChoice(PROCESSES, 4), "a zip file is written by one process")
            == "in this program, not in 4 processes of this computer: a zip file is written by one process"
        )
        assert where_text(ComputeChoice(PROCESSES, 1), "", "1 array of nested values") == (
            "in one process of this computer; in this program: 1 array of nested values"
        )
        assert workers_text(WORKING) == "4 workers with 8 threads; 1.2 GB of 16 GB of memory used."
        assert workers_text(ComputeStatus(1, 1)) == "1 worker with 1 thread."

    def test_address_that_makes_no_sense(self) -> None:
        for scheduler, message in (
            ("", "no Dask scheduler address is given"),
            ("http://node1", "neither"),
            ("tcp://x:0", "this is not a port number"),
        ):
            with pytest.raises(RefbrowserError, match=message) as error:
                ComputeChoice(CLUSTER, 0, scheduler).compute()
            assert error.value.kind is ErrorKind.USAGE

    def test_asking_starts_no_processes_and_says_what_is_not_installed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        control = JobControl()
        here = ask_workers(ComputeChoice(), control)
        assert here is not None
        assert here.workers == 1
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(RefbrowserError, match="Dask is not installed") as error:
            ask_workers(ComputeChoice(CLUSTER, 0, ADDRESS), control)
        assert "pip install 'refbrowser[dask]'" in error.value.advice
        assert ask_workers(ComputeChoice(PROCESSES), control) is None


class TestPage:
    @pytest.mark.slow
    def test_fields_are_those_of_the_choice(
        self, window: MainWindow, page: PreferencesDialog, settle: Settle
    ) -> None:
        assert page.findChild(QTabWidget, "preferencesTabs").currentIndex() == 1
        for kind, scheduler, seen in (
            ("here", "", set()),
            (PROCESSES, "", {"processes"}),
            (CLUSTER, "", {"scheduler"}),
            (CLUSTER, "tls://", {"scheduler", "ca", "cert", "key"}),
        ):
            choose(page, kind)
            window.preferences.set("compute_scheduler", scheduler)
            fields = {
                name: page.findChild((QLineEdit, QSpinBox)[name == "processes"], f"preference_compute_{name}")
                for name in ("processes", "scheduler", "ca", "cert", "key")
            }
            assert {name for name, field in fields.items() if field.isVisible()} == seen
        # Typed addresses that are none are told, not asked.
        settle()
        assert "is neither local" in words(page)

    def test_who_works_is_shown(
        self, page: PreferencesDialog, settle: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[ComputeChoice] = []
        answers: list[Any] = [
            WORKING,
            RefbrowserError(ErrorKind.SOURCE, "nobody answered", advice="start one"),
        ]
        answers.append(ComputeStatus(0, 0, dashboard="javascript:alert(1)"))

        def ask(choice: ComputeChoice, _control: object) -> ComputeStatus:
            asked.append(choice)
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        opened: list[QUrl] = []
        monkeypatch.setattr(preferences_dialog, "ask_workers", ask)
        monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
        choose(page, CLUSTER)
        settle()
        assert "Type the address" in words(page)
        write(page, "compute_scheduler", ADDRESS)
        settle()
        assert asked == [ComputeChoice(CLUSTER, 0, ADDRESS)]
        assert words(page) == (
            f"{ADDRESS} answers: {workers_text(WORKING)}\nDashboard: http://node1:8787/status"
        )
        # It is asked again by itself, as long as the page is seen.
        card = page.findChild(QLabel, "computeStatus").parentWidget()
        (later,) = card.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
        assert later.isActive()
        answers.insert(0, replace(WORKING, memory=5 * 10**9))
        button(page, "computeDashboardButton").setFocus()
        later.timeout.emit()
        settle()
        assert "5 GB" in words(page)
        assert page.focusWidget() is button(page, "computeDashboardButton")
        assert later.isActive()
        page.findChild(QTabWidget, "preferencesTabs").setCurrentIndex(0)
        assert not later.isActive()
        answers.insert(0, WORKING)
        page.show_compute()
        settle()
        button(page, "computeDashboardButton").click()
        assert opened == [QUrl("http://node1:8787/status")]
        button(page, "computeAskButton").click()
        settle()
        assert words(page) == "Nobody answered.\nStart one"
        assert not button(page, "computeDashboardButton").isVisible()
        # What a scheduler calls its dashboard is opened as a page, or not at all.
        button(page, "computeAskButton").click()
        settle()
        assert "javascript:alert(1)" in words(page)
        assert not button(page, "computeDashboardButton").isVisible()

    def test_window_does_not_wait_and_the_newest_choice_counts(
        self, page: PreferencesDialog, qtbot: QtBot, settle: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer, begun = threading.Event(), threading.Event()

        def ask(choice: ComputeChoice, _control: object) -> ComputeStatus:
            if choice.kind == CLUSTER:
                begun.set()
                answer.wait(20)
            return WORKING

        monkeypatch.setattr(preferences_dialog, "ask_workers", ask)
        choose(page, CLUSTER)
        write(page, "compute_scheduler", ADDRESS)
        qtbot.waitUntil(begun.is_set)
        assert words(page) == f"Asking {ADDRESS} for its workers…"
        choose(page, "here")
        qtbot.waitUntil(lambda: "threads of this program" in words(page))
        answer.set()
        settle()
        assert "threads of this program" in words(page)

    def test_nobody_is_asked_where_it_is_not_seen(
        self, window: MainWindow, page: PreferencesDialog, settle: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settle()
        asked: list[ComputeChoice] = []
        monkeypatch.setattr(preferences_dialog, "ask_workers", lambda choice, _control: asked.append(choice))
        page.findChild(QTabWidget, "preferencesTabs").setCurrentIndex(0)
        choose(page, CLUSTER)
        window.preferences.set("compute_scheduler", ADDRESS)
        settle()
        assert asked == []


class TestExports:
    @pytest.fixture
    def dialog(self, window: MainWindow, small: Path, opened: Open, settle: Settle) -> ExportDialog:
        opened(small)
        settle()
        window.actions_["export"].trigger()
        found = window.findChild(ExportDialog)
        assert found is not None
        return found

    @pytest.mark.slow
    def test_where_it_runs_is_told_and_changed(
        self, window: MainWindow, dialog: ExportDialog, qtbot: QtBot, settle: Settle
    ) -> None:
        where = dialog.findChild(QLabel, "exportWhere")
        assert where.text() == "in this program"
        button(dialog, "exportComputeButton").click()
        page = window.findChild(PreferencesDialog)
        assert page is not None
        choose(page, PROCESSES)
        assert where.text() == "in one process for each core of this computer"
        assert dialog.order().compute == ComputeChoice(PROCESSES)
        dialog.choose_format("ncstream")
        qtbot.waitUntil(lambda: where.text().endswith("one file is written by one process"))
        choose(page, CLUSTER)
        dialog.choose_format("zarr-v3")
        cost = dialog.findChild(QLabel, "exportCost")
        qtbot.waitUntil(lambda: "No Dask scheduler address" in cost.text())
        assert not button(dialog, "exportStartButton").isEnabled()
        choose(page, "here")
        qtbot.waitUntil(button(dialog, "exportStartButton").isEnabled)
        dialog.close()

    @pytest.mark.slow
    def test_export_elsewhere_ends_as_here(
        self,
        window: MainWindow,
        dialog: ExportDialog,
        tmp_path: Path,
        qtbot: QtBot,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        cost, start = dialog.findChild(QLabel, "exportCost"), button(dialog, "exportStartButton")
        with ThreadPoolExecutor(2) as pool:
            monkeypatch.setattr(ComputeChoice, "compute", lambda self: Compute(given=pool))
            window.preferences.set("compute_scheduler", ADDRESS)
            window.preferences.set("compute", CLUSTER)
            dialog.choose_format("zarr-v3")
            dialog.findChild(QLineEdit, "exportTarget").setText(str(tmp_path / "out.zarr"))
            qtbot.waitUntil(start.isEnabled)
            start.click()
            assert cost.text() == f"Writing {tmp_path / 'out.zarr'} on {ADDRESS}"
            assert any(each.text() == "waiting for workers" for each in dialog.findChildren(QLabel))
            assert not button(dialog, "exportBrowseButton").isEnabled()
            qtbot.waitUntil(lambda: cost.text().startswith("Done"))
        assert button(dialog, "exportBrowseButton").isEnabled()
        import zarr

        assert zarr.open(str(tmp_path / "out.zarr"), mode="r")["temp"][0, 1] == 0x0302
        titles = [status.job.title for status in window.tasks.statuses()]
        assert f"Export small.json to out.zarr on {ADDRESS}" in titles
        exported = next(each for each in window.tasks.statuses() if each.job.title.startswith("Export small"))
        assert 0 < exported.tasks == exported.tasks_total
        dialog.close()

    @pytest.mark.slow
    def test_nobody_answers(
        self, window: MainWindow, dialog: ExportDialog, tmp_path: Path, qtbot: QtBot
    ) -> None:
        class Silent:
            def submit(self, *_: object) -> None:
                raise RuntimeError("the pool is gone")

        cost, start = dialog.findChild(QLabel, "exportCost"), button(dialog, "exportStartButton")
        window.preferences.set("compute_scheduler", ADDRESS)
        window.preferences.set("compute", CLUSTER)
        dialog.choose_format("zarr-v3")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(ComputeChoice, "compute", lambda self: Compute(given=Silent()))
            dialog.findChild(QLineEdit, "exportTarget").setText(str(tmp_path / "out.zarr"))
            qtbot.waitUntil(start.isEnabled)
            start.click()
            qtbot.waitUntil(lambda: "the pool is gone" in cost.text())
        assert not (tmp_path / "out.zarr").exists()
        dialog.close()

    @pytest.mark.slow
    def test_target_in_a_bucket_has_a_connection(
        self, window: MainWindow, dialog: ExportDialog, settle: Settle
    ) -> None:
        connection = button(dialog, "exportConnectionButton")
        target = dialog.findChild(QLineEdit, "exportTarget")
        assert not connection.isVisible()
        for text, is_one in (
            ("s3://", False),
            ("gs://b", True),
            ("https://a/b", False),
            ("s3://b/x.zarr", True),
        ):
            target.setText(text)
            assert connection.isVisible() == is_bucket(text) == is_one
        settle()
        connection.click()
        asked = window.findChild(ConnectionDialog)
        assert asked is not None
        assert any("s3://b" in label.text() for label in asked.findChildren(QLabel))
        asked.reject()
        dialog.close()
