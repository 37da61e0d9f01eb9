"""What is learned of a dataset holds all that is there, and tells gaps in what is regular as missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from expected_sets import array, days, months, refs_of, write_refs
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.engine.expectations.axis_times import AxisTimes
from refbrowser.engine.expectations.learning import learn, regular_axis
from refbrowser.engine.jobs import JobControl
from refbrowser.model.calendars import DAY
from refbrowser.model.nodes import ArrayNode
from refbrowser.references.expectations.expectation import Expectation


def _learned(path: Path) -> Expectation:
    with refbrowser.open(path) as dataset:
        return learn(dataset, JobControl()).expectation


def _messages(path: Path) -> list[str]:
    """Write down what is learned, and return what an audit then tells."""
    refbrowser.expect(path)
    found = refbrowser.audit(path).findings
    return [finding.message for finding in found if finding.code.startswith("expect")]


def test_a_regular_axis_with_gaps_is_the_axis(tmp_path: Path) -> None:
    times = [*days("2015-01-01", "2017-02-28"), *days("2017-04-01", "2017-12-31")]
    path = write_refs(tmp_path / "set.json", refs_of(times, variables=("t2m", "msl")))
    (axis,) = _learned(path).axes
    assert axis.text == "every day from 2015-01-01 to 2017-12-31 of /t2m,/msl"
    assert _messages(path) == ["31 of 1,096 days missing: 2017-03"] * 2


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (months("2015-01", "2015-12"), "every month from 2015-01 to 2015-12"),
        ([day + 14 for day in months("2015-01", "2015-12")], "every month from 2015-01-15 to 2015-12-15"),
        (
            [*months("2015-01", "2015-04"), *months("2015-07", "2015-12")],
            "every month from 2015-01 to 2015-12",
        ),
        ([day - 1 for day in months("2015-02", "2016-01")], "every month from 2015-01 to 2015-12"),
        (months("2015-01", "2019-01")[::12], "every year from 2015-01 to 2019-01"),
        (months("2015-01", "2019-01")[::3], "every 3 months from 2015-01 to 2019-01"),
        (range(0, 70, 7), "every week from 2000-01-01 to 2000-03-04"),
        (range(0, 50, 5), "every 5 days from 2000-01-01 to 2000-02-15"),
    ],
)
def test_steps(tmp_path: Path, numbers: Sequence[int], words: str) -> None:
    (axis,) = _learned(write_refs(tmp_path / "set.json", refs_of(numbers))).axes
    assert axis.text == f"{words} of /t2m"


def test_hours_in_other_calendars(tmp_path: Path) -> None:
    refs = refs_of(range(0, 6 * 40, 6), units="hours since 2016-02-25", calendar="noleap")
    path = write_refs(tmp_path / "set.json", refs)
    (axis,) = _learned(path).axes
    assert axis.text == "every 6 hours from 2016-02-25T00:00 to 2016-03-06T18:00 of /t2m"
    assert _messages(path) == []


@given(st.sets(st.integers(0, 200), min_size=2), st.integers(1, 50))
def test_all_times_lie_on_what_is_learned(at: set[int], step: int) -> None:
    instants = np.array(sorted(at), np.int64) * step * DAY
    times = AxisTimes(ArrayNode(path="/time"), "standard", np.arange(len(at)), instants)
    words = regular_axis("time", times)
    if words is not None:
        axis = words.axis("standard")
        slots, is_exact = axis.positions(instants)
        assert (slots[0], slots[-1]) == (0, axis.size - 1)
        assert len(np.unique(slots)) == len(slots)
        assert words.step.months or is_exact.all()


@settings(max_examples=25)
@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1))
def test_rules_that_are_learned_have_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, there: set[tuple[int, int]]
) -> None:
    refs = {"a/.zarray": array((10, 6), (1, 1))}
    refs |= {f"a/{row}.{column}": ["f"] for row, column in there}
    path = write_refs(tmp_path_factory.mktemp("a") / "set.json", refs)
    told = _messages(path)
    if len(there) >= 45:
        # Little of its grid is missing: all of it is expected.
        gone = 60 - len(there)
        assert [message.split(":")[0] for message in told] == (
            [f"{gone} of 60 chunks missing"] if gone else []
        )
    else:
        assert told == []
        # One chunk less is told.
        del refs[f"a/{min(there)[0]}.{min(there)[1]}"]
        write_refs(path, refs)
        found = refbrowser.audit(path).findings
        (message,) = (each.message for each in found if each.code == "expected-missing")
        assert message.startswith(f"1 of {len(there)} chunk")


def test_a_billion_chunks_are_learned_as_a_rule(tmp_path: Path) -> None:
    rule = {"key": "a/{{i}}.{{j}}", "url": "f", "dimensions": {"i": {"stop": 10**6}, "j": {"stop": 10**3}}}
    path = write_refs(tmp_path / "set.json", {"a/.zarray": array((10**6, 10**3), (1, 1))}, [rule])
    rules = _learned(path).rules
    assert rules is not None
    (learned,) = rules["gen"]
    assert learned["dimensions"] == {"i": {"stop": 10**6}, "j": {"stop": 10**3}}


def test_what_follows_no_rule_is_said(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    rows = sorted(chance.choice(40_000, 12_000, replace=False).tolist())
    refs = {"a/.zarray": array((40_000,), (1,)), **{f"a/{row}": ["f"] for row in rows}}
    path = write_refs(tmp_path / "set.json", refs)
    with refbrowser.open(path) as dataset:
        learned = learn(dataset, JobControl())
    assert learned.notes == ("the chunks of /a follow no rules that are short: they are not expected",)
