"""``readers``: rows of arrays, what is the cause, the command that helps, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import zarr
from damaged_sets import sound

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.readers.outcome import ReaderVerdict
from refbrowser.engine.readers.rules import Remedy
from refbrowser.tools.readers.report.matrix_words import remedy_command


@pytest.fixture
def store(tmp_path: Path) -> str:
    group = zarr.create_group(tmp_path / "s.zarr", zarr_format=3)
    for name in ("a", "b"):
        group.create_array(
            name, shape=(4,), dtype="f4", compressors=zarr.codecs.GzipCodec(), dimension_names=["x"]
        )
        group[name][:] = np.arange(4)
    return str(tmp_path / "s.zarr")


def test_readers_by_arrays(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["readers", store]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("reader versions read all 2 arrays")
    assert lines[1] == "  /a, /b: store, zarr-v3, float32, gzip"
    assert any(line.split() == ["✓", "reads", "zarr-python", "3.0", "to", "3.4"] for line in lines)
    (old,) = (line for line in lines if "zarr-python 2.18  " in line)
    assert "✗ refuses" in old
    assert "reads Zarr v2 alone (metadata zarr-v3)" in old
    assert f"  refbrowser export {store} s-zarr-v2.zarr --to zarr-v2" in lines


def test_the_exit_code_is_that_of_the_readers_that_are_named(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["readers", store, "--for", "zarr-python=3.1"]) == 0
    assert main(["readers", store, "--for", "zarr-python=2.18", "--for", "zarrita"]) == 2
    told = capsys.readouterr().err
    assert "refbrowser: zarr-python 2.18 refuses /a and 1 more array: reads Zarr v2 alone" in told
    assert "zarrita" not in told
    assert main(["readers", store, "--for", "gdal=3.11"]) == 5
    assert "GDAL 3.11: it is not known whether it reads /a and 1 more array" in capsys.readouterr().err
    assert main(["readers", store, "--for", "nobody"]) == 2
    assert "known: zarr-python" in capsys.readouterr().err


def test_one_array_alone(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["readers", store, "--array", "/b", "--for", "zarrs"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("  /b: ")
    assert main(["readers", store, "--array", "/c"]) == 2


def test_rules_and_templates_are_the_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = sound(tmp_path)
    path = tmp_path / "doc.json"
    text = json.loads(Path(made.write()).read_text())
    refs = text.get("refs", text)
    rule = {"key": "raw/9.9", "url": "f0.bin", "offset": "0", "length": "4", "dimensions": {"i": {"stop": 1}}}
    path.write_text(json.dumps({"version": 1, "refs": refs, "gen": [rule]}))
    assert main(["readers", str(path), "--for", "kerchunk", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    verdicts = {each["verdict"] for group in told["arrays"] for each in group["verdicts"]}
    assert verdicts == {"wrong"}
    cause = told["arrays"][0]["verdicts"][0]["causes"][0]
    assert cause["features"] == ["document:rules"]
    assert told["arrays"][0]["verdicts"][0]["remedy"]["command"].endswith("--to refs-v0 --absolute")


def test_reports(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, cases = tmp_path / "r.html", tmp_path / "r.xml"
    command = ["readers", store, "--for", "zarr-python=2.18", "--for", "zarrita", "--html", str(page)]
    assert main([*command, "--junit", str(cases)]) == 2
    assert "reads Zarr v2 alone" in page.read_text("utf-8")
    (suite,) = ElementTree.parse(cases).getroot().iter("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")


def test_as_a_function(store: str) -> None:
    matrix = refbrowser.readers(store, readers=["netcdf-c"])
    assert matrix.verdict(0) is ReaderVerdict.REFUSES
    assert matrix.groups[0].arrays == ("/a", "/b")


def remedies() -> list[tuple[str, str]]:
    from refbrowser.engine.readers.rules import rule_book

    return [(each.name, each.remedy) for each in rule_book().readers.values() if each.remedy]


@pytest.mark.slow
@pytest.mark.parametrize(("reader", "name"), remedies(), ids=lambda each: each)
def test_what_suits_a_reader_is_read_by_it(tmp_path: Path, reader: str, name: str) -> None:
    """The export that the matrix names makes a set readable whose rules, templates and codecs nobody has."""
    from refbrowser.engine.readers.rules import rule_book

    remedy = rule_book().remedies[name]
    refbrowser.sample(tmp_path / "trial")
    target = tmp_path / "target.zarr"
    refbrowser.export(tmp_path / "trial/sea_surface.json", target, format=remedy.export, **remedy.options)
    matrix = refbrowser.readers(target, readers=[reader])
    assert {group.cells[0].verdict for group in matrix.groups} == {ReaderVerdict.DECODES}


def test_a_name_is_no_option_of_the_command_that_helps() -> None:
    remedy = Remedy(name="refs", words="written out", export="refs-v0")
    assert remedy_command(remedy, "--allow=x.json").startswith(
        "refbrowser export ./--allow=x.json ./--allow=x-"
    )
    assert "'a;b $(c)" in remedy_command(remedy, "d/a;b $(c).json")
