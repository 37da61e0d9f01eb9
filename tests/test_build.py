"""What packaging/build.py makes: the same bytes of a commit everywhere, whole metadata, all files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from git_checkout import git
from packaging.metadata import Metadata

CHECKOUT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
#: What a small checkout has of this one.
PARTS = (
    *("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "LICENSES.md"),
    *("packaging/build.py", "packaging/locked-test.txt"),
    *(path for paths in PYPROJECT["tool"]["setuptools"]["data-files"].values() for path in paths),
    *("refbrowser/__init__.py", "refbrowser/py.typed", "refbrowser/version.py"),
    "resources/manual/index.md",
)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def built(checkout: Path, output: Path, umask: int = 0o022, **variables: str) -> list[Path]:
    """Return the sdist and the wheel of a checkout; skip where the setuptools for it is not to be had."""
    if checkout != CHECKOUT:
        (CHECKOUT / ".cache").mkdir(exist_ok=True)
        (checkout / ".cache").symlink_to(CHECKOUT / ".cache")
    done = subprocess.run(
        [sys.executable, str(checkout / "packaging" / "build.py"), "--output", str(output)],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        umask=umask,
        env={**os.environ, **variables},
        cwd=output.parent,
    )
    if "pip" in done.stderr and "CalledProcessError" in done.stderr:
        pytest.skip("the locked setuptools cannot be fetched")
    assert done.returncode == 0, done.stderr
    return sorted(map(Path, done.stdout.splitlines()))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with few modules, committed."""
    folder = tmp_path_factory.mktemp("small")
    for name in PARTS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, folder / name)
    (folder / "packaging" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "packaging" / "run.sh").chmod(0o755)
    (folder / ".gitignore").write_text("/.cache\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "all of it", "--date", "2026-01-02T03:04:05Z")
    return folder


@pytest.mark.slow
def test_a_commit_gives_the_same_bytes_everywhere(small: Path, tmp_path: Path) -> None:
    other = tmp_path / "another folder"
    git(tmp_path, "clone", "--quiet", str(small), str(other))
    # What is not committed does not go in.
    (other / "refbrowser" / "draft.py").write_text("0\n")
    one = built(small, tmp_path / "one", TZ="UTC")
    two = built(other, tmp_path / "two", umask=0o077, TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")
    assert [path.name for path in one] == [path.name for path in two]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    wheel, sdist = one
    time = int(git(small, "log", "-1", "--format=%ct"))
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert {(each.mtime, each.uid, each.uname) for each in members} == {(time, 0, "")}
    modes = {each.name.partition("/")[2]: each.mode for each in members if each.isfile()}
    assert (modes.pop("packaging/run.sh"), set(modes.values())) == (0o755, {0o644})
    with zipfile.ZipFile(wheel) as archive_:
        assert not [name for name in archive_.namelist() if name.startswith(("packaging/", "tests/"))]


@pytest.mark.slow
def test_its_metadata_is_complete(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    git(tmp_path, "clone", "--quiet", str(small), str(folder))
    wheel, _ = built(folder, tmp_path / "made")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("/METADATA"))
        metadata = Metadata.from_email(archive.read(name), validate=True)
        names = archive.namelist()
    assert metadata.license_expression == "BSD-3-Clause"
    assert metadata.license_files == PROJECT["license-files"]
    assert all(any(each.endswith(f"/licenses/{file}") for each in names) for file in PROJECT["license-files"])
    assert metadata.author == PROJECT["authors"][0]["name"]
    assert metadata.author.removeprefix("The ") in (CHECKOUT / "LICENSE").read_text("utf-8")
    assert metadata.keywords == PROJECT["keywords"]
    assert metadata.description_content_type == "text/markdown"
    assert (metadata.description or "").startswith("# refbrowser")
    assert set(metadata.provides_extra or ()) == set(PROJECT["optional-dependencies"])
    assert "refbrowser/py.typed" in names
    # What MANIFEST.in has is not all for the wheel.
    assert "refbrowser/resources/manual/index.md" in names
    assert not [name for name in names if name.endswith(".png")]


def test_classifiers_are_known_and_name_each_python() -> None:
    listed = PROJECT["classifiers"]
    assert listed == sorted(set(listed))
    lowest = PROJECT["requires-python"].removeprefix(">=")
    pythons = [each.rpartition(" ")[2] for each in listed if "Python :: 3." in each]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert pythons[0] == lowest
    known = pytest.importorskip("trove_classifiers").classifiers
    assert set(listed) <= known


@pytest.mark.skipif(not (CHECKOUT / ".git").exists(), reason="of a checkout")
def test_each_folder_goes_into_the_sdist() -> None:
    lines = (CHECKOUT / "MANIFEST.in").read_text("utf-8").splitlines()
    folders = {name.partition("/")[0] for name in git(CHECKOUT, "ls-files").splitlines() if "/" in name}
    assert {line.removeprefix("graft ") for line in lines if line.startswith("graft ")} == folders


@pytest.mark.long
def test_both_hold_all_that_belongs_in_them(tmp_path: Path) -> None:
    if not (CHECKOUT / ".git").exists() or git(CHECKOUT, "status", "--porcelain"):
        pytest.skip("what is built is what is committed, and this checkout is changed")
    wheel, sdist = built(CHECKOUT, tmp_path / "made")
    committed = set(git(CHECKOUT, "ls-files").splitlines())
    with tarfile.open(sdist) as archive:
        names = {each.name.partition("/")[2] for each in archive.getmembers() if each.isfile()}
    assert committed <= names
    assert {name for name in names - committed if not name.startswith("refbrowser.egg-info/")} == {
        *("PKG-INFO", "setup.cfg")
    }
    package = {name for name in committed if name.startswith("refbrowser/")}
    tool = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    for pattern in tool["package-data"]["refbrowser.resources"]:
        beside = {
            f"refbrowser/{path.relative_to(CHECKOUT).as_posix()}"
            for path in (CHECKOUT / "resources").glob(pattern)
        }
        assert beside
        package |= beside
    with zipfile.ZipFile(wheel) as archive_:
        held = archive_.namelist()
    assert {name for name in held if name.startswith("refbrowser/")} == package
    assert any(name.endswith("share/applications/refbrowser.desktop") for name in held)
