"""The page for those who work on the program names files and names that are there."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = (CHECKOUT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:refbrowser|tests|packaging)/[\w/.]+)`", PAGE))
    assert len(named) > 20
    assert not [path for path in sorted(named) if not (CHECKOUT / path).exists()]


def test_the_picture_shows_every_layer() -> None:
    picture = PAGE.split("```")[1]
    there = {
        path.stem
        for path in (CHECKOUT / "refbrowser").iterdir()
        if path.name[0] not in "._" and path.is_dir()
    }
    shown = set(re.findall(r"^(\w+)/", picture, re.MULTILINE))
    assert shown == there


def test_every_class_that_is_named_is_there() -> None:
    named = set(re.findall(r"`([A-Z][A-Za-z]+)`", PAGE))
    texts = "\n".join(path.read_text("utf-8") for path in (CHECKOUT / "refbrowser").rglob("*.py"))
    assert named
    assert not [name for name in sorted(named) if f"class {name}" not in texts]
