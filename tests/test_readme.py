"""The README is one page that begins with what it is about; files that it names exist, its Python runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from code_blocks import run_code

from refbrowser.app.actions.menus import actions
from refbrowser.xarray_backend import RefbrowserBackendEntrypoint

CHECKOUT = Path(__file__).resolve().parent.parent
README = (CHECKOUT / "README.md").read_text("utf-8")


def section(title: str) -> str:
    return README.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_it_begins_with_what_it_is_and_the_picture() -> None:
    assert len(README.splitlines()) <= 120
    title, first, *_ = README.split("\n\n")
    assert (title, first.split()[:2]) == ("# refbrowser", ["refbrowser", "is"])
    assert README.index("](resources/pictures/window.png)") < README.index("```sh\nsh packaging/run.sh")


def test_the_two_commands_are_in_one_block() -> None:
    (block,) = re.findall(r"```sh\n(sh packaging/run\.sh.*?)```", README, re.S)
    assert [line.split("#")[0].strip() for line in block.splitlines()] == [
        "sh packaging/run.sh [PATH...]",
        "sh packaging/test.sh",
    ]


def test_extras_are_listed_and_no_others() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = set(re.findall(r"`(\w+)`", section("Installing").split("Extras", 1)[1].split("\n\n", 1)[0]))
    assert listed == set(project["optional-dependencies"]) - {"test", "benchmark", "site"}


def test_shortcuts_are_unique() -> None:
    # The tree and the table of references each rename and delete by the same keys.
    others = [spec for spec in actions() if spec.name not in ("rename_node", "delete_node")]
    shortcuts = [key for spec in others for key in (spec.shortcut, spec.plot_key) if key]
    assert len(shortcuts) == len(set(shortcuts))


def test_every_file_and_picture_named_is_there() -> None:
    named = re.findall(r"\]\(([^):]+)\)", README) + re.findall(
        r"(?:packaging|resources)/[\w./]+\.(?:sh|py|json)", README
    )
    assert not [name for name in named if not (CHECKOUT / name).is_file()]


def _run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    run_code(code, names)
    return names


@pytest.mark.slow
def test_the_code_for_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("virtualizarr")
    code = "".join(re.findall(r"```python\n(.*?)```", section("In Python"), re.S))
    names = _run(code, tmp_path, monkeypatch)
    assert names["month"].shape == names["dataset"]["/ocean/sst"].shape[1:]
    assert (tmp_path / "sea_surface.zarr/zarr.json").exists()


@pytest.mark.slow
def test_the_code_of_the_manual_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("virtualizarr")
    for each in ("sea_surface.json", "data"):
        (tmp_path / each).symlink_to(CHECKOUT / "resources/sample" / each)
    (tmp_path / "years").mkdir()
    for year in (2020, 2021):
        times = np.datetime64(f"{year}-01-01") + np.arange(3)
        made = xarray.Dataset(
            {"t": (("time", "x"), np.full((3, 2), float(year)))}, {"time": times.astype("M8[ns]")}
        )
        made.to_netcdf(tmp_path / f"years/{year}.nc", engine="netcdf4")
    made.to_netcdf(tmp_path / "model.nc", engine="netcdf4")
    page = (CHECKOUT / "resources/manual/python.md").read_text("utf-8")
    names = _run("".join(re.findall(r"```python\n(.*?)```", page, re.S)), tmp_path, monkeypatch)
    assert (names["years"].sizes["time"], names["report"].left_out) == (6, [])
    with xarray.open_dataset(tmp_path / "model.json", engine=RefbrowserBackendEntrypoint) as found:
        xarray.testing.assert_equal(found, made)
