"""Write what starts refbrowser on Windows: `refbrowser.exe` in terminals, `refbrowser-window.exe` elsewhere.

They are the launchers that pip brings for scripts, and start the Python that lies beside them. That Python
takes its modules from the folder alone, whatever is installed or said on the machine.
"""

from __future__ import annotations

import io
import platform
import zipfile
from importlib.resources import files
from pathlib import Path

_MAIN = """\
import sys

from refbrowser.cli import main

sys.exit(main())
"""
#: What each is made of, and the Python that it starts.
LAUNCHERS = {"refbrowser.exe": ("t64", "python.exe"), "refbrowser-window.exe": ("w64", "pythonw.exe")}
#: Where modules are, relative to the Python.
PLACES = ("Lib", "DLLs", r"Lib\site-packages")


def launcher(stub: bytes, python: str) -> bytes:
    """Return a program that starts a Python of its own folder with the command line."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        # A date of its own would make each one differ.
        archive.writestr(zipfile.ZipInfo("__main__.py"), _MAIN)
    return stub + f"#!<launcher_dir>\\{python}\r\n".encode() + packed.getvalue()


def write(folder: Path) -> None:
    """Write the launchers into the folder of a Python, and where that finds its modules."""
    stubs = files("pip._vendor.distlib")
    machine = "-arm" if platform.machine() == "ARM64" else ""
    for name, (stub, python) in LAUNCHERS.items():
        (folder / name).write_bytes(launcher(stubs.joinpath(f"{stub}{machine}.exe").read_bytes(), python))
    for library in folder.glob("python3?*.dll"):
        library.with_suffix("._pth").write_text("".join(f"{place}\n" for place in PLACES), "utf-8")
