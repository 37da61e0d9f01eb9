"""The program offers to add itself to the desktop where it was started from its folder, and does so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from refbrowser.app.frame import desktop_offer
from refbrowser.app.frame.desktop_offer import DONE, FAILED, OFFER, DesktopOffer, offered
from refbrowser.app.frame.start_pane import StartPane

PACKAGING = Path(__file__).resolve().parents[3] / "packaging" / "desktop"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="desktops of Linux")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the program, with a name that entries must quote, and a home with nothing in it."""
    made = tmp_path / 'my "own" $HOME 100%'
    (made / "share" / "applications").mkdir(parents=True)
    (made / "share" / "mime" / "packages").mkdir(parents=True)
    shutil.copy(PACKAGING / "add-to-desktop", made)
    shutil.copy(PACKAGING / "refbrowser.desktop", made / "share" / "applications")
    shutil.copy(PACKAGING / "refbrowser.xml", made / "share" / "mime" / "packages")
    (made / "refbrowser").write_text("#!/bin/sh\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("REFBROWSER_BUNDLE", str(made))
    monkeypatch.delenv("APPIMAGE", raising=False)
    return made


def entry(tmp_path: Path) -> Path:
    return tmp_path / "data" / "applications" / "refbrowser.desktop"


@pytest.mark.slow
def test_pressed_it_adds_the_program_and_is_not_offered_again(
    styled: QApplication, qtbot: QtBot, folder: Path, tmp_path: Path
) -> None:
    pane = StartPane()
    qtbot.addWidget(pane)
    pane.complete([])
    (button,) = pane.findChildren(DesktopOffer)
    assert button.text() == OFFER
    assert not entry(tmp_path).exists()
    button.click()
    qtbot.waitUntil(lambda: button.text() != OFFER)
    assert button.text() == DONE, button.toolTip()
    # A backslash before a quote or dollar inside quotes, and each backslash of a value is two.
    quoted = str(folder / "refbrowser").replace('"', '\\\\"').replace("$", "\\\\$").replace("%", "%%")
    assert f'\nExec="{quoted}" %U\n' in entry(tmp_path).read_text("utf-8")
    if shutil.which("desktop-file-validate"):
        subprocess.run(["desktop-file-validate", str(entry(tmp_path))], check=True, timeout=60)
    assert offered() is None
    subprocess.run([str(folder / "add-to-desktop"), "--remove"], check=True, timeout=60)
    assert not entry(tmp_path).exists()
    assert not (tmp_path / "data" / "mime" / "packages" / "refbrowser.xml").exists()
    assert offered() is not None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xdg-mime") is None, reason="needs xdg-mime")
def test_what_opens_folders_stays_so(folder: Path, tmp_path: Path) -> None:
    shutil.copy(PACKAGING / "refbrowser-folder.desktop", folder / "share" / "applications")
    system = tmp_path / "system" / "applications"
    system.mkdir(parents=True)
    text = "[Desktop Entry]\nType=Application\nName=Files\nExec=true %f\nMimeType=inode/directory;\n"
    (system / "files.desktop").write_text(text)
    (system / "mimeinfo.cache").write_text("[MIME Cache]\ninode/directory=files.desktop;\n")
    environment = {**os.environ, "XDG_DATA_DIRS": str(system.parent), "XDG_CURRENT_DESKTOP": "X-Generic"}
    query = ["xdg-mime", "query", "default", "inode/directory"]

    def opens_folders() -> str:
        return subprocess.run(
            query, capture_output=True, text=True, timeout=60, env=environment
        ).stdout.strip()

    assert opens_folders() == "files.desktop"
    subprocess.run([str(folder / "add-to-desktop")], check=True, timeout=60, env=environment)
    assert (tmp_path / "data" / "applications" / "refbrowser-folder.desktop").is_file()
    assert opens_folders() == "files.desktop"


def test_an_entry_that_leads_elsewhere_is_offered_anew(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry(tmp_path).parent.mkdir(parents=True)
    entry(tmp_path).write_text('[Desktop Entry]\nExec="/old/refbrowser" %U\n')
    assert offered() == folder / "add-to-desktop"
    monkeypatch.setenv("APPIMAGE", "/old/refbrowser")
    assert offered() is None


def test_what_is_installed_offers_nothing(
    styled: QApplication, qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(folder / "share")
    assert offered() is None
    monkeypatch.delenv("REFBROWSER_BUNDLE")
    assert offered() is None
    pane = StartPane()
    qtbot.addWidget(pane)
    pane.complete([])
    assert pane.findChildren(DesktopOffer) == []
    assert desktop_offer.VARIABLE == "REFBROWSER_BUNDLE"


def test_a_failure_is_said(styled: QApplication, qtbot: QtBot, folder: Path) -> None:
    script = folder / "add-to-desktop"
    script.write_text("#!/bin/sh\necho 'no room <b>left</b>' >&2\nexit 3\n")
    os.chmod(script, 0o755)
    button = DesktopOffer(script)
    qtbot.addWidget(button)
    button.click()
    qtbot.waitUntil(lambda: button.text() != OFFER)
    assert button.text() == FAILED
    assert "no room &lt;b&gt;left" in button.toolTip()
