"""Offer to add the program to this desktop, where it was started from its folder or as an AppImage.

What was installed is in the menu already. The folder has a script that adds it for this user, and takes it
out again; nothing is written before it is asked for.
"""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QProcess
from PySide6.QtWidgets import QPushButton, QWidget

from refbrowser.app.widgets import theme
from refbrowser.views.words import one_line

#: Set by what starts the program from its folder.
VARIABLE = "REFBROWSER_BUNDLE"
OFFER = "Add refbrowser to the menu and to “Open with”"
DONE = "refbrowser is in the menu and in “Open with” now"
FAILED = "refbrowser could not be added to the menu"
_SCRIPT = "add-to-desktop"


def offered() -> Path | None:
    """Return the script that adds the program to the desktop; None where there is none, or nothing to add."""
    folder = os.environ.get(VARIABLE, "")
    script = Path(folder, _SCRIPT)
    if not folder or not script.is_file() or not Path(folder, "share", "applications").is_dir():
        return None
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    try:
        entry = Path(data, "applications", "refbrowser.desktop").read_text("utf-8", errors="replace")
    except OSError:
        return script
    started = os.environ.get("APPIMAGE") or os.path.join(folder, "refbrowser")
    # One of a folder that was moved or replaced leads nowhere.
    return None if started in entry.replace("\\", "").replace("%%", "%") else script


class DesktopOffer(QPushButton):
    """A line that does it when it is pressed, and says what became of it."""

    def __init__(self, script: Path, parent: QWidget | None = None) -> None:
        super().__init__(OFFER, parent)
        self.setObjectName("startDesktopButton")
        self.setAccessibleName(OFFER)
        self.setFlat(True)
        self.setAutoDefault(False)
        self.setToolTip(
            theme.plain_tooltip("Writes below ~/.local/share; add-to-desktop --remove takes it out")
        )
        self._process = QProcess(self)
        self._process.setProgram(str(script))
        self._process.finished.connect(self._tell)
        self._process.errorOccurred.connect(lambda _error: self._tell(1))
        self.clicked.connect(self._begin)

    def _begin(self) -> None:
        self.setEnabled(False)
        self._process.start()

    def _tell(self, code: int) -> None:
        said = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
        self.setText(DONE if code == 0 else FAILED)
        self.setAccessibleName(self.text())
        self.setToolTip(theme.plain_tooltip(one_line(said)))
