"""Move the fragments in `changes/` into CHANGELOG.md.

``python packaging/changes.py`` puts them into its section *Unreleased*. With a version, ``1.2.3``, that
section is named after it and dated. With ``--check`` nothing is written: each fragment must have a known
kind and a text.

A fragment is one change in a file `KIND-NAME.md`; its text becomes an item below the heading of its kind.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
KINDS = ("added", "changed", "fixed")
UNRELEASED = "Unreleased"


def faults(fragments: list[Path]) -> list[str]:
    """Return what is wrong with fragments, a line each."""
    found = []
    for path in fragments:
        if not re.fullmatch(rf"({'|'.join(KINDS)})-[\w-]+\.md", path.name):
            found.append(
                f"{path.name}: the name should be KIND-NAME.md, and the kind one of {', '.join(KINDS)}"
            )
        text = path.read_text("utf-8").strip()
        if not text or re.match(r"[-*#]+ ", text):
            found.append(
                f"{path.name}: should hold one change as plain sentences, without a heading or bullet"
            )
    return found


def assemble(changelog: str, fragments: list[Path], title: str = UNRELEASED) -> str:
    """Return the text of the changelog with fragments in its unreleased section, which gets this title."""
    top, *sections = re.split(r"^(?=## )", changelog, flags=re.M)
    old = sections.pop(0) if sections and sections[0].startswith(f"## {UNRELEASED}\n") else ""
    lists = dict.fromkeys(KINDS, "")
    for part in re.split(r"^### ", old, flags=re.M)[1:]:
        heading, _, items = part.partition("\n")
        lists[heading.lower()] = items.strip() + "\n"
    for path in fragments:
        item = path.read_text("utf-8").strip().replace("\n", "\n  ")
        lists[path.name.partition("-")[0]] += f"- {item}\n"
    parts = [
        f"### {kind.capitalize()}\n\n{items.lstrip()}\n" for kind, items in lists.items() if items.strip()
    ]
    return "".join((top, f"## {title}\n\n", *parts, *sections))


def main(arguments: list[str], checkout: Path = CHECKOUT) -> int:
    """Check or move the fragments of a checkout; return the exit code."""
    parser = argparse.ArgumentParser(description="Move the fragments in changes/ into CHANGELOG.md.")
    parser.add_argument("version", nargs="?", help="the version that is released; without it: Unreleased")
    parser.add_argument("--check", action="store_true", help="only check the fragments")
    asked = parser.parse_args(arguments)
    fragments = sorted((checkout / "changes").glob("[!.]*"))
    if found := faults(fragments):
        sys.stderr.write("\n".join(found) + "\n")
        return 1
    if not asked.check and (fragments or asked.version):
        page = checkout / "CHANGELOG.md"
        title = f"{asked.version} ({datetime.date.today()})" if asked.version else UNRELEASED
        page.write_text(assemble(page.read_text("utf-8"), fragments, title), "utf-8")
        for path in fragments:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
