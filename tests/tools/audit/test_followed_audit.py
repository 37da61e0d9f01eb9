"""What an audit found follows edits: what went with them is left out, what is still true stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_sets import CHUNKS, SIZE, DamagedSet, sound, zarray

import refbrowser
from refbrowser.engine.audit.audit_journal import answers_kept
from refbrowser.engine.audit.audit_plan import AuditRequest, Level, plan_audit
from refbrowser.engine.audit.audit_result import KEPT, AuditResult
from refbrowser.engine.audit.audit_run import AuditRun
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.io.cancel import Cancelled
from refbrowser.references.edits.edits import RemoveReference, SetReference
from refbrowser.tools.audit.followed_audit import fix_all, followed


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Dataset]:
    """A set of which file 3 lies elsewhere, file 5 lost its tail, and a chunk of file 7 is no zlib."""
    made = sound(tmp_path)
    (tmp_path / "kept").mkdir()
    (tmp_path / "f3.bin").rename(tmp_path / "kept/f3.bin")
    short = (tmp_path / "f5.bin").read_bytes()
    (tmp_path / "f5.bin").write_bytes(short[:-1])
    data = bytearray((tmp_path / "f7.bin").read_bytes())
    start = made.refs["packed/7.1"][1]
    data[start : start + 8] = b"not zlib"
    (tmp_path / "f7.bin").write_bytes(data)
    made.refs["raw/99.0"] = ["f0.bin", 0, SIZE]
    with refbrowser.open(made.write()) as dataset:
        yield dataset


def audited(dataset: Dataset, level: Level = Level.FULL) -> AuditResult:
    run = AuditRun(dataset, plan_audit(dataset, AuditRequest(level)))
    for _ in run.findings():
        pass
    return run.result()


def edited(dataset: Dataset, *edits: Any) -> Dataset:
    document = dataset.document
    for edit in edits:
        document = document.apply(edit)
    return dataset.with_document(document)


def left(dataset: Dataset, now: Dataset, result: AuditResult) -> AuditResult:
    return followed(result, dataset, now, JobControl())


COUNTS = {"chunk-outside-grid": 1, "range-past-end": 1, "url-dead": 2 * CHUNKS, "undecodable": 1}


def test_what_was_asked_and_read_is_told_apart(damaged: Dataset) -> None:
    result = audited(damaged)
    assert result.counts() == COUNTS
    assert {group.code for group in result.asked} == {"url-dead", "undecodable"}
    states = {url: code for url, code in result.states.items() if code}
    assert states == {"f3.bin": "url-dead", "f5.bin": "range-past-end"}
    read = np.concatenate(result.read["/packed"])
    assert sorted(read.tolist()) == list(range(10 * CHUNKS))


def test_nothing_changes_without_an_edit(damaged: Dataset) -> None:
    result = audited(damaged)
    now = left(damaged, edited(damaged, SetReference("notes", "x")), result)
    assert now.counts() == COUNTS
    assert now.is_edited
    for path in ("/raw", "/packed"):
        before, after = result.marks.of(path), now.marks.of(path)
        for code in {*before, *after}:
            assert np.unique(before[code], axis=0).tolist() == np.unique(after[code], axis=0).tolist()


def test_a_chunk_that_leads_elsewhere_is_not_looked_at_any_more(damaged: Dataset) -> None:
    result = audited(damaged)
    now = left(damaged, edited(damaged, SetReference("packed/7.1", ["f7.bin", 64, 10])), result)
    assert "undecodable" not in now.counts()
    assert 7 * CHUNKS + 1 not in np.concatenate(now.read["/packed"])
    assert "undecodable" not in now.marks.of("/packed")
    # And one that is away altogether.
    gone = left(damaged, edited(damaged, RemoveReference("packed/7.1")), result)
    assert "undecodable" not in gone.counts()


def test_a_file_goes_when_nothing_leads_there(damaged: Dataset) -> None:
    result = audited(damaged)
    some = [RemoveReference(f"{name}/3.{chunk}") for name in ("raw", "packed") for chunk in range(CHUNKS)]
    fewer = left(damaged, edited(damaged, *some[:3]), result)
    (group,) = (group for group in fewer.groups if group.code == "url-dead")
    assert group.count == 2 * CHUNKS - 3
    assert group.findings[0].place.key == "raw/3.3"
    assert "url-dead" not in left(damaged, edited(damaged, *some), result).counts()


def test_what_needs_no_reading_is_looked_for_anew(damaged: Dataset) -> None:
    result = audited(damaged)
    now = left(damaged, edited(damaged, RemoveReference("raw/99.0"), RemoveReference("raw/2.1")), result)
    counts = {code: number for code, number in COUNTS.items() if code != "chunk-outside-grid"}
    assert now.counts() == {**counts, "missing-chunks": 1}


def test_all_of_one_kind_are_repaired_by_one_step(damaged: Dataset) -> None:
    result = audited(damaged)
    edit, count = fix_all(damaged, result, "url-dead", JobControl())
    assert count == 2 * CHUNKS
    now = edited(damaged, edit)
    assert refbrowser.expand(now.document)["raw/3.0"][0] == "kept/f3.bin"
    assert "url-dead" not in left(damaged, now, result).counts()
    assert audited(now).counts() == {code: n for code, n in COUNTS.items() if code != "url-dead"}
    assert fix_all(damaged, result, "undecodable", JobControl()) == (None, 0)


@pytest.mark.slow
def test_more_than_a_group_keeps_is_repaired(tmp_path: Path) -> None:
    made = sound(tmp_path)
    for number in range(KEPT + 50):
        made.refs[f"a{number}/.zarray"] = zarray([1], [1])
        made.refs |= {f"a{number}/{chunk}": "base64:AAAAAA==" for chunk in range(2)}
    with refbrowser.open(made.write()) as dataset:
        result = audited(dataset, Level.SET)
        (group,) = result.groups
        assert len(group.findings) == KEPT
        edit, count = fix_all(dataset, result, "chunk-outside-grid", JobControl())
        assert count == group.count == KEPT + 50
        assert audited(edited(dataset, edit), Level.SET).groups == []


# What may be the file


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ("kept/f3.bin", "'kept/f3.bin' has the same name"),
        ("f3.bim", "there is 'f3.bim'"),
        ("kept/other.bin", ""),
    ],
)
def test_files_that_a_dead_one_may_be(there: str, words: str, tmp_path: Path) -> None:
    made = sound(tmp_path)
    (tmp_path / "kept").mkdir()
    # The others are as like as it is.
    made.refs = {key: value for key, value in made.refs.items() if "f" not in str(value)[:3] or "/3." in key}
    for file in range(10):
        if file != 3:
            (tmp_path / f"f{file}.bin").unlink()
    (tmp_path / "f3.bin").rename(tmp_path / there)
    with refbrowser.open(made.write()) as dataset:
        (group,) = (each for each in audited(dataset, Level.STAT).groups if each.code == "url-dead")
    assert group.has_fix is there.endswith("/f3.bin")
    assert words in group.findings[0].advice


def test_names_that_several_files_have_are_not_guessed(tmp_path: Path) -> None:
    made = sound(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f3.bin").write_bytes(b"x")
    (tmp_path / "f3.bin").unlink()
    with refbrowser.open(made.write()) as dataset:
        (group,) = audited(dataset, Level.STAT).groups
    assert not group.has_fix


@pytest.mark.parametrize(("shift", "lost", "told"), [(1, 0, True), (0, SIZE, False), (0, 0, None)])
def test_a_rule_that_is_shifted_is_told_of(shift: int, lost: int, told: bool | None, tmp_path: Path) -> None:
    (tmp_path / "rows.bin").write_bytes(bytes(64 + 5 * SIZE - lost))
    rule = {
        "key": "a/{{i}}", "url": "rows.bin", "offset": f"{{{{64 + (i + {shift}) * {SIZE}}}}}",
        "length": str(SIZE), "dimensions": {"i": {"stop": 5}},
    }  # fmt: skip
    array = {
        "zarr_format": 2, "shape": [500], "chunks": [100], "dtype": "<f4", "compressor": None,
        "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    path = tmp_path / "rule.json"
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array)}
    path.write_text(json.dumps({"version": 1, "gen": [rule], "refs": refs}))
    with refbrowser.open(path) as dataset:
        result = audited(dataset, Level.STAT)
    if told is None:
        assert result.groups == []
        return
    (group,) = result.groups
    (finding,) = group.findings
    assert (group.code, group.url) == ("range-past-end", "rows.bin")
    assert ("the rule is shifted" in finding.advice) is told
    assert finding.place.field == ("offset" if told else "length")
    # Each chunk is marked, not the row alone that is told.
    assert result.marks.of("/a")["range-past-end"].tolist() == [[4]]


def test_what_an_interrupted_audit_left_is_counted(damaged: Dataset) -> None:
    request = AuditRequest(Level.FULL)
    plan = plan_audit(damaged, request)
    assert answers_kept(damaged, plan) == 0
    control = JobControl()
    run = AuditRun(damaged, plan)
    found = run.findings(control)
    while next(found).code != "url-dead":
        pass
    control.token.cancel()
    with pytest.raises(Cancelled):
        next(found)
    assert answers_kept(damaged, plan) > 0
    assert answers_kept(damaged, plan_audit(damaged, AuditRequest(Level.STAT))) == 0


def test_a_set_without_damage_is_as_it_was(tmp_path: Path) -> None:
    made: DamagedSet = sound(tmp_path)
    with refbrowser.open(made.write()) as dataset:
        result = audited(dataset)
        assert left(dataset, edited(dataset, SetReference("notes", "x")), result).groups == []
