"""Pages for those who work on the program: the paths that they name."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def named_paths(page: str) -> set[str]:
    """Return the files and folders of the repository that a page names."""
    return set(re.findall(r"`((?:refbrowser|tests|packaging|resources|docs)/[\w/.-]+)`", page))


def missing(page: str) -> list[str]:
    """Return those of them that are not there."""
    return [path for path in sorted(named_paths(page)) if not (CHECKOUT / path).exists()]
