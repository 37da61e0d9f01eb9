"""Advice for what is not installed: packages, and libraries of the system that Qt needs."""

from __future__ import annotations

import re

from refbrowser.errors import ErrorKind, NotInstalledError
from refbrowser.loading import not_installed as of_package

#: A library that the loader of the system did not find.
_LIBRARY = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")
#: What Qt needs of the system, on the distributions that most have.
_OF_QT = (
    "on Debian and Ubuntu: apt-get install libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 "
    "libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0; on Fedora: "
    "dnf install mesa-libEGL mesa-libGL glib2 dbus-libs fontconfig libxkbcommon-x11 xcb-util-cursor "
    "xcb-util-wm xcb-util-keysyms; all other verbs work without a window"
)
_WINDOW = ("PySide6", "shiboken6", "pyqtgraph")


def not_installed(error: ImportError) -> NotInstalledError | None:
    """Return what to install where a package or library is missing; None where it is a fault of ours."""
    library = _LIBRARY.search(str(error))
    if library is not None:
        message = f"the system library {library[1]} is not installed"
        is_of_window = any(name in str(error) or name in (error.path or "") for name in _WINDOW)
        advice = _OF_QT if is_of_window else "install it with the package manager of your system"
        return NotInstalledError(ErrorKind.USAGE, message, advice=advice)
    return of_package(error) if isinstance(error, ModuleNotFoundError) else None
