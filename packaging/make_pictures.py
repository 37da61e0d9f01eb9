"""Make the pictures of the README with the program itself: ``python packaging/make_pictures.py [FOLDER]``."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp()

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from refbrowser.app import theme
from refbrowser.app.main_window import MainWindow

CHECKOUT = Path(__file__).resolve().parent.parent
SAMPLE = CHECKOUT / "resources" / "sample" / "sea_surface.json"


def wait(holds: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds for a moment."""
    deadline = time.monotonic() + 30
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("the window did not get there")
        QTest.qWait(20)
    QTest.qWait(400)


def settled(window: MainWindow) -> bool:
    """Tell whether the plot is drawn and nothing runs."""
    plot = window.centre.plot
    return plot is not None and plot.is_settled() and not window.tasks.busy()


def type_over(window: MainWindow, name: str, text: str) -> None:
    """Type into a field as a user would, in place of what it holds."""
    field = window.findChild(QLineEdit, name) or window.findChild(QPlainTextEdit, name)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def main(folder: Path) -> None:
    """Draw the window in both themes, and a gen rule while it is edited."""
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    theme.follow_system(application)
    theme.apply(application, theme.LIGHT)
    window = MainWindow()
    window.resize(1440, 900)
    window.lay_out_anew()
    window.show()
    window.complete()
    document = window.open_path(str(SAMPLE), "/ocean/sst")
    wait(lambda: document.is_open and settled(window))
    window.grab().save(str(folder / "window.png"))

    item = window.hierarchy.model.find_identity((document.number, "rule", 0))
    window.hierarchy.select_index(item)
    type_over(window, "genOffsetField", "{{ 512 + y * 64800 + (m - 5) * 8 }}")
    wait(lambda: settled(window))
    theme.apply(application, theme.DARK)
    wait(lambda: settled(window))
    window.grab().save(str(folder / "rule.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "resources" / "pictures")
