"""Pictures of the window: drawn when all is there, or after some patience; they leave no trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from refbrowser.app.settings.settings import Settings
from refbrowser.app.shell import housekeeping
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.errors import ErrorKind, RefbrowserError


def draw(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "refbrowser", "--screenshot", *arguments],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={**os.environ, "XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home), **environment},
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme", "scale", "size"),
    [
        pytest.param("light", theme.LIGHT, 1, (1280, 800), marks=pytest.mark.long),
        ("dark", theme.DARK, 2, (1000, 700)),
        pytest.param("contrast-dark", theme.CONTRAST_DARK, 1, (1280, 800), marks=pytest.mark.long),
    ],
)
def test_the_plot_in_each_theme(
    small: Path, tmp_path: Path, name: str, scheme: theme.Colors, scale: int, size: tuple[int, int]
) -> None:
    picture, home = tmp_path / "window.png", tmp_path / "home"
    wanted = [] if scale == 1 else ["--size", "x".join(map(str, size))]
    arguments = (str(small), "--array", "/temp", "--theme", name, *wanted)
    done = draw(str(picture), *arguments, home=home, QT_SCALE_FACTOR=str(scale))
    assert (done.returncode, done.stderr) == (0, "")
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (size[0] * scale, size[1] * scale)
    assert image.pixelColor(2, 500 * scale) == QColor(scheme.window)
    points = [(x * scale, y * scale) for x in range(250, 700, 2) for y in range(150, 500, 2)]
    assert len({image.pixel(x, y) for x, y in points}) > 20
    # No trace is left.
    assert not list(home.rglob("*.ini"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "said", "is_drawn"),
    [
        (("{}/window.png", "{}/none.json"), 6, "none.json", True),
        pytest.param(
            ("{}/window.png", "{}/small.json", "--array", "/none"),
            2,
            "no array '/none'",
            True,
            marks=pytest.mark.long,
        ),
        pytest.param(
            ("{}/none/window.png", "{}/small.json"), 4, "could not be written", False, marks=pytest.mark.long
        ),
        (("{}/window.png", "--size", "big"), 2, "'big'", False),
        (("{}/window.png", "--theme", "pink"), 2, "'pink'", False),
    ],
)
def test_exit_codes(
    small: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str, is_drawn: bool
) -> None:
    done = draw(*(text.format(tmp_path) for text in arguments), home=tmp_path / "home")
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert QImage(str(tmp_path / "window.png")).isNull() != is_drawn


@pytest.mark.slow
def test_patience_ends(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def wait(control: TaskControl) -> None:
        while True:
            control.check()

    monkeypatch.setattr(housekeeping, "PATIENCE", 0.2)
    window.tasks.run("endless", "An endless job", wait)
    ended: list[bool] = []
    path = str(tmp_path / "x.png")
    taken = housekeeping.Screenshot(window, window.centre, path, None, lambda: ended.append(True))
    taken.start()
    qtbot.waitUntil(lambda: bool(ended))
    assert isinstance(taken.error, RefbrowserError)
    assert taken.error.kind is ErrorKind.SOURCE
    assert not QImage(str(tmp_path / "x.png")).isNull()
    window.tasks.cancel_owner("endless")


def test_settings_that_are_not_kept_read_preferences_alone(window: MainWindow) -> None:
    kept = Settings()
    kept.set_preference("theme", "dark")
    kept.set_view("centreTabs", [2])
    kept.add_recent("/a.json")
    passing = Settings(is_kept=False)
    assert passing.preference("theme") == "dark"
    assert passing.view("centreTabs") == []
    for change in (passing.clear_recent, passing.clear_views, lambda: passing.set_preference("theme", None)):
        change()
    passing.add_recent("/b.json")
    QSettings().sync()
    again = Settings()
    assert (again.recent(), again.view("centreTabs"), again.preference("theme")) == (["/a.json"], [2], "dark")
