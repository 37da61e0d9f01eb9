"""The page for those who work on the program names files and names that are there."""

from __future__ import annotations

import re

from pages import CHECKOUT, missing, named_paths

PAGE = (CHECKOUT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_file_that_is_named_is_there() -> None:
    assert len(named_paths(PAGE)) > 20
    assert not missing(PAGE)


def test_the_picture_shows_every_layer() -> None:
    picture = PAGE.split("```")[1]
    there = {
        path.stem
        for path in (CHECKOUT / "refbrowser").iterdir()
        if path.name[0] not in "._" and path.is_dir()
    }
    shown = set(re.findall(r"^(\w+)/", picture, re.MULTILINE))
    assert shown == there


def test_every_class_and_constant_that_is_named_is_there() -> None:
    texts = "\n".join(path.read_text("utf-8") for path in (CHECKOUT / "refbrowser").rglob("*.py"))
    classes = set(re.findall(r"`([A-Z][A-Za-z]*[a-z])`", PAGE))
    constants = set(re.findall(r"`([A-Z]{2,})`", PAGE))
    assert classes
    assert not [name for name in sorted(classes) if f"class {name}" not in texts]
    assert not [
        name for name in sorted(constants) if not re.search(rf"^{name}(: .+)? = ", texts, re.MULTILINE)
    ]
