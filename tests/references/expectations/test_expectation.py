"""Expectations in words, as JSON, and the nonsense that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.limits import LIMITS
from refbrowser.references.expectations.expectation import Expectation, ExpectedAxis
from refbrowser.references.expectations.file_pattern import FilePattern

WORDS = [
    ("every month from 2015", {"from": "2015", "step": "month"}),
    ("every month from 2015 to 2024-12", {"from": "2015", "to": "2024-12", "step": "month"}),
    (
        "every 6 hours from 2020-01 until now - 5 days of t2m,msl",
        {"from": "2020-01", "step": "6 hours", "late": "5 days", "variables": ["t2m", "msl"]},
    ),
    ("time=2015-01:2024-12:month", {"from": "2015-01", "to": "2024-12", "step": "month"}),
    ("time=2015-01::MS", {"from": "2015-01", "step": "MS"}),
    ("time = every day from 2015", {"from": "2015", "step": "day"}),
    ("valid_time=2015-01:now:P1D of t2m", {"from": "2015-01", "step": "P1D", "variables": ["t2m"]}),
    ("every 2 weeks of /a/t2m", {"step": "2 weeks", "variables": ["/a/t2m"]}),
    ("every 6h from 2020 late 10d", {"from": "2020", "step": "6h", "late": "10d"}),
    (
        "every month from 2015 in data/t2m_{time:%Y-%m}.nc",
        {"from": "2015", "step": "month", "files": "data/t2m_{time:%Y-%m}.nc"},
    ),
    (
        "time=2015-01-01T06:00:2015-02-01T00:00:6h",
        {"from": "2015-01-01T06:00", "to": "2015-02-01T00:00", "step": "6h"},
    ),
]


@pytest.mark.parametrize(("text", "said"), WORDS)
def test_words(text: str, said: dict[str, Any]) -> None:
    axis = ExpectedAxis.parse(text)
    name = "valid_time" if text.startswith("valid_time") else "time"
    assert axis.to_json() == {"name": name, **said}
    assert ExpectedAxis.parse(axis.text) == axis
    assert Expectation.from_json(Expectation((axis,)).to_json()).axes == (axis,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "does not say which times"),
        ("month", "does not say which times"),
        ("every fortnight from 2015", "'fortnight' is not a step"),
        ("every month from 15", "does not say which times"),
        ("every month from 2015 late soon", "does not say which times"),
        ("every month from 2015 late 3 parsecs", "'3 parsecs' is not a step"),
        ("every 999999999 weeks from 2015", "more than 10,000 years"),
        ("every month from 2015 late 999999999 years", "more than 10,000 years"),
        ("every month in data.nc", "tells the year"),
        ("every month in a{tim:%Y}", "'{tim:%Y}' is not known"),
        ("every month in a{time:%Y%q}", "'%q' is not known"),
        ("every month in {time:%Y", "has no other one"),
    ],
)
def test_nonsense_is_refused(text: str, words: str) -> None:
    with pytest.raises(RefbrowserError) as caught:
        ExpectedAxis.parse(text)
    assert caught.value.kind is ErrorKind.USAGE
    assert words in caught.value.message
    assert caught.value.advice


@pytest.mark.parametrize(
    "said",
    [
        {"axis": []},
        {"axes": {}},
        {"rules": []},
        {"axes": [1]},
        {"axes": [{"step": 1}]},
        {"axes": [{"step": "month", "colour": "red"}]},
        {"axes": [{"step": "month", "variables": "t2m"}]},
        {"axes": [{"step": "moon"}]},
        {"axes": [{"from": "2015"}]},
    ],
)
def test_files_of_another_form_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(RefbrowserError) as caught:
        Expectation.from_json(said)
    assert caught.value.kind is ErrorKind.SCHEMA


def test_a_file_says_axes_in_words_too() -> None:
    said = Expectation.from_json({"axes": ["every month from 2015"]})
    assert said == Expectation.parse(["every month from 2015"])
    many = {"axes": ["every month from 2015"] * (LIMITS.expect_axes + 1)}
    with pytest.raises(RefbrowserError, match="expect_axes"):
        Expectation.from_json(many)


def test_all_may_be_late() -> None:
    (axis,) = Expectation.parse(["every month from 2015 late 1d"]).with_late("2 days").axes
    assert axis.late_length == 2 * 86400 * 10**6


@pytest.mark.parametrize(
    ("pattern", "path", "date"),
    [
        ("d/t2m_{time:%Y-%m}.nc", "t2m_2015-03.nc", "2015-03"),
        ("d/t2m_{time:%Y-%m}.nc", "t2m_2015-3.nc", None),
        ("d/t2m_{time:%Y-%m}.nc", "d/t2m_2015-03.nc", None),
        ("{time:%Y}/{time:%m}/a_*.nc", "2015/03/a_v2.nc", "2015-03"),
        ("{time:%Y}/a_{time:%Y%m%d%H}.nc", "2015/a_2015030406.nc", "2015-03-04T06"),
        ("{time:%Y}/a_{time:%Y%m%d%H}.nc", "2014/a_2015030406.nc", None),
        ("{variable}_{time:%Y%j}.nc", "t2m_2015032.nc", "2015+31"),
        ("a[1]_{time:%Y}.nc", "a[1]_2015.nc", "2015"),
        ("*{time:%Y}*.nc", "run1234_2015b.nc", "2015"),
        ("{variable}_*_{time:%Y-%m}_*.nc", "t2m_x_y_2015-03_v1_final.nc", "2015-03"),
        ("{variable}_*_{time:%Y}.nc", "_x_2015.nc", None),
        ("{variable}{variable}{time:%Y}", "a2015", None),
        ("**{time:%Y}", "2015", "2015"),
        # Each of these was tried in more ways than there are atoms.
        (f"{'*a' * 40}b{{time:%Y}}", "a" * 250, None),
        (f"{'{variable}' * 40}b{{time:%Y}}", "a" * 250, None),
    ],
)
def test_dates_in_names(pattern: str, path: str, date: str | None) -> None:
    assert FilePattern.parse(pattern, "time").date_of(path) == date


def test_the_folder_of_a_pattern_has_no_dates() -> None:
    assert FilePattern.parse("s3://b/era5/{time:%Y}/x_{time:%m}.nc", "time").folder == "s3://b/era5/"
    assert FilePattern.parse("x_{time:%Y}.nc", "time").folder == ""
