"""Draws the scenes: ``python tests/pictures/draw.py FOLDER [--scale 2] [--one-theme] [--whole] [SCENE...]``.

A window is brought into one scene after another; it is drawn in one theme, and again when the other was
chosen. With ``--one-theme`` half of the scenes is drawn in each. Pictures have the size of expected ones, or
that of the window with ``--whole``. With ``--renew`` the expected pictures and the README's are made anew;
look at them before you keep them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
CHECKOUT = HERE.parents[1]
README = CHECKOUT / "resources" / "pictures"
#: Which pictures there are: the scenes (none: all) by scale, each in every theme.
SETS: dict[int, tuple[str, ...]] = {1: (), 2: ("empty", "image", "rule", "explain", "table")}
THEMES = ("light", "dark")
#: Pictures of the README, by theme and scene.
SHOWN = {
    "window.png": ("light", "image"),
    "rule.png": ("dark", "rule"),
    "explain.png": ("light", "explain"),
    "make.png": ("light", "make_references"),
}
#: The font that pictures are drawn with: others are as wide as they like.
FONT = "DejaVu Sans"
#: The exit code where it is not installed.
NO_FONT = 77
#: Every window can be made so small, in device independent pixels; what came of it is in this file.
SMALL, SIZES = (900, 560), "sizes.json"
#: The quality of a PNG is how little it is packed.
QUICK = 80
#: Expected pictures are kept in half the size.
SMALLER = 2


def expected_size(image: QImage) -> QImage:
    """Return a picture in the size in which expected ones are kept."""
    size = image.size() / SMALLER
    return image.scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )


def kept_in(theme: str, scale: int) -> Path:
    """Return the folder of expected pictures."""
    return EXPECTED / (theme if scale == 1 else f"{theme}@{scale}")


def save(drawn: QWidget, path: Path, is_whole: bool) -> None:
    """Save a picture of a widget, whole or in the size of expected ones; quickly rather than small."""
    image = drawn.grab().toImage()
    (image if is_whole else expected_size(image)).save(str(path), quality=QUICK)


def themes_of(scenes: Sequence[str], is_one_enough: bool) -> dict[str, Sequence[str]]:
    """Return the themes that each scene is drawn in; it begins with the last one of the scene before."""
    if is_one_enough:
        half = len(scenes) // 2
        return {scene: THEMES[:1] if number < half else THEMES[1:] for number, scene in enumerate(scenes)}
    return {scene: THEMES[:: -1 if number % 2 else 1] for number, scene in enumerate(scenes)}


def draw(folder: Path, names: tuple[str, ...], is_one_theme_enough: bool, is_whole: bool) -> None:
    """Draw scenes into a folder with one for each theme, a picture each, with its name."""
    from PySide6.QtGui import QFont, QFontInfo
    from PySide6.QtWidgets import QApplication

    from refbrowser.app.shell.launch import STYLE

    application = QApplication(["refbrowser", *STYLE])
    application.setFont(QFont(FONT, 9))
    if QFontInfo(application.font()).family() != FONT:
        sys.stderr.write(f"the font {FONT} is not installed\n")
        raise SystemExit(NO_FONT)
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import awkward_scenes  # noqa: F401
    import nested_scenes  # noqa: F401
    import stream_scenes  # noqa: F401
    from scenes import PATIENT, SCENES, Stage
    from window_reset import SharedWindow

    from refbrowser.app.widgets import theme
    from refbrowser.app.widgets.focus_ring import ring_focus

    application.setCursorFlashTime(0)
    ring_focus(application)
    for each in THEMES:
        (folder / each).mkdir(parents=True, exist_ok=True)
    sizes: dict[str, tuple[int, int]] = {}
    in_force = THEMES[0]
    theme.choose(application, in_force)
    settings = Path(os.environ["HOME"]) / "settings"
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(settings))
    shared = SharedWindow(PATIENT)
    for name, themes in themes_of(names or tuple(SCENES), is_one_theme_enough).items():
        if in_force != themes[0]:
            in_force = themes[0]
            theme.choose(application, in_force)
        # Paths are seen in the pictures.
        files = Path(tempfile.gettempdir()) / f"refbrowser-pictures-{os.environ['QT_SCALE_FACTOR']}"
        # A process that was killed left its own.
        shutil.rmtree(files, ignore_errors=True)
        stage = Stage(files, shared)
        drawn = SCENES[name](stage) or stage.window
        QApplication.processEvents()
        save(drawn, folder / in_force / f"{name}.png", is_whole)
        for in_force in themes[1:]:
            theme.choose(application, in_force)
            stage.follow()
            save(drawn, folder / in_force / f"{name}.png", is_whole)
        # Only its layout is asked for, no picture.
        drawn.setUpdatesEnabled(False)
        drawn.resize(*SMALL)
        QApplication.processEvents()
        sizes[name] = (drawn.width(), drawn.height())
        stage.close()
        stage.window.setUpdatesEnabled(True)
        shutil.rmtree(files)
    (folder / SIZES).write_text(json.dumps(sizes))


def renew() -> None:
    """Make the expected pictures anew, and those of the README from some of them."""
    for scale, scenes in SETS.items():
        with tempfile.TemporaryDirectory() as files:
            subprocess.run(
                [sys.executable, __file__, files, *scenes, "--scale", str(scale), "--whole"], check=True
            )
            for each in THEMES:
                shutil.rmtree(kept_in(each, scale), ignore_errors=True)
                kept_in(each, scale).mkdir(parents=True)
                for path in (Path(files) / each).glob("*.png"):
                    expected_size(QImage(str(path))).save(str(kept_in(each, scale) / path.name))
            if scale == 1:
                for shown, (of_theme, scene) in SHOWN.items():
                    shutil.copyfile(Path(files) / of_theme / f"{scene}.png", README / shown)


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--scale", default="1")
    parser.add_argument("--one-theme", action="store_true")
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args()
    if arguments.renew:
        renew()
        return
    if arguments.folder is None:
        parser.error("name a folder to draw into")
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": arguments.scale, "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryDirectory() as home:
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"):
            os.environ[name] = home
        draw(arguments.folder, tuple(arguments.scenes), arguments.one_theme, arguments.whole)


if __name__ == "__main__":
    main()
