"""The bundled sample, the environment of a checkout, and what is locked."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parent.parent
SAMPLE = CHECKOUT / "resources" / "sample"


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_sample_has_every_feature() -> None:
    document = json.loads((SAMPLE / "sea_surface.json").read_text("utf-8"))
    assert document["version"] == 1
    assert [len(rule["dimensions"]) for rule in document["gen"]] == [2, 1]
    assert "{{" not in document["templates"]["u"]
    assert "{{" in document["templates"]["month"]
    refs = document["refs"]
    assert refs["ocean/lat/0"].startswith("base64:")
    packed = json.loads(refs["ocean/sst/.zattrs"])
    assert {"scale_factor", "add_offset", "_FillValue"} <= packed.keys()
    assert "since" in json.loads(refs["ocean/time/.zattrs"])["units"]
    chunks = [
        value for key, value in refs.items() if key.startswith("atmosphere/wind_speed/") and "/." not in key
    ]
    assert len({url for url, _, _ in chunks}) == 4
    assert len(chunks) == 12 * 2 * 4 - 4
    assert {key.split("/")[0] for key in refs if key.endswith("/.zgroup")} == {"ocean", "ice", "atmosphere"}
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.slow
def test_the_script_makes_the_document_of_the_sample(tmp_path: Path) -> None:
    script = CHECKOUT / "packaging" / "make_sample.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, timeout=100)
    made = json.loads((tmp_path / "sea_surface.json").read_text("utf-8"))
    kept = json.loads((SAMPLE / "sea_surface.json").read_text("utf-8"))
    assert made.keys() == kept.keys()
    assert made["gen"] == kept["gen"]
    assert made["refs"].keys() == kept["refs"].keys()
    assert digests(tmp_path).keys() == digests(SAMPLE).keys()


PYTHON = """#!/bin/sh
echo "$2" >>"$0.log"
case "$2" in
compileall) exec {python} "$@" ;;
pip) {pip} ;;
esac
"""
PIP_THAT_WORKS = """cat <<END
Obtaining file:///checkout
  Installing build dependencies: started
Collecting zarr>=3.0.8 (from refbrowser==0.1.0)
  Downloading zarr-3.1.6-py3-none-any.whl.metadata (10 kB)
  Downloading zarr-3.1.6-py3-none-any.whl (295 kB)
Processing /wheels/files/google_crc32c-1.9.0-cp311-cp311-x86_64.whl (from refbrowser==0.1.0)
Installing collected packages: zarr, google_crc32c, refbrowser
END
echo "WARNING: of no use to anybody" >&2"""
PIP_THAT_FAILS = """echo "ERROR: there is no such package" >&2; exit 3"""
PREPARE = """. "$(dirname -- "$0")/environment.sh"
check_libraries() { :; }
prepare run
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one module, whose interpreter only writes down what it is asked for."""
    for folder in ("packaging", "refbrowser", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(CHECKOUT / "packaging" / "environment.sh", tmp_path / "packaging")
    (tmp_path / "packaging" / "prepare.sh").write_text(PREPARE)
    (tmp_path / "pyproject.toml").touch()
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    for folder in (tmp_path / "refbrowser", packages):
        (folder / "module.py").write_text("VALUE = 1\n")
    (packages / "template.py").write_text("{% no Python %}\n")
    return tmp_path


def prepare(checkout: Path, pip: str) -> subprocess.CompletedProcess[str]:
    """Set the checkout up by an interpreter whose pip is a line of shell."""
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(PYTHON.format(python=shlex.quote(sys.executable), pip=pip))
    python.chmod(0o755)
    # Where Python itself keeps nothing, too.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    script = str(checkout / "packaging" / "prepare.sh")
    return subprocess.run(["sh", script], capture_output=True, text=True, timeout=60, env=environment)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_what_is_installed_is_compiled_once(checkout: Path) -> None:
    for _ in range(2):
        done = prepare(checkout, ":")
        assert done.returncode == 0
        assert "template.py" not in done.stdout + done.stderr
        for folder in ("refbrowser", ".venv/lib/python3.11/site-packages"):
            compiled = [path.name for path in (checkout / folder / "__pycache__").iterdir()]
            assert [name.partition(".")[0] for name in compiled] == ["module"]
    log = (checkout / ".venv" / "bin" / "python.log").read_text().splitlines()
    assert (log.count("pip"), log.count("compileall")) == (1, 2)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_setting_up_tells_each_step_once(checkout: Path) -> None:
    done = prepare(checkout, PIP_THAT_WORKS)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "refbrowser: installing refbrowser and what it needs (once; a minute or two)",
        "refbrowser:   fetching what the build needs",
        "refbrowser:   fetching zarr 3.1.6 (295 kB)",
        "refbrowser:   fetching google_crc32c 1.9.0",
        "refbrowser:   installing 3 packages; this can take a minute",
        "refbrowser: compiling refbrowser and what it needs",
        "refbrowser: done",
    ]
    assert prepare(checkout, PIP_THAT_WORKS).stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_a_failed_installation_says_why_and_is_tried_again(checkout: Path) -> None:
    for _ in range(2):
        failed = prepare(checkout, PIP_THAT_FAILS)
        assert failed.returncode == 1
        assert "ERROR: there is no such package\nrefbrowser: the installation failed" in failed.stderr


def locked(name: str) -> dict[str, list[tuple[str, str]]]:
    """Return what a file of locked versions has: versions of each package, and for which systems."""
    text = (CHECKOUT / "packaging" / f"locked-{name}.txt").read_text("utf-8").replace("\\\n", " ")
    found: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        package, version, marker, hashes = re.fullmatch(
            r"([a-z0-9-]+)==(\S+)(?: ; ([^-].*?))?((?: +--hash=sha256:[0-9a-f]{64})+) *", line
        ).groups()
        assert hashes
        found.setdefault(package, []).append((version, marker or ""))
    return found


def required(extra: str) -> Iterator[Requirement]:
    """Yield what the project needs with an extra; without one where it is empty."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    listed = (
        project["project"]["optional-dependencies"][extra] if extra else project["project"]["dependencies"]
    )
    for each in map(Requirement, listed):
        if each.name != "refbrowser":
            yield each
            continue
        for more in each.extras:
            yield from required(more)


@pytest.mark.parametrize(
    ("name", "extras"), [("run", ("", "gui", "parquet", "hdf5")), ("test", ("", "test"))]
)
def test_what_is_locked_is_what_the_project_needs(name: str, extras: tuple[str, ...]) -> None:
    """After a change of pyproject.toml, `sh packaging/lock.sh` writes it again."""
    found = locked(name)
    wanted = [each for extra in extras for each in required(extra)]
    for python in ("3.11", "3.14"):
        system = {"python_version": python, "python_full_version": f"{python}.0"}
        for each in wanted:
            if each.marker is not None and not each.marker.evaluate(system):
                continue
            (version,) = (
                version
                for version, marker in found[canonicalize_name(each.name)]
                if not marker or Marker(marker).evaluate(system)
            )
            assert version in each.specifier, each.name
    assert "setuptools" in found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "test"])
def test_what_is_locked_needs_nothing_that_is_not(name: str) -> None:
    """Wheels of one version may differ in what they need: what is installed here is asked."""
    found = locked(name)
    for package, versions in found.items():
        try:
            installed = metadata.distribution(package)
        except metadata.PackageNotFoundError:
            continue
        if installed.version not in [version for version, _ in versions]:
            continue
        for each in map(Requirement, installed.requires or ()):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                assert canonicalize_name(each.name) in found, f"{package} needs it"


def test_the_licence_of_everything_that_is_needed_is_listed() -> None:
    listed = dict(
        re.findall(
            r"^\| ([a-z0-9-]+) \| ([^|]+) \|", (CHECKOUT / "LICENSES.md").read_text("utf-8"), re.MULTILINE
        )
    )
    del listed["package"]
    needed = {canonicalize_name(each.name) for extra in ("", "all") for each in required(extra)}
    assert needed | locked("run").keys() <= {*listed, "setuptools"}
    assert all(re.search("BSD|MIT|Apache-2.0|PSF-2.0|MPL-2.0|LGPL-3.0", each) for each in listed.values())


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_what_is_locked_is_installed_by_its_hashes(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFBROWSER_LOCKED", "1")
    versions = checkout / "packaging" / "locked-run.txt"
    versions.write_text("numpy==2.0.0 --hash=sha256:00")
    assert prepare(checkout, 'echo "$*" >>"$0.log"').returncode == 0
    calls = [
        line
        for line in (checkout / ".venv" / "bin" / "python.log").read_text().splitlines()
        if "install" in line
    ]
    assert f"--require-hashes --requirement {versions}" in calls[0]
    assert "--no-deps" in calls[1]
    assert len(calls) == 2


@pytest.mark.parametrize("extra", ["hdf5", "netcdf", "all"])
def test_what_decodes_filters_of_hdf5_comes_with_its_extras(extra: str) -> None:
    """Arrays whose filter nothing decodes say to install hdf5plugin; who installed an extra has it."""
    assert {"h5py", "hdf5plugin"} <= {canonicalize_name(each.name) for each in required(extra)}


def test_what_comes_with_the_program_is_in_its_package() -> None:
    data = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"][
        "package-data"
    ]
    resources = CHECKOUT / "resources"
    installed = {path for pattern in data["refbrowser.resources"] for path in resources.glob(pattern)}
    for folder in ("manual", "schemas", "sample"):
        assert {path for path in (resources / folder).rglob("*") if path.is_file()} <= installed
