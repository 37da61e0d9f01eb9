"""On a regular axis holes stay holes, are told, and read as missing, as xarray's reindex has it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from daily_documents import EPOCH, add, days_of, document, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine, gather, plan_of

DAILY = "time=2015-12-30:2016-03-02:1D"


def request_of(
    files: list[Path], target: Path | str = "x.json", axis: str = DAILY, **more: Any
) -> Combination:
    return Combination(sources=tuple(map(str, files)), target=str(target), axis=(axis,), force=True, **more)


def planned(files: list[Path], **more: Any) -> Any:
    request = request_of(files, **more)
    return plan_of(gather(request), request)


def blocking(files: list[Path], **more: Any) -> dict[str, str]:
    return {each.kind: each.message for each in planned(files, **more).blocking}


@pytest.fixture
def months(tmp_path: Path) -> list[Path]:
    """Return December's last days and February: January is missing."""
    return [
        document(tmp_path / "dec.json", days_of("2015-12-30", 2)),
        document(tmp_path / "feb.json", days_of("2016-02-01", 29)),
    ]


def test_a_missing_month_stays_a_hole(months: list[Path], tmp_path: Path) -> None:
    report = combine(request_of(months, tmp_path / "all.json"))
    (hole,) = report.holes[:1]
    assert str(hole) == "time: 33 of 64 times are missing: 2016-01-01 to 2016-01-31, 2016-03-01 to 2016-03-02"
    assert hole.runs == (("2016-01-01", "2016-01-31"), ("2016-03-01", "2016-03-02"))
    assert report.sizes == {"time": 64}
    assert next(report.lines()).split(": ")[2].startswith("time 64 (33 missing)")
    made = refbrowser.open(tmp_path / "all.json")
    assert made["time"][...].tolist() == days_of("2015-12-30", 64).tolist()
    assert made["t"].chunks == (1, 3)
    found = np.isnan(made["t"][...]).all(axis=1)
    assert found.tolist() == [False] * 2 + [True] * 31 + [False] * 29 + [True] * 2
    refs = json.loads((tmp_path / "all.json").read_text())["refs"]
    assert "t/1.0" in refs
    assert "t/2.0" not in refs, "the chunks of a hole are absent"


def test_who_names_an_axis_need_not_name_the_dimension_again(months: list[Path]) -> None:
    assert request_of(months).concat == ("time",)
    assert request_of(months, concat=("time",)).concat == ("time",)


def test_ends_may_be_those_of_the_files(months: list[Path]) -> None:
    plan = planned(months, axis="time=::1D")
    assert [axis.size for axis in plan.axes] == [62]
    assert [each.text for each in plan.holes] == ["2016-01-01 to 2016-01-31"]


def test_a_missing_month_is_a_chunk_as_long_as_the_month(tmp_path: Path) -> None:
    files = [
        document(tmp_path / f"{first}.json", days_of(first, days), chunk=99)
        for first, days in (("2016-01-01", 31), ("2016-04-01", 30), ("2016-05-01", 31))
    ]
    report = combine(request_of(files, tmp_path / "all.json", axis="time=2016-01:2016-05:1D"))
    made = refbrowser.open(tmp_path / "all.json")
    assert made["t"].chunks == ((31, 29, 31, 30, 31), 3)
    assert [each.text for each in report.holes] == ["2016-02-01 to 2016-03-31"]
    assert np.isnan(made["t"][...]).all(axis=1).nonzero()[0].tolist() == list(range(31, 91))


def test_files_in_any_order_lie_where_their_times_say(months: list[Path], tmp_path: Path) -> None:
    combine(request_of(months, tmp_path / "one.json"))
    combine(request_of(months[::-1], tmp_path / "other.json"))
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "other.json"))
    assert one == other


def test_a_variable_that_a_file_lacks_is_a_hole_of_it(months: list[Path], tmp_path: Path) -> None:
    two = {"t": {"dtype": "<f4", "fill": "NaN"}, "p": {"dtype": "<i2", "fill": -1}}
    one = document(tmp_path / "jan.json", days_of("2016-01-01", 31), variables=two)
    report = combine(request_of([*months, one], tmp_path / "all.json"))
    assert [str(each) for each in report.holes] == [
        "time: 2 of 64 times are missing: 2016-03-01 to 2016-03-02",
        "/p: of time 31 of 64 times are missing: 2015-12-30 to 2015-12-31, 2016-02-01 to 2016-02-29",
    ]
    made = refbrowser.open(tmp_path / "all.json")
    assert (made["p"][...] == -1).all(axis=1).sum() == 33
    assert any(each.kind == "presence" for each in report.mismatches)


@pytest.mark.parametrize(
    ("how", "mark", "attribute"),
    [
        ({"dtype": "<f4", "v3": True}, np.nan, True),
        ({"dtype": "<f4", "v3": True, "fill": "NaN"}, np.nan, False),
        ({"dtype": "<i2", "v3": True}, -32767, True),
        ({"dtype": "<i2", "v3": True, "_FillValue": -5}, -5, True),
        ({"dtype": "<i2", "v3": True, "fill": -5, "_FillValue": -5}, -5, True),
        ({"dtype": "<i4"}, -2147483647, False),
        ({"dtype": "<f8"}, np.nan, False),
        ({"dtype": "<i2", "fill": 7}, 7, False),
        ({"dtype": "|u1", "fill": 9}, 9, False),
    ],
)
def test_what_a_hole_reads_as_means_missing(
    tmp_path: Path, how: dict[str, Any], mark: float, attribute: bool
) -> None:
    xarray = pytest.importorskip("xarray")
    v3 = how.pop("v3", False)
    files = [
        document(tmp_path / f"{number}.json", days_of(first, 2), v3=v3, variables={"t": how})
        for number, first in enumerate(("2015-12-30", "2016-01-03"))
    ]
    combine(request_of(files, tmp_path / "all.json", axis="time=::1D"))
    made = refbrowser.open(tmp_path / "all.json")
    raw = made["t"][2:4]
    assert np.array_equal(raw, np.full((2, 3), mark, raw.dtype), equal_nan=True)
    assert ("_FillValue" in made["t"].attrs) is attribute
    with xarray.open_dataset(tmp_path / "all.json", engine="refbrowser") as dataset:
        assert dataset.t.isnull().values.all(axis=1)[2:4].all()


def test_where_every_value_is_one_it_is_asked(tmp_path: Path) -> None:
    files = [
        document(tmp_path / f"{number}.json", days_of(first, 2), variables={"t": {"dtype": "|u1"}})
        for number, first in enumerate(("2015-12-30", "2016-01-03"))
    ]
    plan = planned(files)
    assert [each.message for each in plan.blocking] == [
        "/t: no value means missing, so that holes would read as values"
    ]
    options = [each.option for each in plan.blocking[0].remedies]
    assert options == ["--set-attr /t:_FillValue=255", "--leave-out-var /t", "--accept holes:/t"]
    combine(request_of(files, tmp_path / "all.json", set_attr=("/t:_FillValue=255",)))
    assert (refbrowser.open(tmp_path / "all.json")["t"][2:4] == 255).all()
    combine(request_of(files, tmp_path / "all.json", accept=("holes:/t",)))
    assert (refbrowser.open(tmp_path / "all.json")["t"][2:4] == 0).all()


# Times that are not on the axis


def hourly(path: Path, hours: list[float]) -> Path:
    return document(path, np.array(hours), units="hours since 2016-01-01", time_type="<f8")


def test_times_off_the_axis_are_named_and_refused(tmp_path: Path) -> None:
    files = [hourly(tmp_path / "a.json", [0, 6]), hourly(tmp_path / "b.json", [13, 18])]
    told = planned(files, axis="time=::6h").blocking
    assert [each.kind for each in told] == ["off axis"]
    assert told[0].message == (
        "time: times are not on the axis of step '6h', such as 2016-01-01T13:00:00, in 1: b.json"
    )
    assert [each.option for each in told[0].remedies] == [
        "--accept jitter:time", "--accept within:time", f"--leave-out {tmp_path / 'b.json'}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("accept", "hours", "expected"),
    [
        ("jitter:time", [11.9, 18.2], [0, 6, 12, 18]),
        ("within:time", [14, 23], [0, 6, 12, 18]),
        ("within", [20, 29], [0, 6, 12, 18, 24]),
    ],
)
def test_they_are_taken_as_it_is_said(
    tmp_path: Path, accept: str, hours: list[float], expected: list[float]
) -> None:
    files = [hourly(tmp_path / "a.json", [0, 6]), hourly(tmp_path / "b.json", hours)]
    combine(request_of(files, tmp_path / "all.json", axis="time=2016-01-01::6h", accept=(accept,)))
    made = refbrowser.open(tmp_path / "all.json")
    assert made["time"][...].tolist() == expected
    rows = [0, 1, len(expected) - 2, len(expected) - 1]
    assert np.array_equal(made["t"][...][rows[2:]], values_of(np.array(hours), "f4"))


def test_times_outside_the_axis_and_doubles_are_refused(tmp_path: Path) -> None:
    files = [hourly(tmp_path / "a.json", [0, 6]), hourly(tmp_path / "b.json", [6, 12])]
    assert list(blocking(files, axis="time=::6h")) == ["double"]
    assert list(blocking(files, axis="time=2016-01-01T06:00::6h")) == ["outside"]
    files = [hourly(tmp_path / "a.json", [0, 6]), hourly(tmp_path / "b.json", [18, 12])]
    assert list(blocking(files, axis="time=::6h")) == ["hole"]


def test_whole_days_cannot_say_hours(tmp_path: Path) -> None:
    files = [document(tmp_path / f"{day}.json", days_of(f"2016-01-0{day}", 1)) for day in (1, 3)]
    (told,) = planned(files, axis="time=::6h").blocking
    assert told.message == "time: whole days cannot say the times of the axis of step '6h'"
    assert [each.option for each in told.remedies] == ["--time-units 'hours since 2000-01-01'"]
    plan = planned(files, axis="time=::6h", time_units="hours since 2000-01-01")
    assert (plan.blocking, plan.axes[0].size) == ([], 9)


def test_what_has_no_times_is_no_axis(tmp_path: Path) -> None:
    files = [document(tmp_path / f"{day}.json", days_of(f"2016-01-0{day}", 1), units="1") for day in (1, 3)]
    with pytest.raises(RefbrowserError, match="no times") as caught:
        planned(files)
    assert caught.value.kind is ErrorKind.USAGE


def test_an_axis_too_long_for_a_document_is_refused(months: list[Path]) -> None:
    with pytest.raises(RefbrowserError) as caught:
        planned(months, axis="time=0001:9999:1s")
    assert caught.value.kind is ErrorKind.BUDGET


def test_a_new_dimension_may_be_a_regular_axis(tmp_path: Path) -> None:
    for month in (1, 2, 5):
        refs: dict[str, Any] = {".zgroup": {"zarr_format": 2}}
        add(refs, "t", np.arange(3, dtype="<f4"), (3,), dims=("x",), fill="NaN")
        (tmp_path / f"m2016-0{month}.json").write_text(json.dumps({"version": 1, "refs": refs}))
    files = sorted(tmp_path.glob("m*.json"))
    new = (r"time=name:m(?P<year>\d{4})-(?P<month>\d\d)",)
    report = combine(request_of(files, tmp_path / "all.json", axis="time=2016:2016-06:month", new_dims=new))
    assert [str(each) for each in report.holes] == [
        "time: 3 of 6 times are missing: 2016-03 to 2016-04, 2016-06"
    ]
    made = refbrowser.open(tmp_path / "all.json")
    assert np.isnan(made["t"][...]).all(axis=1).tolist() == [False, False, True, True, False, True]


@pytest.mark.parametrize("calendar", ["noleap", "360_day"])
def test_other_calendars(tmp_path: Path, calendar: str) -> None:
    files = [
        document(tmp_path / f"{number}.json", np.array([first, first + 1]), calendar=calendar)
        for number, first in enumerate((57, 60))
    ]
    plan = planned(files, axis="time=::1D")
    assert [each.text for each in plan.holes] == ["2000-03-01" if calendar == "noleap" else "2000-02-30"]


# As xarray has it


@st.composite
def sets(draw: st.DrawFn) -> tuple[list[tuple[int, int]], dict[str, dict[str, Any]], dict[str, Any]]:
    """Draw files by first day and length, with days between some of them, their variables, and how."""
    files, day = [], draw(st.integers(5800, 5860))
    for _ in range(draw(st.integers(1, 4))):
        day += draw(st.sampled_from([0, 0, 1, 5, 40]))
        length = draw(st.integers(1, 4))
        files.append((day, length))
        day += length
    v3 = draw(st.booleans())
    kinds = [
        {"dtype": "<f4", "fill": "NaN"}, {"dtype": "<i2", "fill": -9, "_FillValue": -9},
        {"dtype": "<i2", "scale_factor": 0.5, "add_offset": 2.0, "fill": -9, "_FillValue": -9},
        {"dtype": "<f8"} if not v3 else {"dtype": "<i4", "_FillValue": -1},
    ]  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(range(4)), min_size=1, max_size=3, unique=True))
    return (
        files,
        {f"v{at}": kinds[at] for at in chosen},
        {"v3": v3, "chunk": draw(st.sampled_from([1, 1, 2, 9]))},
    )


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(sets(), st.data())
def test_values_are_those_of_reindex(
    tmp_path_factory: pytest.TempPathFactory, drawn: Any, data: st.DataObject
) -> None:
    xarray = pytest.importorskip("xarray")
    folder = tmp_path_factory.mktemp("set")
    parts, variables, how = drawn
    files = []
    for number, (first, length) in enumerate(parts):
        gone = data.draw(st.sampled_from([None, None, *list(variables)[1:]])) if number else None
        own = {name: each for name, each in variables.items() if name != gone}
        files.append(
            document(folder / f"f{number}.json", np.arange(first, first + length), variables=own, **how)
        )
    first, last = (EPOCH + timedelta(days=day) for day in (parts[0][0] - 2, sum(parts[-1]) + 3))
    request = request_of(files, folder / "all.json", axis=f"time={first}:{last}:1D")
    if plan_of(gather(request), request).blocking:
        # Chunks of two days that do not meet.
        assert how["chunk"] != 1
        return
    combine(request)
    datasets = [xarray.open_dataset(each, engine="refbrowser").load() for each in files]
    whole = xarray.concat(datasets, "time", data_vars="all", coords="minimal", compat="override")
    import pandas

    expected = whole.reindex(time=pandas.date_range(first, last))
    with xarray.open_dataset(folder / "all.json", engine="refbrowser") as found:
        assert found.time.equals(expected.time)
        for name in variables:
            assert np.array_equal(found[name].values, expected[name].values, equal_nan=True), name
