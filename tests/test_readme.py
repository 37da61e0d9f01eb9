"""The README's tables of commands and shortcuts say what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from refbrowser.app.commands.menus import actions
from refbrowser.cli.program import VERBS

CHECKOUT = Path(__file__).resolve().parent.parent
README = (CHECKOUT / "README.md").read_text("utf-8")


def section(title: str) -> str:
    return README.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_command_is_listed_and_no_other() -> None:
    listed = set(re.findall(r"^\| `refbrowser ([a-z]+)", section("In a terminal"), re.M))
    assert listed == set(VERBS)


def test_every_shortcut_is_listed_and_no_other() -> None:
    listed = dict(re.findall(r"^\| (.+?) \| `(.+?)` \|$", section("Keys"), re.M))
    declared = {
        spec.title.replace("&", "").rstrip("…"): spec.shortcut or spec.plot_key
        for spec in actions()
        if spec.shortcut or spec.plot_key
    }
    assert listed == declared


def test_shortcuts_are_unique() -> None:
    shortcuts = [key for spec in actions() for key in (spec.shortcut, spec.plot_key) if key]
    assert len(shortcuts) == len(set(shortcuts))


def test_every_file_and_picture_named_is_there() -> None:
    named = re.findall(r"\]\(([^):]+)\)", README) + re.findall(
        r"(?:packaging|resources)/[\w./]+\.(?:sh|py|json)", README
    )
    assert not [name for name in named if not (CHECKOUT / name).is_file()]
