"""The core without the packages of extras: verbs work, and what needs more says the line that installs it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.utils import canonicalize_name

import refbrowser
from refbrowser.cli import main
from refbrowser.errors import NotInstalledError
from refbrowser.loading import to_install

CHECKOUT = Path(__file__).resolve().parent.parent
_SPEC = spec_from_file_location("sizes", CHECKOUT / "packaging" / "sizes.py")
assert _SPEC is not None
assert _SPEC.loader is not None
sizes = module_from_spec(_SPEC)
_SPEC.loader.exec_module(sizes)

#: Runs commands of a list, and code behind them, where some modules cannot be imported.
PROGRAM = """
import contextlib, io, json, sys
asked = json.load(sys.stdin)
blocked = set(asked["blocked"])

def hidden(name):
    return name in blocked or name.partition(".")[0] in blocked

class Shown:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if hidden(name) else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Shown, sys.meta_path)
from refbrowser.cli import main
said = []
for command in asked["commands"]:
    out, error = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(command)
    said.append((code, *(each.buffer.getvalue().decode(errors="replace") for each in (out, error))))
given = {}
exec(asked["code"], given)
json.dump([said, given.get("result"), sorted(blocked & sys.modules.keys())], sys.stdout)
"""


@pytest.fixture(scope="module")
def blocked() -> list[str]:
    """The modules of all packages that are not of the core, nor run the tests."""
    core = {*sizes.closure(sizes.extras()[""]), "refbrowser"}
    found = {
        module
        for module, owners in packages_distributions().items()
        if not core & {canonicalize_name(owner) for owner in owners}
    }
    assert {"PySide6", "pyqtgraph", "awkward", "cftime", "fsspec", "pyarrow", "h5py", "xarray"} <= found
    # The folder google is that of other packages, too; Python itself loads what setuptools puts before it.
    return sorted(found - {"google", "_distutils_hack"} | {"google.protobuf"})


def alone(blocked: list[str], folder: Path, *commands: list[str], code: str = "") -> tuple[list[Any], Any]:
    """Return what commands end with, print and say, and what code calls its result."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps({"blocked": blocked, "commands": commands, "code": code}),
        capture_output=True,
        text=True,
        timeout=110,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, result, loaded = json.loads(done.stdout)
    assert loaded == []
    return said, result


@pytest.mark.slow
def test_the_core_reads_audits_exports_and_makes(blocked: list[str], tmp_path: Path) -> None:
    from scipy.io import netcdf_file

    for number in (0, 31):
        with netcdf_file(tmp_path / f"{number:02}.nc", "w") as file:
            file.createDimension("time", None)
            time = file.createVariable("time", "f8", ("time",))
            time.units = "days since 2000-01-01"
            time[:] = number + np.arange(3)
            file.createVariable("tp", "f4", ("time",))[:] = np.arange(3.0)
    commands: list[list[str]] = [
        ["sample"],
        ["info", "sea_surface.json"],
        ["read", "sea_surface.json", "/ocean/sst", "--select", "time=2024-03,lat=40:60", "--json"],
        ["audit", "sea_surface.json"],
        ["check", "sea_surface.json"],
        ["export", "sea_surface.json", "v3.zarr", "--to", "zarr-v3", "--array", "/ocean/sst"],
        ["export", "sea_surface.json", "v2.zarr", "--to", "zarr-v2", "--array", "/ocean/sst"],
        ["export", "sea_surface.json", "nc.zarr", "--to", "nczarr", "--array", "/ocean/sst"],
        ["info", "v3.zarr"],
        ["diff", "v2.zarr", "v3.zarr"],
        ["make", "00.nc", "31.nc", "-o", "all.json", "--concat", "time"],
        ["read", "all.json", "/time", "--json"],
        ["lock", "all.json"],
        ["explain", "all.json", "--array", "/tp", "--index", "4"],
        ["completion", "bash"],
    ]
    code = "import refbrowser; result = refbrowser.open('v3.zarr')['/ocean/sst'][6, 0, :4].tolist()"
    said, result = alone(blocked, tmp_path, *commands, code=code)
    assert [error for code, _, error in said if code] == []
    sample = refbrowser.open(tmp_path / "sea_surface.json")
    np.testing.assert_array_equal(result, sample["/ocean/sst"][6, 0, :4])


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of Awkward 0, and a stream."""
    folder = tmp_path_factory.mktemp("nested")
    source = refbrowser.sample(folder)
    for name, form in (("lat.awkd", "awkward0"), ("lat.ncs", "ncstream")):
        refbrowser.export(source, folder / name, format=form, arrays=["/ocean/lat"])
    return folder


def needs(command: list[str], package: str, extra: str) -> Any:
    return pytest.param(command, package, extra, id=" ".join(command) or "nothing")


WINDOW = ("PySide6-Essentials", "gui")
MISSING = [
    needs([], *WINDOW),
    needs(["sea_surface.json"], *WINDOW),
    needs(["sea_surface.json", "--screenshot", "x.png"], *WINDOW),
    needs(["info", "lat.ncs"], "protobuf", "ncstream"),
    needs(["repair", "lat.ncs"], "protobuf", "ncstream"),
    needs(["serve", "sea_surface.json"], "protobuf", "ncstream"),
    needs(["export", "sea_surface.json", "x.ncs", "--to", "ncstream"], "protobuf", "ncstream"),
    needs(["export", "sea_surface.json", "x.awkd", "--to", "awkward0"], "awkward", "awkward"),
    needs(["export", "sea_surface.json", "x.parquet", "--to", "parquet"], "pyarrow", "parquet"),
]


@pytest.fixture(scope="module")
def without_extras(blocked: list[str], nested: Path) -> dict[str, Any]:
    """What each of these commands says, by its words."""
    commands = [list(each.values[0]) for each in MISSING]
    said, _ = alone(blocked, nested, *commands)
    return dict(zip(map(" ".join, commands), said, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("command", "package", "extra"), MISSING)
def test_what_needs_an_extra_says_the_line_that_installs_it(
    command: list[str], package: str, extra: str, without_extras: dict[str, Any]
) -> None:
    code, out, error = without_extras[" ".join(command)]
    assert (code, out) == (2, "")
    line = (
        f"this needs the Python package {package}, which is not installed; pip install 'refbrowser[{extra}]'"
    )
    assert line in error


def without(monkeypatch: pytest.MonkeyPatch, module: str, extra: str) -> None:
    """Let a module be missing, which an extra brings."""
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("importlib.metadata.requires", lambda _: [f'{module}>=1; extra == "{extra}"'])


def test_programs_that_need_a_package_are_told(nested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "awkward", "awkward")
    array = refbrowser.open(nested / "lat.awkd")["/ocean/lat"]
    with pytest.raises(NotInstalledError, match="the Python package awkward") as caught:
        array.to_awkward()
    assert caught.value.advice == "pip install 'refbrowser[awkward]'"
    without(monkeypatch, "dask", "dask")
    with pytest.raises(NotInstalledError, match="the Python package dask"):
        array.to_dask()
    without(monkeypatch, "virtualizarr", "virtualizarr")
    with pytest.raises(NotInstalledError, match="the Python package virtualizarr"):
        refbrowser.to_virtualizarr(array.dataset)


@pytest.mark.parametrize(
    ("way", "extra", "package"),
    [
        ("pyvenv.cfg", "pip install {}", "pip install {}"),
        ("pipx_metadata.json", "pipx install --force {}", "pipx inject refbrowser {}"),
        ("uv-receipt.toml", "uv tool install {}", "uv tool install refbrowser --with {}"),
        ("archive-v0/x/pyvenv.cfg", "uvx --from {} refbrowser", "uvx --with {} refbrowser"),
    ],
)
def test_the_line_is_that_of_what_installed_the_program(
    way: str, extra: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / way).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / way).touch()
    monkeypatch.setattr(sys, "prefix", str((tmp_path / way).parent))
    assert to_install("refbrowser[gui]") == extra.format("'refbrowser[gui]'")
    assert to_install("zfpy") == package.format("zfpy")


def test_qt_is_asked_for_before_a_display(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("refbrowser.app.shell.launch.has_display", lambda: False, raising=False)
    without(monkeypatch, "PySide6", "gui")
    assert main([]) == 2
    assert "PySide6-Essentials, which is not installed" in capsys.readouterr().err
