"""About the program: what it is, and the versions that a report of a fault needs."""

from __future__ import annotations

import platform
import re
import sys

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from refbrowser import __version__
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label, push_button
from refbrowser.bundled import resource

#: Extras whose packages are for those who work on the program.
_NOT_OURS = ("test", "benchmark")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_ICON = 56


def packages() -> list[str]:
    """Return the packages that the program uses, those of its extras too, as its own metadata names them."""
    from importlib.metadata import requires

    found: dict[str, None] = {}
    for requirement in requires("refbrowser") or ():
        name, extra = _NAME.match(requirement), _EXTRA.search(requirement)
        if name is not None and name[0] != "refbrowser" and (extra is None or extra[1] not in _NOT_OURS):
            found.setdefault(name[0])
    return list(found)


def versions() -> str:
    """Return the versions of the program, of what it stands on, and of the system; a line each."""
    from importlib.metadata import PackageNotFoundError, version

    lines = [
        f"refbrowser {__version__}",
        f"Python {sys.version.split()[0]}",
        f"Qt {qVersion()}, PySide {pyside_version}, {QGuiApplication.platformName()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
    ]
    for name in packages():
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} is not installed")
    return "\n".join(lines)


class AboutDialog(QDialog):
    """Name, one sentence, and the versions with a button that copies them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("aboutDialog")
        self.setWindowTitle("About refbrowser")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._text = versions()
        icon = QLabel()
        icon.setPixmap(QIcon(str(resource("refbrowser.svg"))).pixmap(_ICON, _ICON))
        name = plain_label(f"refbrowser {__version__}", wrap=False)
        name.setFont(theme.heading_font(6))
        words = plain_label(
            "Opens, shows, repairs and exports datasets described by references.", role="muted"
        )
        head, names = QHBoxLayout(), QVBoxLayout()
        names.addWidget(name)
        names.addWidget(words)
        head.setSpacing(theme.LARGE)
        head.addWidget(icon)
        head.addLayout(names, 1)
        lines = QPlainTextEdit(self._text)
        lines.setObjectName("aboutVersions")
        lines.setAccessibleName("Versions")
        lines.setReadOnly(True)
        lines.setTabChangesFocus(True)
        lines.setFont(theme.mono_font())
        buttons = QHBoxLayout()
        buttons.addWidget(push_button("Copy", "aboutCopyButton", self._copy))
        buttons.addStretch(1)
        close = push_button("Close", "aboutCloseButton", self.close)
        close.setDefault(True)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addLayout(head)
        layout.addWidget(plain_label("Versions, for a bug report", role="paneTitle", wrap=False))
        layout.addWidget(lines, 1)
        layout.addLayout(buttons)
        self.resize(460, 480)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
