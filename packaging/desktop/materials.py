"""Write what is bundled: a bill of materials (CycloneDX, `bom.json`) and all licences (`licences.txt`).

``python packaging/desktop/materials.py SITE-PACKAGES OUT`` reads what installed packages say of themselves.
Libraries that were taken from the machine are named with the package of the distribution that brought them,
where dpkg knows it.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

SPEC_VERSION = "1.5"
HERE = Path(__file__).resolve().parent
#: What is known of packages that do not say their licence: the table that the project keeps.
TABLE = HERE.parents[1] / "LICENSES.md"
#: Texts of licences that packages name, and that must come with them though they do not bring them.
OWED = {"LGPL-3.0": ("LGPL-3.0.txt", "GPL-3.0.txt")}
#: What packages call the files that hold their licence.
_LICENCE_FILE = re.compile(
    r"(licen[cs]e|copying|notice|copyright|authors)([-._].*|s|s[/\\].*)?", re.IGNORECASE
)
#: Licences of packages that say theirs in an old way, or as a whole text.
_CLASSIFIED = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
}


@dataclass(frozen=True)
class Material:
    """One thing that is bundled."""

    name: str
    version: str
    purl: str
    licence: str
    #: What its licence files are called, and their texts.
    texts: list[tuple[str, str]] = field(default_factory=list)

    def component(self) -> dict[str, Any]:
        """Return it as CycloneDX has components."""
        found: dict[str, Any] = {
            "type": "library",
            "bom-ref": self.purl,
            "name": self.name,
            "version": self.version,
            "purl": self.purl,
        }
        if self.licence:
            found["licenses"] = [licence_choice(self.licence)]
        return found


def licence_choice(licence: str) -> dict[str, Any]:
    """Return a licence as CycloneDX has it: an expression of SPDX, or a name."""
    word = r"\(*[A-Za-z0-9.+-]+\)*"
    if re.fullmatch(rf"{word}( (AND|OR|WITH) {word})*", licence):
        return {"expression": licence}
    return {"license": {"name": licence}}


def licence_of(distribution: Distribution) -> str:
    """Return the licence that a package says it has, in as few words as it does."""
    said = distribution.metadata
    if expression := said.get("License-Expression"):
        return expression
    classes = [
        each.rpartition(" :: ")[2]
        for each in said.get_all("Classifier") or ()
        if each.startswith("License ::")
    ]
    known = [_CLASSIFIED[each] for each in classes if each in _CLASSIFIED]
    if known:
        return " AND ".join(dict.fromkeys(known))
    named = (said.get("License") or "").strip()
    named = named if "\n" not in named else ""
    table = re.findall(r"^\| ([a-z0-9-]+) \| ([^|;]+?)[ ;|]", TABLE.read_text("utf-8"), re.MULTILINE)
    name = re.sub(r"[-_.]+", "-", said["Name"]).lower()
    return _CLASSIFIED.get(named, named) or dict(table).get(name) or (classes or [""])[0]


def packages(folder: Path) -> Iterator[Material]:
    """Yield the packages that are installed in a folder, with the texts of their licences."""
    found = sorted(distributions(path=[str(folder)]), key=lambda each: each.metadata["Name"].lower())
    for distribution in found:
        name, version = distribution.metadata["Name"], distribution.version
        texts = []
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            inner = file.as_posix().partition(".dist-info/")[2].removeprefix("licenses/")
            if (
                _LICENCE_FILE.fullmatch(file.name) or (inner and _LICENCE_FILE.fullmatch(inner))
            ) and path.is_file():
                texts.append((file.as_posix(), path.read_text("utf-8", errors="replace")))
        licence = licence_of(distribution)
        if not texts:
            owed = [file for name_, files in OWED.items() if name_ in licence for file in files]
            texts = [(file, (HERE / "licences" / file).read_text("utf-8")) for file in owed]
        purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
        yield Material(name, version, purl, licence, texts)


def python_itself(library: Path, version: str) -> Material:
    """Return the Python that is bundled."""
    text = next(
        (each for each in (library / "LICENSE.txt", library.parent / "LICENSE.txt") if each.is_file()), None
    )
    texts = [] if text is None else [("LICENSE.txt", text.read_text("utf-8"))]
    return Material("Python", version, f"pkg:generic/cpython@{version}", "PSF-2.0", texts)


@functools.cache
def _debian_package(name: str) -> tuple[str, str] | None:
    """Return the package that has a library, and its version."""
    if shutil.which("dpkg-query") is None:
        return None
    owner = subprocess.run(
        ["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True, check=False
    )
    if owner.returncode:
        return None
    package = owner.stdout.split(": ")[0].splitlines()[0].split(",")[0]
    command = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    return package.partition(":")[0], subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout


def system_libraries(folder: Path) -> Iterator[Material]:
    """Yield what was taken from the machine into the folder of libraries, a package once."""
    seen = set()
    for library in sorted(folder.glob("*.so*")):
        if library.name.startswith("libpython"):
            continue
        found = _debian_package(library.name)
        name, version = found or (library.name, "unknown")
        if name in seen:
            continue
        seen.add(name)
        purl = f"pkg:deb/debian/{name}@{version}" if found else f"pkg:generic/{name}"
        text = Path("/usr/share/doc") / name / "copyright"
        texts = [("copyright", text.read_text("utf-8", errors="replace"))] if found and text.is_file() else []
        yield Material(name, version, purl, "", texts)


def bill(materials: list[Material], version: str) -> dict[str, Any]:
    """Return the bill of materials of a version of the program."""
    components = [each.component() for each in materials]
    # The same materials have the same serial number: releases can be made again to the byte.
    digest = hashlib.sha256(json.dumps(components, sort_keys=True).encode()).digest()
    main = Material("refbrowser", version, f"pkg:pypi/refbrowser@{version}", "BSD-3-Clause")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}",
        "version": 1,
        "metadata": {"component": {**main.component(), "type": "application"}},
        "components": components,
        "dependencies": [{"ref": main.purl, "dependsOn": [each.purl for each in materials]}],
    }


def licences(materials: list[Material]) -> str:
    """Return the licences of all, one after the other."""
    line = "=" * 78
    parts = ["What is bundled with refbrowser, and the licences of each.\n"]
    for each in materials:
        parts.append(f"{line}\n{each.name} {each.version}\n{each.licence or 'see below'}\n{line}\n")
        parts += [f"--- {name}\n\n{text.rstrip()}\n" for name, text in each.texts]
        if not each.texts:
            parts.append("(It comes without a text of its licence.)\n")
    return "\n".join(parts)


def write(site_packages: Path, out: Path, libraries: Path | None = None, python: str = "") -> None:
    """Write the bill and the licences of what is installed in a folder.

    Parameters
    ----------
    site_packages
        Where packages are installed.
    out
        Where `bom.json` and `licences.txt` are written.
    libraries
        A folder of libraries that were taken from the machine.
    python
        Version of the Python that is bundled, if one is.
    """
    found = list(packages(site_packages))
    (own,) = (each for each in found if each.name == "refbrowser")
    found.remove(own)
    if python:
        found.append(python_itself(site_packages.parent, python))
    if libraries is not None:
        found += system_libraries(libraries)
    text = json.dumps(bill(found, own.version), indent=1, ensure_ascii=False)
    (out / "bom.json").write_text(f"{text}\n", "utf-8")
    (out / "licences.txt").write_text(licences(found), "utf-8")


def main(arguments: list[str]) -> int:
    """Write what the arguments ask for; return the exit code."""
    parser = argparse.ArgumentParser(
        description="Write the bill of materials and the licences of what is bundled."
    )
    parser.add_argument("site_packages", type=Path, metavar="SITE-PACKAGES")
    parser.add_argument("out", type=Path, metavar="OUT")
    asked = parser.parse_args(arguments)
    write(asked.site_packages, asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
