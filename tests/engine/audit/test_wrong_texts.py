"""Templates and rules that name files which are not there: told once, as the cause, and corrected."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from damaged_sets import GROUP, zarray

import refbrowser
from refbrowser.engine.audit.audit_plan import AuditRequest, Level, plan_audit
from refbrowser.engine.audit.audit_result import AuditResult
from refbrowser.engine.audit.audit_run import AuditRun
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.findings.finding import Finding
from refbrowser.io.cancel import Cancelled
from refbrowser.references.edits.edits import SetReference
from refbrowser.references.edits.outer_edits import InsertRule, RemoveRule, SetTemplate
from refbrowser.tools.audit.followed_audit import fix_all, followed

#: Chunks of each array, the first number in names of files, and bytes of a chunk.
COUNT, FIRST, SIZE = 6, 10, 16


def written(folder: Path, **members: Any) -> Path:
    """Write a document about the arrays `/a` and `/b`, each chunk in a file of its own, beside its files."""
    (folder / "data").mkdir(parents=True)
    for name in ("a", "b"):
        for number in range(COUNT):
            (folder / f"data/{name}{FIRST + number}.bin").write_bytes(bytes([number + 1]) * SIZE)
    refs = {".zgroup": GROUP} | {f"{name}/.zarray": zarray([COUNT * 4], [4]) for name in ("a", "b")}
    path = folder / "d.json"
    path.write_text(json.dumps({"version": 1, **members, "refs": refs | members.get("refs", {})}, indent=1))
    return path


def rule(array: str, url: str, /, **more: Any) -> dict[str, Any]:
    dimensions = {"i": {"start": FIRST, "stop": FIRST + COUNT}}
    ranges = {"offset": "0", "length": str(SIZE)}
    key = f"{array}/{{{{i - {FIRST}}}}}"
    return {"key": key, "url": url, **ranges, "dimensions": dimensions} | more


def audited(dataset: Dataset) -> AuditResult:
    run = AuditRun(dataset, plan_audit(dataset, AuditRequest(Level.STAT)))
    list(run.findings())
    return run.result()


def dead(result: AuditResult) -> list[Finding]:
    assert set(result.counts()) <= {"url-dead"}, result.counts()
    return result.findings


def edited(dataset: Dataset, edit: Any) -> Dataset:
    return dataset.with_document(dataset.document.apply(edit))


A, B = "data/a{{i}}.bin", "data/b{{i}}.bin"
#: Members of a document that is wrong, and what is told: which text, where, what it is and becomes.
WRONG: dict[str, tuple[dict[str, Any], str, str, str, str]] = {
    "a template": (
        {"templates": {"t": "data/axx{{i}}.bin"}, "gen": [rule("a", "{{t(i=i)}}"), rule("b", B)]},
        "template 't'", "/templates/t", "data/axx", "data/a",
    ),
    "a template for the folder": (
        {"templates": {"t": "dta"}, "gen": [rule("a", "{{t}}/a{{i}}.bin"), rule("b", "{{t}}/b{{i}}.bin")]},
        "template 't'", "/templates/t", "dta/", "data/",
    ),
    "a rule": (
        {"gen": [rule("b", B), rule("a", "dat/a{{i}}.bin")]}, "gen rule 1", "/gen/1/url", "dat/a", "data/a",
    ),
    "a rule behind a template": (
        {"templates": {"t": "data"}, "gen": [rule("a", "{{t}}/ax{{i}}.bin"), rule("b", "{{t}}/b{{i}}.bin")]},
        "gen rule 0", "/gen/0/url", "data/ax", "data/a",
    ),
    "the end of a template": (
        {"templates": {"t": "data/a{{i}}.bni"}, "gen": [rule("a", "{{t(i=i)}}"), rule("b", B)]},
        "template 't'", "/templates/t", "data/a{{i}}.bni", "data/a{{i}}.bin",
    ),
    "the end of a rule": (
        {"gen": [rule("a", "data/a{{i}}bin"), rule("b", B)]},
        "gen rule 0", "/gen/0/url", "data/a{{i}}bin", "data/a{{i}}.bin",
    ),
    "references": (
        {
            "refs": {f"a/{at}": [f"old/a{FIRST + at}.bin", 0, SIZE] for at in range(COUNT)},
            "gen": [rule("b", B)],
        },
        "the URL of references", "/refs/a~10", "old/a", "data/a",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_the_text_is_told_once_and_corrected(name: str, tmp_path: Path) -> None:
    members, words, pointer, old, new = WRONG[name]
    path = written(tmp_path, **members)
    with refbrowser.open(path) as dataset:
        result = audited(dataset)
        (finding,) = dead(result)
        assert finding.message.startswith(f"{words} names ")
        assert finding.message.endswith(f"with {new!r} in place of {old!r} all of them do")
        assert finding.place.pointer == pointer
        assert finding.place.line is not None
        line = path.read_text().splitlines()[finding.place.line - 1]
        assert f'"{pointer.rpartition("/")[2].replace("~1", "/")}"' in line
        # The count is that of chunks, each is marked, each file is known to be dead.
        arrays = 2 if "folder" in name else 1
        assert finding.count == result.faults == COUNT * arrays
        assert sum(len(result.marks.of(array)["url-dead"]) for array in result.marks.paths) == COUNT * arrays
        assert list(result.states.values()).count("url-dead") == COUNT * arrays
        # One edit: nothing is wrong then, and nothing else was changed.
        edit, count = fix_all(dataset, result, "url-dead", JobControl())
        assert count == COUNT * arrays
        now = edited(dataset, edit)
        assert audited(now).groups == []
        assert followed(result, dataset, now, JobControl()).groups == []
        before, after = path.read_text().splitlines(), now.document.to_bytes().decode().splitlines()
        changed = [at for at, (one, two) in enumerate(zip(before, after, strict=True)) if one != two]
        assert len(changed) == (COUNT if "references" in name else 1)
        assert changed[0] - finding.place.line in (-1, 0)


def test_files_that_are_lost_besides_stay_and_are_told_then(tmp_path: Path) -> None:
    path = written(tmp_path, gen=[rule("a", "data/axx{{i}}.bin"), rule("b", B)])
    (tmp_path / f"data/a{FIRST + 3}.bin").unlink()
    with refbrowser.open(path) as dataset:
        result = audited(dataset)
        (finding,) = dead(result)
        assert "5 of the 6 that were looked for do" in finding.message
        now = edited(dataset, finding.fix)
        (left,) = dead(audited(now))
        assert (left.place.url, left.message) == (f"data/a{FIRST + 3}.bin", "there is no such file")


def gone(folder: Path, name: str, *numbers: int) -> None:
    for number in numbers:
        (folder / f"data/{name}{FIRST + number}.bin").unlink()


def test_it_is_not_guessed_where_it_may_be_wrong(tmp_path: Path) -> None:
    def of(name: str, url: str, lost: int = 0, size: int = SIZE, other: str = B) -> list[Finding]:
        folder = tmp_path / name
        path = written(folder, gen=[rule("a", url), rule("b", other)])
        gone(folder, "a", *range(lost))
        for file in folder.glob("data/a*"):
            file.write_bytes(bytes(size))
        with refbrowser.open(path) as dataset:
            return dead(audited(dataset))

    # It would be found else.
    assert len(of("sound", "data/axx{{i}}.bin")) == 1
    # Two arrays would have the same files: one of them is lost.
    assert len(of("two", "data/axx{{i}}.bin", other="data/ayy{{i}}.bin")) == 2 * COUNT
    # Half of them are lost; the names near are files of another array; the files are too short.
    assert len(of("half", "data/axx{{i}}.bin", lost=3)) == COUNT
    assert len(of("others", A, lost=COUNT)) == COUNT
    assert len(of("short", "data/axx{{i}}.bin", size=SIZE - 1)) == COUNT


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, gen=[rule("a", A), rule("b", B)])
    for number in range(1, COUNT):
        (tmp_path / f"data/a{FIRST + number}.bin").rename(tmp_path / f"data/axx{FIRST + number}.bin")
    with refbrowser.open(path) as dataset:
        # Nearly all of them are there by another name; for the first that would be wrong.
        found = dead(audited(dataset))
        assert [each.place.url for each in found] == [f"data/a{FIRST + at}.bin" for at in range(1, COUNT)]
        assert all(each.fix is None for each in found)


def test_a_file_that_holds_two_arrays_is_one_that_may_be_meant(tmp_path: Path) -> None:
    # The second half of each file of the other array; then the first, which that has.
    for name, offset, count in (("free", SIZE, 1), ("taken", SIZE // 2, COUNT)):
        path = written(
            tmp_path / name, gen=[rule("a", "data/bxx{{i}}.bin", offset=str(offset)), rule("b", B)]
        )
        for file in (tmp_path / name).glob("data/b*"):
            file.write_bytes(bytes(2 * SIZE))
        with refbrowser.open(path) as dataset:
            assert len(dead(audited(dataset))) == count, name


def test_one_file_is_led_to_by_its_text_where_a_rule_names_it(tmp_path: Path) -> None:
    offset = f"{{{{(i - {FIRST}) * {SIZE}}}}}"
    path = written(tmp_path, gen=[rule("a", "data/salt_.bin", offset=offset), rule("b", B)])
    far = tmp_path / "data/salinities.bin"
    far.write_bytes(bytes(COUNT * SIZE))
    with refbrowser.open(path) as dataset:
        # A name as little alike is enough for many files, and not for one.
        (finding,) = dead(audited(dataset))
        assert finding.fix is None
    far.rename(tmp_path / "data/salt.bin")
    with refbrowser.open(path) as dataset:
        (finding,) = dead(audited(dataset))
        assert finding.message == (
            "gen rule 0 names the file 'data/salt_.bin', which does not exist: with 'data/salt.bin' in place "
            "of 'data/salt_.bin' it does"
        )
        assert audited(edited(dataset, finding.fix)).groups == []


def test_edits_are_followed(tmp_path: Path) -> None:
    members = {"templates": {"t": "data/axx{{i}}.bin", "u": "data/b{{i}}.bni"}}
    path = written(tmp_path, gen=[rule("a", "{{t(i=i)}}"), rule("b", "{{u(i=i)}}")], **members)
    with refbrowser.open(path) as dataset:
        result = audited(dataset)
        assert [each.place.pointer for each in dead(result)] == ["/templates/t", "/templates/u"]

        def left(edit: Any) -> list[tuple[str | None, int]]:
            found = followed(result, dataset, edited(dataset, edit), JobControl())
            return [(each.place.pointer, each.count) for each in found.findings if each.code == "url-dead"]

        assert left(SetReference("notes", "x")) == [("/templates/t", COUNT), ("/templates/u", COUNT)]
        assert left(SetTemplate("t", "data/a{{i}}.bin")) == [("/templates/u", COUNT)]
        assert left(SetTemplate("u", "data/b{{i}}.bin")) == [("/templates/t", COUNT)]
        assert left(RemoveRule(0)) == [("/templates/u", COUNT)]
    gen = [rule("a", "data/axx{{i}}.bin"), rule("b", "data/b{{i}}.bni")]
    with refbrowser.open(written(tmp_path / "rules", gen=gen)) as dataset:
        result = audited(dataset)
        # Its number is another one now; of the other nobody knows any more.
        assert left(InsertRule(0, rule("c", A))) == [("/gen/1/url", COUNT)]


def test_thousands_are_one_line_and_few_names_are_compared(tmp_path: Path) -> None:
    many, strange = 800, "quite-another-name"
    refs = {"a/.zarray": zarray([many * 4], [4]), "c/.zarray": zarray([many * 4], [4])}
    refs |= {f"c/{number}": [f"data/{strange}{number}.bin", 0, SIZE] for number in range(many)}
    gen = [rule("a", "data/axx{{i}}.bin", key="a/{{i}}", dimensions={"i": {"stop": many}})]
    path = written(tmp_path, gen=gen, refs=refs)
    for number in range(many):
        (tmp_path / f"data/a{number}.bin").write_bytes(bytes(SIZE))
    with (
        refbrowser.open(path) as dataset,
        patch("difflib.get_close_matches", side_effect=difflib.get_close_matches) as compared,
    ):
        result = audited(dataset)
    assert result.counts() == {"url-dead": 2 * many}
    (group,) = (each for each in result.groups if each.code == "url-dead" and not each.url)
    assert (len(group.findings), group.count) == (1, many)
    # Those that are nowhere are told one by one; what their names are like is looked at for some of them.
    assert compared.call_count < 400


def test_an_audit_that_is_cancelled_tells_which_files_are_gone(tmp_path: Path) -> None:
    path = written(tmp_path, gen=[rule("a", "data/axx{{i}}.bin"), rule("b", B)])
    with refbrowser.open(path) as dataset:
        run, control = AuditRun(dataset, plan_audit(dataset, AuditRequest(Level.STAT))), JobControl()
        with patch.object(control, "progress", side_effect=Cancelled), pytest.raises(Cancelled):
            list(run.findings(control))
        assert run.result().counts() == {"url-dead": COUNT}
        assert len(run.result().groups) == COUNT
