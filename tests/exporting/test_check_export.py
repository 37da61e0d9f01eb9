"""Checking an export with other software: what is equal, what is not, and what crashes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr
from documents_made import DocumentMaker
from rectilinear_stores import needs_zarr_with_edges
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.cli import main
from refbrowser.codecs.workers.confinement import in_force
from refbrowser.exporting import check, check_child
from refbrowser.exporting.check import CheckReport, check_export
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.exporting.request import ExportRequest
from refbrowser.io.cancel import CancelToken
from refbrowser.io.processes import run_program

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    maker = DocumentMaker(tmp_path)
    maker.group("g", depth=[1, 2.5])
    values = np.arange(600, dtype="<i4").reshape(20, 30)
    attributes = {"units": "K", "limits": [0.5, float("nan")]}
    maker.array("g/a", values, (7, 30), fill_value=0, attributes=attributes)
    maker.array("b", np.arange(5.0), (5,), fill_value=0)
    return maker.write()


def checked(
    document: Path, target: Path, format: str = "zarr-v3", damage=None, chunks: str = "5,5"
) -> CheckReport:
    with refbrowser.open(document) as dataset:
        options = StoreOptions(chunks=Sides.from_text(chunks), codec="none")
        request = ExportRequest(str(target), format, options=options)
        run_export(dataset, request)
        if damage is not None:
            damage()
        return check_export(dataset, request)


def differences(report: CheckReport) -> list[tuple[str, str, str, str]]:
    return [(item.path, item.what, item.expected, item.found) for item in report.items if not item.is_equal]


@pytest.mark.slow
def test_what_is_equal_is_told_by_name(document: Path, tmp_path: Path) -> None:
    report = checked(document, tmp_path / "out")
    assert report.is_equal
    assert [program.name for program in report.programs] == ["zarr-python"]
    compared = {(item.path, item.what) for item in report.items}
    assert {("/", "attributes"), ("/g", "attributes"), ("/g/a", "values"), ("/b", "values")} <= compared


@needs_zarr_with_edges
@pytest.mark.slow
def test_chunks_of_unequal_sides_are_checked(document: Path, tmp_path: Path) -> None:
    report = checked(document, tmp_path / "out", chunks="[3,12,5],*")
    assert report.is_equal
    assert ("/g/a", "values") in {(item.path, item.what) for item in report.items}


@pytest.mark.slow
def test_a_value_and_an_attribute_that_differ_are_named(document: Path, tmp_path: Path) -> None:
    def damage() -> None:
        array = zarr.open_group(tmp_path / "out", mode="r+")["g/a"]
        array[13, 7] = -5
        array.attrs["units"] = "C"

    assert differences(checked(document, tmp_path / "out", damage=damage)) == [
        ("/g/a", "attribute 'units'", '"K"', '"C"'),
        ("/g/a", "values", "'397' at [13, 7]", "'-5' there"),
    ]


@pytest.mark.slow
def test_what_cannot_be_read_is_named(document: Path, tmp_path: Path) -> None:
    def damage() -> None:
        (tmp_path / "out/g/a/c/0/0").write_bytes(b"short")
        (tmp_path / "out/b/zarr.json").unlink()

    found = {
        path: (what, found)
        for path, what, _, found in differences(checked(document, tmp_path / "out", damage=damage))
    }
    assert set(found) == {"/g/a", "/b"}
    assert "Error" in found["/b"][1]


@pytest.mark.slow
def test_a_crash_is_an_answer(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child.py"
    source = Path(check_child.__file__).read_text().replace("__file__", repr(check_child.__file__))
    crash = 'yield {"reading": path}\n        if path == "/b": import os; os.kill(os.getpid(), 11)\n'
    child.write_text(source.replace('yield {"reading": path}\n        try:', crash + "        try:"))
    monkeypatch.setattr(check.check_child, "__file__", str(child))
    report = checked(document, tmp_path / "out")
    (found,) = differences(report)
    assert found[0] == "/b"
    assert "signal 11" in found[3]
    assert any(item.path == "/g/a" and item.what == "values" and item.is_equal for item in report.items)


_ATTEMPTS = """yield {"reading": path}
        import socket
        for name, attempt in {
            "network": lambda: socket.create_connection(("127.0.0.1", 1)),
            "program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
            "file": lambda: open(OTHER).close(),
            "written": lambda: open(request["target"] + "/more", "w").write("x"),
            "keys": lambda: os.environ["AWS_SECRET_ACCESS_KEY"],
        }.items():
            try:
                attempt()
            except (PermissionError, KeyError):
                yield {"failed": name, "error": "refused"}
        try:"""


@pytest.mark.slow
@pytest.mark.skipif("not held back" in in_force().values(), reason="this system has no way to confine it")
def test_what_reads_the_target_has_nothing_but_that(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    (tmp_path / "other").touch()
    child = tmp_path / "program" / "child.py"
    child.parent.mkdir()
    source = Path(check_child.__file__).read_text().replace("__file__", repr(check_child.__file__))
    attempts = _ATTEMPTS.replace("OTHER", repr(str(tmp_path / "other")))
    child.write_text(source.replace('yield {"reading": path}\n        try:', attempts, 1))
    with refbrowser.open(document) as dataset:
        run_export(dataset, ExportRequest(str(tmp_path / "out"), "zarr-v3"))
    monkeypatch.setattr(check.check_child, "__file__", str(child))
    asked = {"target": str(tmp_path / "out"), "zip_folder": "", "container": "", "show": False}
    answers = check.Answers()
    asked |= {"groups": [], "arrays": [["/b", [[[0, 5]]]]]}
    assert check.ask_program("zarr-python", asked, answers, CancelToken()) == ""
    assert set(answers.failures) == {"network", "program", "file", "written", "keys"}
    assert list(answers.digests) == [("/b", "[[0, 5]]")]


@needs_types_of_zarr
def test_nothing_reads_the_draft(document: Path, tmp_path: Path) -> None:
    report = checked(document, tmp_path / "out", "zarr-v3-draft")
    assert not report.programs
    assert "do not read Zarr v3 draft of 2019" in report.notes[0]


@pytest.mark.slow
def test_large_arrays_are_sampled_and_it_is_said(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "PART", 40)
    monkeypatch.setattr(check, "WHOLE", 1000)
    report = checked(document, tmp_path / "out")
    scopes = {item.path: item.scope for item in report.items if item.what == "values"}
    assert report.is_equal
    assert scopes["/b"] == "whole"
    assert scopes["/g/a"].startswith("sampled: 16 of")


@pytest.mark.slow
def test_on_the_command_line(document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("netCDF4")
    command = ["export", str(document), str(tmp_path / "out"), "--to", "nczarr", "--check"]
    assert main([*command, "--array-chunks", "g/a=5,5", "--codec", "zlib:2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["check"]
    assert report["equal"]
    assert set(report["programs"]) == {"zarr-python", "netCDF4"}


def test_a_program_that_does_not_end_is_ended() -> None:
    lines: list[bytes] = []
    code = "import sys, time; print('one', flush=True); time.sleep(60)"
    ended = run_program([sys.executable, "-c", code], b"", lines.append, 2, CancelToken())
    assert not ended.in_time
    assert lines == [b"one\n"]
