"""Sets whose rules name files by templates and dimensions, with one fault or two: each found and repaired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import refbrowser
from refbrowser.engine.audit.audit_plan import AuditRequest, Level, plan_audit
from refbrowser.engine.audit.audit_result import AuditResult, joined_fix
from refbrowser.engine.audit.audit_run import AuditRun
from refbrowser.engine.dataset import Dataset
from refbrowser.engine.jobs import JobControl
from refbrowser.tools.audit.followed_audit import followed
from refbrowser.tools.audit.report.audit_page import PageChoice, about, page_of

#: Bytes of a chunk and of the head of a file, chunks of an array in a file; two arrays are in each file.
SIZE, HEAD, CHUNKS = 400, 64, 4
NAMES = "ocean_{{'%03d' % f}}.bin"
LONG = HEAD + 2 * CHUNKS * SIZE


def name(number: int) -> str:
    return f"ocean_{number:03d}.bin"


def written(folder: Path, files: int, *, names: str = NAMES, shift: str = "", cut: int = 0) -> Path:
    """Write a document about `/temp` and `/salt` by a rule each, and its files below ``data``.

    Parameters
    ----------
    shift
        What `/salt` adds to the number of a chunk.
    cut
        Bytes that the fourth file lacks.
    """
    (folder / "data").mkdir()
    (folder / "archive").mkdir()
    for number in range(files):
        (folder / "data" / name(number)).write_bytes(bytes(LONG - (cut if number == 3 else 0)))
    refs, gen = {".zgroup": '{"zarr_format": 2}'}, []
    for at, array in enumerate(("temp", "salt")):
        refs[f"{array}/.zarray"] = json.dumps(
            {
                "zarr_format": 2, "shape": [files * CHUNKS, SIZE], "chunks": [1, SIZE], "dtype": "|u1",
                "compressor": None, "filters": None, "fill_value": None, "order": "C",
            }
        )  # fmt: skip
        begin = HEAD + at * CHUNKS * SIZE
        rule: dict[str, Any] = {"key": f"{array}/{{{{f * {CHUNKS} + t}}}}.0", "url": "{{u}}{{n(f=f)}}"}
        rule |= {"offset": f"{{{{{begin} + (t{shift if at else ''}) * {SIZE}}}}}", "length": str(SIZE)}
        gen.append(rule | {"dimensions": {"f": {"stop": files}, "t": {"stop": CHUNKS}}})
    path = folder / "d.json"
    templates = {"u": "data/", "n": names}
    path.write_text(json.dumps({"version": 1, "templates": templates, "gen": gen, "refs": refs}, indent=1))
    return path


def move(folder: Path, number: int) -> None:
    (folder / "data" / name(number)).rename(folder / "archive" / name(number))


def audited(dataset: Dataset) -> AuditResult:
    run = AuditRun(dataset, plan_audit(dataset, AuditRequest(Level.STAT)))
    list(run.findings())
    return run.result()


def edited(dataset: Dataset, edit: Any) -> Dataset:
    return dataset.with_document(dataset.document.apply(edit))


SHIFT = f"Shift gen rule 1 back by {SIZE} bytes"
RENAME, LEAD = "Correct template 'n'", f"Point {2 * CHUNKS} references to archive/{name(5)}"
#: What is wrong, and the titles of the edits that repair it.
FAULTS: dict[str, tuple[int, dict[str, Any], bool, list[str]]] = {
    "a shift in one file": (1, {"shift": " + 1"}, False, [SHIFT]),
    "a shift": (8, {"shift": " + 1"}, False, [SHIFT]),
    "a file that moved": (8, {}, True, [LEAD]),
    "a shift and a file that moved": (8, {"shift": " + 1"}, True, [SHIFT, LEAD]),
    "a template and a shift": (8, {"shift": " + 1", "names": "ocaen" + NAMES[5:]}, False, [SHIFT, RENAME]),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_cause_is_found_and_repaired(fault: str, tmp_path: Path) -> None:
    files, given, moves, titles = FAULTS[fault]
    path = written(tmp_path, files, **given)
    if moves:
        move(tmp_path, 5)
    with refbrowser.open(path) as dataset:
        result = audited(dataset)
        found = result.findings
        assert sorted(each.fix.title for each in found) == sorted(titles)
        for finding in found:
            if finding.fix.title == SHIFT:
                assert (finding.place.field, finding.count) == ("offset", files - moves)
        # All of them at once, or one by one in any order: nothing is wrong then.
        assert audited(edited(dataset, joined_fix(dataset.document, found, "Fix"))).groups == []
        for order in (found, found[::-1]):
            now, left = dataset, result
            for finding in order:
                before, now = now, edited(now, finding.fix)
                left = followed(left, before, now, JobControl())
            assert left.groups == []
            assert audited(now).groups == []
        # No advice is to delete what is sound.
        for line in page_of(result, PageChoice()).lines:
            assert "delete" not in dict(about(line))["What to do"].casefold()


def test_a_cut_file_beside_a_shift_is_told_by_itself(tmp_path: Path) -> None:
    path = written(tmp_path, 8, shift=" + 1", cut=1000)
    with refbrowser.open(path) as dataset:
        found = {each.place.url: each for each in audited(dataset).findings}
        shifted, cut = found.pop(None), found.pop(f"data/{name(3)}")
        assert not found
        assert (shifted.count, shifted.fix.title) == (7, SHIFT)
        assert (cut.count, cut.fix) == (4, None)
        # Its last chunks alone are lost once the rule is right.
        (left,) = audited(edited(dataset, shifted.fix)).findings
        assert (left.place.url, left.count) == (f"data/{name(3)}", 3)


def test_what_may_be_no_shift_has_no_edit(tmp_path: Path) -> None:
    # Every file lost a chunk: nothing is left over before the first.
    path = written(tmp_path, 8)
    for file in (tmp_path / "data").iterdir():
        file.write_bytes(bytes(LONG - SIZE))
    with refbrowser.open(path) as dataset:
        (finding,) = audited(dataset).findings
        assert (finding.count, finding.fix) == (8, None)
        assert "each file lost its last" in finding.advice


def test_a_file_of_the_same_name_that_is_too_short_is_not_led_to(tmp_path: Path) -> None:
    path = written(tmp_path, 8)
    move(tmp_path, 5)
    (tmp_path / "archive" / name(5)).write_bytes(bytes(LONG - 1))
    with refbrowser.open(path) as dataset:
        (finding,) = audited(dataset).findings
        assert finding.fix is None
