"""The lines of Python that make references run as they are shown, and give what the program opens."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import refbrowser
from refbrowser.formats.python_lines import made_path, python_lines, references_beside
from refbrowser.formats.sniffing import DATA_KINDS, FileKind, found_in_folder

AWKWARD = "it's a \"name\" {with} \\ 'all'"


def run(kind: FileKind, path: Path) -> Path:
    lines = python_lines(kind, str(path))
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    made = made_path(kind, str(path))
    assert made is not None
    return Path(made)


def needs(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


@pytest.mark.parametrize("kind", list(FileKind))
def test_lines_are_python_whatever_the_path(kind: FileKind) -> None:
    lines = python_lines(kind, f"/data/{AWKWARD}\n.nc")
    # Those that open by themselves need none.
    assert bool(lines) is (kind in (FileKind.HDF4, FileKind.ZARR))
    ast.parse(lines)


@pytest.mark.parametrize("kind", DATA_KINDS)
def test_lines_for_a_url_write_to_no_url(kind: FileKind) -> None:
    lines = python_lines(kind, "https://server.org/folder/file.nc")
    ast.parse(lines)
    assert made_path(kind, "https://server.org/folder/file.nc") is None
    assert "path + " not in lines or "path = 'file.nc'" in lines


@pytest.mark.parametrize("version", [2, 3])
def test_zarr(tmp_path: Path, version: int) -> None:
    import zarr

    path = tmp_path / "store.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=version)
    group.create_array("t", shape=(4,), chunks=(2,), dtype="f4")[:] = [1, 2, 3, 4]
    kind = found_in_folder(path).kind
    assert kind is FileKind.ZARR
    assert refbrowser.open(run(kind, path))["/t"][:].tolist() == [1, 2, 3, 4]


def test_references_beside_a_file_are_found_by_their_names_and_by_what_they_name(tmp_path: Path) -> None:
    texts = {
        "crm.refs.json": "{}",
        "crm.nc.json": "{}",
        "whole_year.json": '{"refs": {"z/0": ["https://server.org/crm.nc", 0, 4]}}',
        "relative.json": '{"refs": {"z/0": ["crm.nc", 0, 4]}}',
        "template.json": '{"templates": {"u": "{{f}}crm.nc"}}',
        "other.json": '{"refs": {"z/0": ["old_crm.nc", 0, 4]}}',
        "crmx.json": "{}",
        ".hidden.json": "{}",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "crm.json").mkdir()
    found = [Path(path).name for path in references_beside(str(tmp_path / "crm.nc"))]
    assert found == ["crm.nc.json", "crm.refs.json", "relative.json", "template.json", "whole_year.json"]


def test_looking_beside_a_file_is_bounded_and_can_be_ended(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.json").write_text("{}")
    looked = 0

    def check() -> None:
        nonlocal looked
        looked += 1

    assert references_beside(str(tmp_path / "crm.nc"), check) == ()
    assert looked == 200
