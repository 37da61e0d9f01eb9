"""A release is made of what is committed and told to users, and says what is in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from git_checkout import git

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "packaging" / "desktop"))
try:
    import bundle
    import materials
finally:
    sys.path.pop(0)


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """A checkout of which release 0.2.0 could be made, whose builds only say that they were asked for."""
    folder = tmp_path / "checkout"
    for name in ("packaging/desktop", "refbrowser", "changes"):
        (folder / name).mkdir(parents=True)
    shutil.copy(CHECKOUT / "packaging" / "release.sh", folder / "packaging")
    (folder / "changes" / ".keep").touch()
    (folder / "refbrowser" / "version.py").write_text('__version__ = "0.2.0"\n')
    (folder / "CHANGELOG.md").write_text("# Changes\n\n## 0.2.0 (2026-01-02)\n\n## 0.1.0\n")
    wheel = """
import pathlib, sys
(pathlib.Path(sys.argv[2]) / "refbrowser-0.2.0-py3-none-any.whl").touch()
"""
    (folder / "packaging" / "build.py").write_text(wheel)
    made = """
import pathlib, sys
made = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]) / "refbrowser-0.2.0-system-machine"
made.mkdir()
for name in ("bom.json", "licences.txt"):
    (made / name).write_text(name)
"""
    (folder / "packaging" / "desktop" / "bundle.py").write_text(made)
    (folder / "packaging" / "desktop" / "appimage.sh").write_text("exit 1\n")
    (folder / "packaging" / "desktop" / "deb.sh").write_text('touch "$2/refbrowser_0.2.0_amd64.deb"\n')
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "ready")
    return folder


def release(checkout: Path, out: Path, version: str = "0.2.0") -> subprocess.CompletedProcess[str]:
    command = ["sh", str(checkout / "packaging" / "release.sh"), version, str(out)]
    environment = {**os.environ, "PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("git") is None, reason="a shell script that asks git"
)


@pytest.mark.slow
def test_a_release_has_everything_with_its_sums(ready: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = release(ready, out)
    assert done.returncode == 0, done.stderr
    name = "refbrowser-0.2.0-system-machine"
    packed = f"{name}.tar.zst" if shutil.which("zstd") else f"{name}.tar.gz"
    wanted = {packed, f"{name}.bom.json", f"{name}.licences.txt", "refbrowser-0.2.0-py3-none-any.whl"}
    if shutil.which("dpkg-deb"):
        wanted.add("refbrowser_0.2.0_amd64.deb")
    sums = (out / "SHA256SUMS").read_text().splitlines()
    assert {line.split()[1] for line in sums} == wanted
    assert {path.name for path in out.iterdir()} == {*wanted, "SHA256SUMS"}
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True, timeout=60)
    assert "not made on this machine: AppImage" in done.stderr
    again = release(ready, out)
    assert again.returncode == 1
    assert "a release is made once" in again.stderr


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("refbrowser/version.py", '__version__ = "0.1.0"\n', "refbrowser/version.py says 0.1.0"),
        ("changes/fixed-a.md", "A fault.\n", "1 fragments are not in the changelog"),
        ("CHANGELOG.md", "# Changes\n\n## Unreleased\n", "no section 0.2.0 with a date"),
    ],
)
@pytest.mark.slow
def test_what_is_not_ready_is_not_released(
    ready: Path, tmp_path: Path, file: str, text: str, said: str
) -> None:
    (ready / file).write_text(text)
    done = release(ready, tmp_path / "out")
    assert done.returncode == 1
    assert "changes that are not committed" in done.stderr
    git(ready, "add", ".")
    git(ready, "commit", "--quiet", "-m", "not ready")
    done = release(ready, tmp_path / "out")
    assert done.returncode == 1
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def installed(folder: Path, name: str, version: str, metadata: str, **texts: str) -> None:
    """Lay down what pip would of a package."""
    info = folder / f"{name}-{version}.dist-info"
    (info / "licenses").mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}\n")
    for file, text in texts.items():
        (info / "licenses" / file).write_text(text)
    files = [path.relative_to(folder).as_posix() for path in info.rglob("*") if path.is_file()]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    installed(folder, "refbrowser", "0.2.0", "License-Expression: BSD-3-Clause")
    installed(
        folder, "Some.Thing", "1.0", "License-Expression: MIT OR Apache-2.0", LICENSE="MIT, with words\n"
    )
    installed(folder, "older", "2.1", "Classifier: License :: OSI Approved :: Apache Software License")
    installed(folder, "oldest", "3", "License: As you like")
    return folder


def test_what_a_package_does_not_say_is_known_or_added(packages: Path) -> None:
    installed(packages, "icechunk", "1", "Summary: without a licence")
    installed(packages, "pyhdf", "1", "License: MIT License")
    installed(packages, "shiboken6", "6", "License-Expression: LGPL-3.0-only OR GPL-3.0-only")
    found = {each.name: each for each in materials.packages(packages)}
    assert (found["icechunk"].licence, found["pyhdf"].licence) == ("Apache-2.0", "MIT")
    # Whoever passes it on must pass on its licence as well.
    titles = [text.strip().partition("\n")[0] for _, text in found["shiboken6"].texts]
    assert titles == ["GNU LESSER GENERAL PUBLIC LICENSE", "GNU GENERAL PUBLIC LICENSE"]


def test_the_bill_names_everything_with_its_licence(packages: Path, tmp_path: Path) -> None:
    materials.write(packages, tmp_path, python="3.13.0")
    bill = json.loads((tmp_path / "bom.json").read_text("utf-8"))
    found = {each["purl"]: each["licenses"] for each in bill["components"]}
    assert found == {
        "pkg:pypi/some-thing@1.0": [{"expression": "MIT OR Apache-2.0"}],
        "pkg:pypi/older@2.1": [{"expression": "Apache-2.0"}],
        "pkg:pypi/oldest@3": [{"license": {"name": "As you like"}}],
        "pkg:generic/cpython@3.13.0": [{"expression": "PSF-2.0"}],
    }
    assert bill["metadata"]["component"]["version"] == "0.2.0"
    (depends,) = bill["dependencies"]
    assert sorted(depends["dependsOn"]) == sorted(found)
    text = (tmp_path / "licences.txt").read_text("utf-8")
    assert "MIT, with words" in text
    assert "older 2.1\nApache-2.0" in text
    # The same materials give the same bill.
    first = (tmp_path / "bom.json").read_bytes()
    materials.write(packages, tmp_path, python="3.13.0")
    assert (tmp_path / "bom.json").read_bytes() == first


@pytest.mark.slow
def test_the_bill_is_valid(packages: Path, tmp_path: Path) -> None:
    validation = pytest.importorskip("cyclonedx.validation.json")
    schema = pytest.importorskip("cyclonedx.schema")
    materials.write(packages, tmp_path, python="3.13.0")
    validator = validation.JsonStrictValidator(schema.SchemaVersion.V1_5)
    assert validator.validate_str((tmp_path / "bom.json").read_text("utf-8")) is None


def test_the_citation_names_no_version_of_its_own() -> None:
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == "BSD-3-Clause"
    assert not {"version", "date-released", "doi"} & citation.keys()


def test_a_folder_can_do_all_that_needs_no_program_around_it() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    # What is left out is for programs that import the package, and for those who work on it.
    others = {"all", "benchmark", "dask", "site", "test", "virtualizarr", "xarray"}
    # The program that writes films has another licence, and is larger than all of ours.
    others |= {"films"}
    assert set(bundle.EXTRAS) == project["optional-dependencies"].keys() - others


def test_libraries_of_the_system_stay_there() -> None:
    for name in ("libc.so.6", "libX11.so.6", "libxcb.so.1", "libGL.so.1", "libgtk-3.so.0", "libstdc++.so.6"):
        assert bundle.SYSTEM_LIBRARIES.fullmatch(name), name
    for name in (
        "libxcb-cursor.so.0",
        "libxkbcommon-x11.so.0",
        "libssl.so.3",
        "libffi.so.8",
        "libcrypto.so.3",
    ):
        assert not bundle.SYSTEM_LIBRARIES.fullmatch(name), name


def test_the_modules_of_qt_that_are_used_are_kept() -> None:
    used = set()
    for path in (CHECKOUT / "refbrowser").rglob("*.py"):
        used |= set(re.findall(r"^\s*from PySide6\.Qt(\w+) import", path.read_text("utf-8"), re.MULTILINE))
    assert {"Core", "Gui", "Widgets"} <= used <= set(bundle.QT)
