"""Print what the core takes where it is installed, and what each extra adds.

Run as ``python packaging/sizes.py``. Sizes are those that packages tell of their files, in the environment
that runs this; a package that is not installed there is named. What Python compiles of them comes on top.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "refbrowser"
#: Extras that users do not install.
_OURS = ("site", "test", "benchmark")


def extras() -> dict[str, list[str]]:
    """Return what the project requires: under an empty name what it always does, then by extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def closure(required: Iterable[str]) -> dict[str, Distribution | None]:
    """Return the packages that requirements lead to, by name; None for one that is not installed here."""
    found: dict[str, Distribution | None] = {}
    known: set[tuple[str, str]] = set()
    pending = [(Requirement(text), "") for text in required]
    while pending:
        requirement, of_extra = pending.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": of_extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name == PROJECT:
            pending += [(Requirement(text), "") for each in requirement.extras for text in extras()[each]]
            continue
        for extra in {"", *requirement.extras}:
            if (name, extra) in known:
                continue
            known.add((name, extra))
            try:
                found[name] = distribution(name)
            except PackageNotFoundError:
                found[name] = None
                continue
            pending += [(Requirement(text), extra) for text in found[name].requires or []]
    return found


def size(package: Distribution) -> int:
    """Return the bytes of the files of a package, as its record tells them."""
    files = package.files or []
    return sum(file.size or 0 for file in files if not file.name.endswith(".pyc"))


def own_size() -> int:
    """Return the bytes of the files of the project in this checkout that are installed."""
    resources = [path for path in (ROOT / "resources").rglob("*") if path.parent.name != "pictures"]
    package = [path for path in (ROOT / PROJECT).rglob("*") if path.suffix != ".pyc"]
    return sum(path.stat().st_size for path in (*package, *resources) if path.is_file())


def _line(name: str, packages: dict[str, Distribution | None], more: int = 0) -> str:
    there = {each: size(package) for each, package in packages.items() if package is not None}
    largest = sorted(there, key=there.__getitem__, reverse=True)
    words = [f"{each} {there[each] / 1e6:.1f}" for each in largest if there[each] >= 1e5]
    absent = sorted(each for each, package in packages.items() if package is None)
    note = f"; not installed here: {', '.join(absent)}" if absent else ""
    return f"{name:13}{(sum(there.values()) + more) / 1e6:8.1f} MB  {', '.join(words)}{note}"


def main() -> None:
    """Print a line for the core, and one for each extra: what it adds to that."""
    listed = extras()
    core = closure(listed[""])
    own = own_size()
    sys.stdout.write(f"{_line('core', core, own)}, {PROJECT} {own / 1e6:.1f}\n")
    for extra in (each for each in listed if each and each not in _OURS):
        added = {name: each for name, each in closure(listed[extra]).items() if name not in core}
        sys.stdout.write(f"{_line(f'+ {extra}', added)}\n")


if __name__ == "__main__":
    main()
