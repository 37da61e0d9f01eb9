"""Connection settings per origin: from the command line and the dialog, for the session, not from files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QPushButton, QTreeWidget, QWidget
from pytestqt.qtbot import QtBot
from small_documents import small_document

from refbrowser.app.commands.files import FileCommands, PermissionCommands
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.open_dialogs import ConnectionDialog, OpenUrlDialog
from refbrowser.app.dialogs.trust import TrustSheet
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.io.origins import ConnectionSettings, Origin, parse_storage_options

Open = Callable[[str | Path], OpenDocument]
TOKEN = "Bearer hunter2"


class Guarded(BaseHTTPRequestHandler):
    """Gives a document to those who send the token."""

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != TOKEN:
            self.send_error(401)
            return
        data = json.dumps(small_document("https://data.example.org/data.bin")).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The origin of a server that wants a token, which an environment variable holds."""
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def find(parent: QWidget, kind: type, name: str) -> QWidget:
    found = parent.findChild(kind, name)
    assert found is not None, name
    return found  # type: ignore[no-any-return]


def shown(origin: str, settings: ConnectionSettings, qtbot: QtBot) -> ConnectionDialog:
    dialog = ConnectionDialog(Origin.parse(origin), settings)
    qtbot.addWidget(dialog)
    return dialog


@pytest.mark.slow
def test_a_header_is_sent_to_its_origin(window: MainWindow, origin: str, opened: Open) -> None:
    assert opened(f"{origin}/a.json").error is not None
    window.documents.use_settings(parse_storage_options([f"{origin}:header.Authorization=TEST_TOKEN"]))
    document = opened(f"{origin}/a.json")
    assert document.error is None
    assert document.is_open


def test_settings_reach_documents_that_are_open(window: MainWindow, small: Path, opened: Open) -> None:
    document = opened(small)
    given = parse_storage_options(["s3://bucket:profile=me"])
    window.documents.use_settings(given)
    assert document.access is not None
    assert document.dataset is not None
    for access in (document.access, document.dataset.access):
        assert access.connection(Origin.parse("s3://bucket")).profile == "me"
        assert access.connection(Origin.parse("s3://other")).profile is None
    window.documents.use_settings(parse_storage_options(["s3://other:region=x"]))
    assert document.access.connection(Origin.parse("s3://bucket")).profile == "me"


@pytest.mark.long
def test_the_window_takes_storage_options(origin: str, tmp_path: Path) -> None:
    picture = tmp_path / "window.png"
    command = [sys.executable, "-m", "refbrowser", f"{origin}/a.json", "--screenshot", str(picture)]
    option = ["--storage-option", f"{origin}:header.Authorization=TEST_TOKEN"]
    told = subprocess.run(
        [*command, *option], capture_output=True, text=True, timeout=100, env=dict(os.environ)
    )
    assert told.returncode == 0, told.stderr
    assert picture.exists()
    told = subprocess.run(
        [*command, "--storage-option", "nonsense"], capture_output=True, text=True, timeout=100
    )
    assert told.returncode == 2
    assert "ORIGIN:KEY=VALUE" in told.stderr


def test_the_dialog_for_a_bucket(qtbot: QtBot) -> None:
    dialog = shown("s3://bucket", ConnectionSettings(), qtbot)
    assert dialog.findChild(QLineEdit, "connection_headers") is None
    assert dialog.findChild(QLineEdit, "connection_account") is None
    assert dialog.settings() == ConnectionSettings()
    qtbot.keyClicks(find(dialog, QLineEdit, "connection_profile"), "me")
    assert not find(dialog, QCheckBox, "connection_anonymous").isChecked()  # type: ignore[attr-defined]
    for name, text in (("endpoint", "https://store.example.org"), ("region", "here")):
        qtbot.keyClicks(find(dialog, QLineEdit, f"connection_{name}"), text)
    find(dialog, QCheckBox, "connection_requester_pays").setChecked(True)  # type: ignore[attr-defined]
    wanted = ConnectionSettings(
        anonymous=False,
        profile="me",
        endpoint="https://store.example.org",
        region="here",
        requester_pays=True,
    )
    assert dialog.settings() == wanted
    assert shown("s3://bucket", wanted, qtbot).settings() == wanted
    anonymous = shown("abfs://container", ConnectionSettings(account="mine"), qtbot).settings()
    assert anonymous == ConnectionSettings(account="mine")


def test_the_dialog_for_a_login(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDL_TOKEN", "abc")
    dialog = shown("https://data.example.org", ConnectionSettings(), qtbot)
    for name, text in (("login", "https://urs.example.org"), ("netrc", "true")):
        find(dialog, QLineEdit, f"connection_{name}").setText(text)  # type: ignore[attr-defined]
    wanted = ConnectionSettings(login="https://urs.example.org", netrc="")
    assert dialog.settings() == wanted
    assert shown("https://data.example.org", wanted, qtbot).settings() == wanted
    bucket = shown("s3://bucket", ConnectionSettings(), qtbot)
    qtbot.keyClicks(
        find(bucket, QLineEdit, "connection_credentials"), "https://data.example.org/s3credentials"
    )
    qtbot.keyClicks(find(bucket, QLineEdit, "connection_token"), "EDL_TOKEN")
    assert bucket.settings() == ConnectionSettings(
        anonymous=False, credentials="https://data.example.org/s3credentials", token="EDL_TOKEN"
    )
    find(dialog, QLineEdit, "connection_login").setText("http://urs.example.org")  # type: ignore[attr-defined]
    assert not find(dialog, QPushButton, "connectionUseButton").isEnabled()


def test_the_dialog_says_what_is_wrong(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    dialog = shown("https://a.example.org", ConnectionSettings(), qtbot)
    field, use = (
        find(dialog, QLineEdit, "connection_headers"),
        find(dialog, QPushButton, "connectionUseButton"),
    )
    for text in ("Range=TEST_TOKEN", "Authorization=NOT_THERE_AT_ALL", "Authorization"):
        field.setText(text)  # type: ignore[attr-defined]
        assert not use.isEnabled(), text
    field.setText("Authorization=TEST_TOKEN, X-Other=TEST_TOKEN")  # type: ignore[attr-defined]
    assert use.isEnabled()
    assert dialog.settings().headers == {"Authorization": "TEST_TOKEN", "X-Other": "TEST_TOKEN"}


@pytest.mark.slow
def test_open_url_offers_the_dialog(window: MainWindow, origin: str, qtbot: QtBot) -> None:
    window.groups[FileCommands].open_url()
    asking = window.findChild(OpenUrlDialog)
    button = find(asking, QPushButton, "urlConnectionButton")
    assert not button.isEnabled()
    find(asking, QLineEdit, "urlField").setText(f"{origin}/a.json")  # type: ignore[attr-defined]
    button.click()  # type: ignore[attr-defined]
    dialog = asking.findChild(ConnectionDialog)
    find(dialog, QLineEdit, "connection_headers").setText("Authorization=TEST_TOKEN")  # type: ignore[attr-defined]
    find(dialog, QPushButton, "connectionUseButton").click()  # type: ignore[attr-defined]
    find(asking, QPushButton, "urlOpenButton").click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: window.documents.current is not None)
    document = window.documents.current
    assert document is not None
    qtbot.waitUntil(lambda: document.is_open or document.error is not None)
    assert document.error is None


@pytest.mark.slow
def test_the_trust_sheet_offers_the_dialog(window: MainWindow, tmp_path: Path, opened: Open) -> None:
    path = tmp_path / "far.json"
    path.write_text(json.dumps(small_document("s3://bucket/data.bin")))
    document = opened(path)
    window.groups[PermissionCommands].review_trust()
    sheet = window.findChild(TrustSheet)
    view = find(sheet, QTreeWidget, "trustList")
    view.setCurrentItem(view.topLevelItem(0))  # type: ignore[attr-defined]
    find(sheet, QPushButton, "trustConnectionButton").click()  # type: ignore[attr-defined]
    dialog = sheet.findChild(ConnectionDialog)
    find(dialog, QLineEdit, "connection_region").setText("here")  # type: ignore[attr-defined]
    find(dialog, QPushButton, "connectionUseButton").click()  # type: ignore[attr-defined]
    assert document.access is not None
    assert document.access.connection(Origin.parse("s3://bucket")).region == "here"
    assert not document.access.allowed
    assert isinstance(sheet, QDialog)
    sheet.reject()
