"""Files are held against declared properties by `make`, `combine` and `append` before anything is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from monthly_files import Archive, write_archive

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.declarations.array_facts import facts_of, learned_declarations
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.declared_mismatches import _facts
from refbrowser.exporting.combining.properties import ScanSettings, looked_at
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.declarations.declared_arrays import Declarations, parse_declarations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The months of two years, of which the second is packed otherwise."""
    folder = tmp_path_factory.mktemp("archive")
    return write_archive(folder, Archive(years=(2017, 2018), missing=(), era=(2018,)))


@pytest.fixture
def document(archive: list[Path], tmp_path: Path) -> Path:
    """Three months, and what they declare beside them."""
    refbrowser.combine(archive[:3], tmp_path / "t2m.json", concat="time")
    with refbrowser.open(tmp_path / "t2m.json", allow=[str(archive[0].parent)]) as dataset:
        declare(tmp_path / "t2m.json.expect.json", learned_declarations(dataset))
    return tmp_path / "t2m.json"


def declare(path: Path, said: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"version": 1, "declares": said}))
    return path


def test_files_that_are_added_are_held_against_what_is_beside(archive: list[Path], document: Path) -> None:
    before = document.read_bytes()
    with pytest.raises(
        RefbrowserError, match=r"scale_factor is declared 0.01, but 0.02 in 1: t2m_2018-01.nc"
    ):
        refbrowser.append(document, [archive[3], archive[12]], allow=[str(archive[0].parent)])
    assert document.read_bytes() == before
    report = refbrowser.append(document, [archive[3], archive[12]], leave_out="odd")
    assert report.after == 120
    assert report.left_out == [(str(archive[12]), "odd: declared of /t2m")]
    # What is declared elsewhere counts before that.
    other = declare(document.with_name("other.json"), {"arrays": {"lat": {"shape": [7]}}})
    with pytest.raises(RefbrowserError, match="/lat: shape is declared 7, but 6 in 1"):
        refbrowser.append(document, archive[4], declares=other)


def test_all_that_differ_are_named_before_anything_is_written(
    archive: list[Path], document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, beside = document.with_name("all.json"), f"{document}.expect.json"
    names = [str(each) for each in archive[10:14]]
    said = ["make", *names, "-o", str(out), "--concat", "time", "--declares", beside]
    assert main(said) == 2
    told = capsys.readouterr().err
    # It differs from half of the files, too: that is told once, with what can be done about both.
    assert told.count("scale_factor") == 2
    assert "scale_factor is declared 0.01, but 0.02 in 2: t2m_2018-01.nc, t2m_2018-02.nc" in told
    assert "--leave-out odd" in told
    assert not out.exists()
    assert main([*said, "--json"]) == 2
    (mismatch,) = json.loads(capsys.readouterr().out)["mismatches"]
    assert (mismatch["kind"], mismatch["name"], mismatch["common_files"]) == ("declared", "scale_factor", 2)
    assert main([*said, "--leave-out", "odd"]) == 0
    with refbrowser.open(out) as dataset:
        assert dataset["/t2m"].shape == (61, 6, 8)


def test_what_is_written_anew_is_as_declared(archive: list[Path], document: Path) -> None:
    beside, out = document.with_name("t2m.json.expect.json"), document.with_name("t2m.icechunk")
    sources = [*archive[:3], archive[12]]
    told: list[Any] = []
    with pytest.raises(RefbrowserError):
        refbrowser.combine(
            sources, out, concat="time", declares=beside, told=lambda plan: told.extend(plan.blocking)
        )
    (mismatch,) = told
    kinds = [each.kind for each in mismatch.remedies]
    assert "reencode" in kinds
    assert not {"accept", "split"} & {*kinds}
    report = refbrowser.combine(sources, out, concat="time", declares=beside, reencode=True)
    assert report.files == 4
    # What most have may be what is not declared.
    with pytest.raises(RefbrowserError, match=r"scale_factor is declared 0.01, but 0.02 in 2"):
        refbrowser.combine(
            [archive[0], *archive[12:14]], out, concat="time", declares=beside, reencode=True, force=True
        )


def test_what_all_lack_cannot_be_left_out(archive: list[Path], tmp_path: Path) -> None:
    beside = declare(tmp_path / "d.json", {"arrays": {"/p": {}, "lat": {"range": [-90, 45]}}})
    found: list[Any] = []
    with pytest.raises(RefbrowserError):
        refbrowser.combine(
            archive[:2], tmp_path / "out.json", concat="time", declares=beside,
            told=lambda plan: found.extend(plan.blocking),
        )  # fmt: skip
    assert [each.message.partition(" in 2")[0] for each in found] == [
        "/p: array is declared there, but missing", "/lat: values are declared -90 to 45, but 40 to 50",
    ]  # fmt: skip
    assert [[each.kind for each in one.remedies] for one in found] == [[], ["leave_out_var"]]


def test_each_of_many_documents_is_held_against_it(archive: list[Path], document: Path) -> None:
    beside, out = document.with_name("t2m.json.expect.json"), document.with_name("docs")
    with pytest.raises(
        RefbrowserError, match=r"not as declared: /t2m: scale_factor is 0.02, declared 0.01"
    ) as caught:
        refbrowser.make(archive[12], out / "a.json", declares=beside)
    assert caught.value.kind is ErrorKind.META
    report = refbrowser.make(archive[11:13], out, declares=beside, skip_bad=True)
    assert [Path(each.target).name for each in report.made] == ["t2m_2017-12.nc.refs.json"]
    assert [source for source, _ in report.left_out] == [str(archive[12])]


def test_a_new_dimension_is_none_of_the_files(archive: list[Path], tmp_path: Path) -> None:
    said = {"arrays": {"t2m": {"dimensions": ["month", "time", "lat", "lon"], "shape": [None, 31, 6, 8]}}}
    beside = declare(tmp_path / "d.json", said)
    out = tmp_path / "out.json"
    refbrowser.combine(
        [archive[0], archive[2]], out, new_dims=r"month=name:-(\d\d)", arrays="t2m", accept="values",
        leave_out_var="time", declares=beside,
    )  # fmt: skip
    with pytest.raises(RefbrowserError, match="shape is declared 31 × 6 × 8, but 28 × 6 × 8 in 1"):
        refbrowser.combine(
            archive[:3], out, new_dims=r"month=name:-(\d\d)", arrays="t2m", accept="values", force=True,
            leave_out_var="time", declares=beside,
        )  # fmt: skip


def test_the_same_is_known_of_files_and_of_datasets(archive: list[Path]) -> None:
    with refbrowser.open(archive[0]) as dataset:
        looked = looked_at(dataset, str(archive[0]), ScanSettings())
        for told in looked.arrays:
            node = dataset.hierarchy.find(told.path)
            assert isinstance(node, ArrayNode)
            ours, theirs = facts_of(node), _facts(told)
            assert (ours.dtype, ours.dimensions, ours.shape, ours.chunks) == (
                theirs.dtype, theirs.dimensions, theirs.shape, theirs.chunks,
            )  # fmt: skip
            assert [each["name"] for each in ours.codecs] == [each["name"] for each in theirs.codecs]
            said: Declarations = parse_declarations(learned_declarations(dataset))
            assert said.deviations(theirs) == []


@pytest.mark.parametrize("text", ['{"version": 1}', '{"version": 1, "declares": {"arrays": 3}}', "[]", "{"])
def test_a_file_that_declares_nothing_is_told(text: str, archive: list[Path], tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.make(archive[0], tmp_path / "a.json", declares=tmp_path / "d.json")
    assert caught.value.kind in (ErrorKind.SCHEMA, ErrorKind.JSON)
    assert str(tmp_path / "d.json") in str(caught.value)
    assert not (tmp_path / "a.json").exists()
