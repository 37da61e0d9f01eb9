"""The version is said in one place, and all that tells it reads it there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from refbrowser.version import __version__

CHECKOUT = Path(__file__).resolve().parent.parent
#: What may name a version: histories, and versions of others.
OTHERS = re.compile(r"CHANGELOG\.md|changes/.*|tests/.*|resources/manual/.*|.*locked-.*|docs/.*")


def test_the_project_has_the_version_of_the_package() -> None:
    pyproject = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in pyproject["project"]
    assert pyproject["project"]["dynamic"] == ["version"]
    assert pyproject["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "refbrowser.version.__version__"}


def test_no_other_file_says_it() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    said = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])")
    folders = ("refbrowser", "packaging", ".github", ".ci")
    files = [path for name in folders for path in (CHECKOUT / name).rglob("*") if path.is_file()]
    files += [path for path in CHECKOUT.iterdir() if path.is_file()]
    named = set()
    for path in files:
        name = path.relative_to(CHECKOUT).as_posix()
        if path.suffix in (".pyc", ".svg", ".desc") or OTHERS.fullmatch(name):
            continue
        if said.search(path.read_text("utf-8")):
            named.add(name)
    assert named == {"refbrowser/version.py"}
