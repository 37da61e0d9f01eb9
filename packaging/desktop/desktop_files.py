"""Write what a desktop needs to know the program: entries, types of files, icons, what shops show.

``python packaging/desktop/desktop_files.py FOLDER [--exec COMMAND]`` fills a folder `share` of a package,
also with pages for man and what lets shells complete commands, which the program that this Python has prints.
Icons are drawn from `resources/refbrowser.svg` by Qt, so PySide6 must be there. Releases in the metainfo are
those of CHANGELOG.md.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ICON_SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ENTRIES = ("refbrowser.desktop", "refbrowser-folder.desktop")
METAINFO = "refbrowser.metainfo.xml"
#: Where each shell looks for what completes commands.
COMPLETIONS = {
    "bash": "bash-completion/completions/refbrowser",
    "zsh": "zsh/site-functions/_refbrowser",
    "fish": "fish/vendor_completions.d/refbrowser.fish",
}


def releases() -> list[tuple[str, str]]:
    """Return the versions that CHANGELOG.md lists with their dates, the newest first."""
    text = (CHECKOUT / "CHANGELOG.md").read_text("utf-8")
    return re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", text, re.MULTILINE)


def metainfo() -> str:
    """Return the metainfo with the releases of the changelog."""
    builder = ElementTree.TreeBuilder(insert_comments=True)
    tree = ElementTree.parse(HERE / METAINFO, ElementTree.XMLParser(target=builder))
    listed = ElementTree.SubElement(tree.getroot(), "releases")
    for version, date in releases():
        ElementTree.SubElement(listed, "release", version=version, date=date)
    ElementTree.indent(tree)
    text = ElementTree.tostring(tree.getroot(), encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def draw_icons(share: Path) -> None:
    """Draw the icon in the sizes of the theme *hicolor*, and keep the drawing itself."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    drawing = CHECKOUT / "resources" / "refbrowser.svg"
    renderer = QSvgRenderer(str(drawing))
    for size in ICON_SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        path = share / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "refbrowser.png"
        path.parent.mkdir(parents=True)
        if not image.save(str(path)):
            raise OSError(f"the icon could not be written: {path}")
    scalable = share / "icons" / "hicolor" / "scalable" / "apps"
    scalable.mkdir(parents=True)
    shutil.copyfile(drawing, scalable / "refbrowser.svg")


def write(share: Path, command: str = "refbrowser") -> None:
    """Fill the folder `share`; entries start `command`."""
    for name in ENTRIES:
        path = share / "applications" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (HERE / name).read_text("utf-8")
        path.write_text(
            re.sub(r"^Exec=refbrowser\b", lambda _: f"Exec={command}", text, flags=re.MULTILINE), "utf-8"
        )
    types = share / "mime" / "packages" / "refbrowser.xml"
    types.parent.mkdir(parents=True)
    shutil.copyfile(HERE / "refbrowser.xml", types)
    shown = share / "metainfo" / METAINFO
    shown.parent.mkdir(parents=True)
    shown.write_text(metainfo(), "utf-8")
    draw_icons(share)


def write_for_terminals(share: Path) -> None:
    """Write pages for man, and what lets shells complete commands."""
    program = (sys.executable, "-B", "-P", "-m", "refbrowser")
    subprocess.run([*program, "man", "-q", "-o", share / "man" / "man1"], check=True)
    for shell, name in COMPLETIONS.items():
        path = share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*program, "completion", shell], check=True, capture_output=True)
        path.write_bytes(done.stdout)


def main(arguments: list[str]) -> int:
    """Fill the folder that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description="Write what a desktop needs to know the program.")
    parser.add_argument("share", type=Path, help="the folder `share` of a package")
    parser.add_argument("--exec", default="refbrowser", help="what entries start")
    asked = parser.parse_args(arguments)
    write(asked.share, asked.exec)
    write_for_terminals(asked.share)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
