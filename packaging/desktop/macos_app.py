"""Make an application for macOS of the folder: ``python packaging/desktop/macos_app.py FOLDER [OUT]``.

The types of files that it opens are those of `refbrowser.xml`. It is not signed: who has a certificate signs
the result (`codesign --deep`), others open it by *Open* of its context menu the first time.
"""

from __future__ import annotations

import argparse
import plistlib
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAME = "refbrowser"
_NAMESPACE = "{http://www.freedesktop.org/standards/shared-mime-info}"
_LAUNCHER = """\
#!/bin/sh
# Starts refbrowser with the Python inside.
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
exec "$here/Resources/refbrowser/refbrowser" "$@"
"""
#: Folders that are opened as one thing.
STORES = ("zarr", "icechunk", "parq")


def suffixes() -> list[str]:
    """Return the suffixes of files that are opened, without dots, and of folders that are stores."""
    types = ElementTree.parse(HERE / "refbrowser.xml").getroot()
    globs = [each.get("pattern", "") for each in types.iter(f"{_NAMESPACE}glob")]
    known = ("nc", "cdf", "h5", "hdf5", "hdf", "fits", "tif", "tiff")
    # The last word of packed ones is anybody's.
    own = (glob.rpartition(".")[2] for glob in globs if glob.count(".") == 1)
    return sorted({*own, *known, *STORES})


def information(version: str) -> dict[str, Any]:
    """Return what macOS is told of the program."""
    return {
        "CFBundleName": NAME,
        "CFBundleDisplayName": NAME,
        "CFBundleExecutable": NAME,
        "CFBundleIdentifier": NAME,
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "LSMinimumSystemVersion": "12.0",
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "Dataset",
                "CFBundleTypeRole": "Editor",
                # It never takes what another program opens.
                "LSHandlerRank": "Alternate",
                "CFBundleTypeExtensions": suffixes(),
            }
        ],
        "CFBundleURLTypes": [{"CFBundleURLName": NAME, "CFBundleURLSchemes": [NAME]}],
    }


def make(folder: Path, out: Path) -> Path:
    """Make the application of a folder; return where it is."""
    version = folder.name.split("-")[1]
    target = out / f"{NAME}.app"
    contents = target / "Contents"
    shutil.rmtree(target, ignore_errors=True)
    (contents / "MacOS").mkdir(parents=True)
    launcher = contents / "MacOS" / NAME
    launcher.write_text(_LAUNCHER, "utf-8")
    launcher.chmod(0o755)
    (contents / "Info.plist").write_bytes(plistlib.dumps(information(version)))
    shutil.copytree(folder, contents / "Resources" / NAME, symlinks=True)
    return target


def main(arguments: list[str]) -> int:
    """Make what the arguments ask for; return the exit code."""
    parser = argparse.ArgumentParser(description="Make an application for macOS of the folder.")
    parser.add_argument("folder", type=Path, help="what packaging/desktop/bundle.py has made")
    parser.add_argument("out", type=Path, nargs="?", help="where it is made; beside the folder")
    asked = parser.parse_args(arguments)
    sys.stdout.write(f"{make(asked.folder.resolve(), asked.out or asked.folder.resolve().parent)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
