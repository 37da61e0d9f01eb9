"""Datasets held against what they should hold: by date and variable, as runs and as marks on the grid."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expected_sets import array, days, months, refs_of, write_refs

import refbrowser
from refbrowser.engine.audit.audit_plan import AuditRequest, plan_audit
from refbrowser.engine.audit.audit_result import AuditResult
from refbrowser.engine.audit.audit_run import AuditRun
from refbrowser.engine.expectations import present_chunks
from refbrowser.engine.expectations.chunk_holding import ExpectedChunks, hold_chunks
from refbrowser.engine.expectations.expect_beside import expect_path
from refbrowser.engine.expectations.holding import Held
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.expansion_manifest import ExpansionManifest
from refbrowser.references.expectations.chunk_sets import ChunkSet
from refbrowser.references.rules.gen import GenRule

NOW = datetime(2020, 1, 5, tzinfo=UTC)


def _audit(path: Path, *expect: str, late: str = "", now: datetime = NOW) -> AuditResult:
    with refbrowser.open(path) as dataset:
        run = AuditRun(dataset, plan_audit(dataset, AuditRequest(expect=expect, late=late)), now=now)
        for _ in run.findings():
            pass
        return run.result()


def _told(result: AuditResult) -> dict[str, list[tuple[str | None, str]]]:
    """Return what is told of expectations, by code."""
    return {
        group.code: [(finding.place.path, finding.message) for finding in group.findings]
        for group in result.groups
        if group.code.startswith("expect")
    }


@pytest.fixture
def made(tmp_path: Path) -> Any:
    def write(times: Sequence[int], **how: Any) -> Path:
        return write_refs(tmp_path / "set.json", refs_of(times, **how))

    return write


def test_all_is_there(made: Any) -> None:
    result = _audit(made(months("2015-01", "2019-12")), "every month from 2015 to 2019")
    assert _told(result) == {}
    assert result.exit_code() == 0
    (of_variable,) = result.expected
    assert (of_variable.subject, of_variable.expected, of_variable.missing) == ("t2m", 60, 0)


def test_months_of_days_that_are_missing(made: Any) -> None:
    times = [*days("2015-01-01", "2017-02-28"), *days("2017-04-01", "2019-12-31")]
    result = _audit(made(times, variables=("t2m", "msl")), "every month from 2015")
    message = "1 of 60 months missing: 2017-03"
    assert _told(result) == {"expected-missing": [("/t2m", message), ("/msl", message)]}
    assert result.exit_code() == 2
    result = _audit(made(times), "every day from 2015 to 2019")
    assert _told(result) == {"expected-missing": [("/t2m", "31 of 1,826 days missing: 2017-03")]}
    (of_variable,) = result.expected
    (wrong,) = (period for period in of_variable.periods() if period.wrong)
    assert wrong[:3] == ("2017-03", 31, 31)


def test_holes_on_a_regular_axis_are_missing_too_and_marked(made: Any) -> None:
    path = made(months("2015-01", "2015-12"), columns=2, missing={"t2m": [(2, 0), (2, 1), (7, 1)]})
    result = _audit(path, "every month from 2015 to 2015")
    assert _told(result) == {
        "expected-missing": [("/t2m", "1 of 12 months missing: 2015-03")],
        "expected-incomplete": [("/t2m", "1 of 12 months incomplete: 2015-08 (1 of 2 chunks)")],
    }
    marks = result.marks.of("/t2m")["expected-missing"]
    assert marks.tolist() == [[2, 0], [2, 1], [7, 1]]
    shown = result.array_marks("/t2m")
    assert shown is not None
    assert "expected-missing" in shown.codes


def test_chunks_of_several_months(made: Any) -> None:
    path = made(days("2015-01-01", "2015-03-31"), chunk=40, missing={"t2m": [(1, 0)]})
    told = _told(_audit(path, "every month from 2015-01 to 2015-03"))
    assert told == {
        "expected-incomplete": [
            ("/t2m", "2 of 3 months incomplete: 2015-02 to 2015-03 (2 months, 1 of 2 chunks each)")
        ]
    }


def test_what_is_due_and_not_there_is_late(made: Any) -> None:
    path = made(months("2015-01", "2019-10"))
    assert _told(_audit(path, "every month from 2015")) == {
        "expected-late": [("/t2m", "2 of 60 months late: 2019-11 to 2019-12")]
    }
    # December was over four days ago, November a month before.
    assert _told(_audit(path, "every month from 2015", late="10d")) == {
        "expected-late": [("/t2m", "1 of 59 months late: 2019-11")]
    }
    assert _told(_audit(path, "every month from 2015 late P40D")) == {}
    # What ends in the future is expected as far as it is due.
    assert _told(_audit(path, "every month from 2015 to 2030 late P40D")) == {}


def test_times_twice_and_times_that_nobody_expects(made: Any) -> None:
    times = [*months("2014-12", "2015-12"), *months("2015-07", "2015-07")]
    assert _told(_audit(made(times), "every month from 2015 to 2015")) == {
        "expected-doubled": [("/time", "1 month doubled: 2015-07")],
        "expected-extra": [("/time", "1 time not expected: 2014-12-01")],
    }


@pytest.mark.parametrize(("calendar", "size"), [("noleap", 365), ("360_day", 360), ("all_leap", 366)])
def test_calendars(made: Any, calendar: str, size: int) -> None:
    path = made(range(size), calendar=calendar, units="days since 2016-01-01")
    assert _told(_audit(path, "every day from 2016 to 2016")) == {}
    path = made(range(10, size), calendar=calendar, units="days since 2016-01-01")
    told = _told(_audit(path, "every day from 2016 to 2016"))
    message = f"10 of {size} days missing: 2016-01-01 to 2016-01-10"
    assert told == {"expected-missing": [("/t2m", message)]}


def test_eras_in_groups_are_one_and_models_are_not(tmp_path: Path) -> None:
    old, new = months("2015-01", "2015-06"), months("2015-08", "2015-12")
    refs = {**refs_of(old, folder="a/"), **refs_of(new, folder="b/")}
    refs |= {f"{name}/.zgroup": '{"zarr_format": 2}' for name in "ab"}
    told = _told(_audit(write_refs(tmp_path / "eras.json", refs), "every month from 2015 to 2015"))
    assert told == {"expected-missing": [(None, "t2m in 2 groups: 1 of 12 months missing: 2015-07")]}
    refs |= refs_of([*old, *new], folder="b/")
    told = _told(_audit(write_refs(tmp_path / "models.json", refs), "every month from 2015 to 2015"))
    assert [path for path, _ in told["expected-missing"]] == ["/a/t2m", "/b/t2m"]


def test_variables_are_named(made: Any) -> None:
    path = made(months("2015-01", "2015-12"), missing={"t2m": [(2, 0)]})
    told = _told(_audit(path, "every month from 2015 to 2015 of msl,/t2m"))
    assert told == {
        "expected-missing": [
            (None, "no array 'msl' has the dimension 'time'"),
            ("/t2m", "1 of 12 months missing: 2015-03"),
        ]
    }
    assert "no array has the dimension 'step'" in str(_told(_audit(path, "step=2015:2015:month")))


def test_times_that_cannot_be_told_are_not_decided(made: Any) -> None:
    result = _audit(made([1, 2], units="metres"), "every month from 2015 to 2015")
    assert _told(result) == {"expected-undecided": [("/t2m", "'/time' holds no times")]}
    assert result.exit_code() == 2


def test_times_that_are_not_stored_are_no_times(tmp_path: Path) -> None:
    refs = refs_of(TIMES)
    # The second half of the coordinate would read as fill: 2000-01-01, six times.
    refs["time/.zarray"] = array([12], [6])
    refs["time/0"] = "base64:" + b64encode(np.array(TIMES[:6], "<i4").tobytes()).decode()
    told = _told(_audit(write_refs(tmp_path / "set.json", refs), "every month from 2015 to 2015"))
    assert told == {"expected-missing": [("/t2m", "6 of 12 months missing: 2015-07 to 2015-12")]}


# Rules, and other documents

TIMES = months("2015-01", "2015-12")


def _rule(stop: int, key: str = "t2m/{{i}}.0") -> dict[str, Any]:
    return {"key": key, "url": "f{{i}}", "dimensions": {"i": {"stop": stop}}}


def test_rules_say_which_chunks_should_be_there(tmp_path: Path, made: Any) -> None:
    path = made(TIMES, missing={"t2m": [(3, 0), (4, 0)]})
    rules = write_refs(tmp_path / "rules.json", {}, [_rule(10)])
    result = _audit(path, str(rules))
    assert _told(result) == {
        "expected-missing": [("/t2m", "2 of 10 chunks missing: rows 3 to 4 (2015-04-01 to 2015-05-01)")],
        "expected-extra": [("/t2m", "2 chunks not expected: rows 10 to 11")],
    }
    assert result.marks.of("/t2m")["expected-missing"].tolist() == [[3, 0], [4, 0]]
    rules = write_refs(tmp_path / "rules.json", {}, [_rule(15)])
    assert "rows 12 to 14" in str(_told(_audit(path, str(rules))))


def test_another_document_says_so(tmp_path: Path, made: Any) -> None:
    path = made(TIMES, variables=("t2m", "msl"))
    (tmp_path / "b").mkdir()
    other = write_refs(tmp_path / "b/less.json", refs_of(TIMES[:11], variables=("t2m",)))
    told = _told(_audit(other, str(path)))
    assert ("/t2m", "1 of 12 chunks missing: row 11") in told["expected-missing"]
    assert ("/msl", "the array '/msl' is expected and not there") in told["expected-missing"]


def test_a_billion_chunks_by_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hours, across = 876_600, 1200

    def document(name: str, *ranges: tuple[int, int]) -> Path:
        refs = refs_of(range(2), variables=())
        refs["t2m/.zarray"] = (
            f'{{"zarr_format":2,"shape":[{hours},{across}],"chunks":[1,1],"dtype":"<f4","fill_value":null,'
            '"order":"C","compressor":null,"filters":null}'
        )
        gen = [
            {"key": "t2m/{{t}}.{{x}}", "url": "f{{t}}",
             "dimensions": {"t": {"start": start, "stop": stop}, "x": {"stop": across}}}
            for start, stop in ranges
        ]  # fmt: skip
        return write_refs(tmp_path / name, refs, gen)

    looked_at = present_chunks._looked_at

    def of_few(manifest: ExpansionManifest, grid: tuple[int, ...]) -> ChunkSet:
        assert grid == (1,)
        return looked_at(manifest, grid)

    def never(*_: object) -> None:
        raise AssertionError("rules are not expanded")

    monkeypatch.setattr(present_chunks, "_looked_at", of_few)
    for name in ("row", "rows", "find", "find_chunks"):
        monkeypatch.setattr(GenRule, name, never)
    whole = document("whole.json", (0, hours))
    with (
        refbrowser.open(document("gap.json", (0, 500_000), (500_744, hours))) as dataset,
        refbrowser.open(whole) as other,
    ):
        expected = ExpectedChunks(other.document, other.hierarchy)
        (finding,) = hold_chunks(dataset, expected, Held(), JobControl())
    assert finding.message == "892,800 of 1,051,920,000 chunks missing: rows 500,000 to 500,743"


# The file beside the document


def test_what_is_said_beside_the_document_is_found(made: Any) -> None:
    path = made(months("2015-02", "2015-12"))
    assert _told(_audit(path)) == {}
    beside = Path(expect_path(str(path)))
    beside.write_text('{"version": 1, "expect": {"axes": ["every month from 2015 to 2015"]}}')
    assert _told(_audit(path)) == {"expected-missing": [("/t2m", "1 of 12 months missing: 2015-01")]}
    assert _told(_audit(path, str(beside))) == _told(_audit(path))
    # What is asked for counts before it.
    assert _told(_audit(path, "every month from 2015-02 to 2015")) == {}
    beside.write_text('{"version": 1, "expect": {"axes": [{"step": "moon"}]}}')
    ((_, message),) = _told(_audit(path))["expectation-invalid"]
    assert message == "what is said beside the document is not used: 'moon' is not a step of time"
    rules = '{"version": 1, "gen": [{"key": "t2m/{{i}}.0", "url": "x", "dimensions": {"i": {"stop": 12}}}]}'
    beside.write_text(f'{{"version": 1, "expect": {{"rules": {rules}}}}}')
    assert _told(_audit(path)) == {"expected-missing": [("/t2m", "1 of 12 chunks missing: row 11")]}


def test_nonsense_ends_before_anything_is_read(made: Any) -> None:
    path = made(TIMES)
    for words in (
        "every moon from 2015",
        "often",
        "time=2015-13::month",
        "every month from 2016 to 2015",
    ):
        with pytest.raises(RefbrowserError) as caught:
            _audit(path, words)
        assert caught.value.kind is ErrorKind.USAGE
