"""What the core takes where it is installed is bounded, and holds nothing that only some users need."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import Distribution, packages_distributions
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name

_SPEC = spec_from_file_location("sizes", Path(__file__).parent.parent / "packaging" / "sizes.py")
assert _SPEC is not None
assert _SPEC.loader is not None
sizes = module_from_spec(_SPEC)
_SPEC.loader.exec_module(sizes)

#: Packages that the core needs, and what they bring.
CORE = {
    *("backports-zstd", "deflate", "google-crc32c", "jinja2", "numcodecs", "numpy", "zarr"),
    *("donfig", "markupsafe", "msgspec", "packaging", "pyyaml", "typing-extensions"),
    # What older versions of numcodecs and zarr need.
    *("crc32c", "deprecated", "wrapt"),
}
#: Megabytes, with some room; numpy alone has 52 to 69. Before 3.12 numcodecs has 36, later 3.
MOST = 130 if sys.version_info < (3, 12) else 85


@pytest.fixture(scope="module")
def core() -> dict[str, Distribution | None]:
    """The packages that are installed with the project, without any extra."""
    found: dict[str, Distribution | None] = sizes.closure(sizes.extras()[""])
    return found


def test_the_core_is_for_everybody(core: dict[str, Distribution | None]) -> None:
    assert set(core) <= CORE
    some = {
        "gui": "pyside6-essentials",
        "awkward": "awkward",
        "calendars": "cftime",
        "ncstream": "protobuf",
        "parquet": "pyarrow",
        "hdf5": "h5py",
        "cloud": "fsspec",
    }
    for extra, package in some.items():
        assert package in sizes.closure(sizes.extras()[extra])


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="other systems have other builds"
)
def test_the_size_of_the_core_is_bounded(core: dict[str, Distribution | None]) -> None:
    own = sizes.own_size()
    assert own < 16.5e6
    packages = {name: sizes.size(package) for name, package in core.items() if package is not None}
    assert packages["numpy"] > 20e6
    assert sum(packages.values()) + own < MOST * 1e6, packages


def test_each_extra_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    few: dict[str, Any] = {"": ["numpy>=1"], "gui": ["numpy", "no-such-package>=1"], "test": ["pytest"]}
    monkeypatch.setattr(sizes, "extras", lambda: few)
    sizes.main()
    core, gui = capsys.readouterr().out.splitlines()
    assert core.startswith("core")
    assert " MB  numpy " in core
    assert gui.split()[:3] == ["+", "gui", "0.0"]
    assert gui.endswith("; not installed here: no-such-package")


def test_extras_of_packages_and_markers_are_followed() -> None:
    found = sizes.closure(["refbrowser[awkward]", "numpy; python_version < '3'"])
    assert {"awkward", "awkward-cpp", "numpy"} <= set(found)
    assert set(sizes.closure(["numpy; python_version < '3'"])) == set()


#: Gives all names of the package where other packages, which the arguments name, are not installed.
_NAMES = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import refbrowser
for name in refbrowser.__all__:
    getattr(refbrowser, name)
"""


@pytest.mark.slow
def test_what_makes_the_site_installs_all_that_its_page_of_functions_imports() -> None:
    listed = sizes.extras()
    installed = {*sizes.closure([*listed[""], *listed["site"]]), "refbrowser"}
    makers = packages_distributions()
    absent = [name for name, by in makers.items() if not installed & {canonicalize_name(each) for each in by}]
    assert {"icechunk", "pyarrow"} <= {*absent}
    subprocess.run([sys.executable, "-c", _NAMES, *absent], check=True)
