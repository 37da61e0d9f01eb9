"""Files that come late fill the holes of a document; what is missing behind it stays a hole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from daily_documents import days_of, document, values_of

import refbrowser
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.appending.appending import append_edit, append_plan
from refbrowser.exporting.combining.combination import Combination
from refbrowser.model.time_axis import AxisWords

FEBRUARY = "time=2016-01-30:2016-03-02:1D"


def holes_in(path: Path) -> list[int]:
    """Return the positions of times at which nothing is stored; the others have the values of their days."""
    made = refbrowser.open(path)
    found, days = made["t"][...], made["time"][...]
    missing = np.isnan(found).all(axis=1)
    assert np.array_equal(found[~missing], values_of(days[~missing], "f4"))
    return missing.nonzero()[0].tolist()


def planned(path: Path, *files: Path, **more: Any) -> Any:
    with open_dataset(OpenRequest(str(path))) as dataset:
        return append_plan(dataset, Combination(sources=tuple(map(str, files)), **more))


def blocking(path: Path, *files: Path, **more: Any) -> dict[str, str]:
    return {each.kind: each.message for each in planned(path, *files, **more).blocking}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the document of the days around February 2016, which is missing."""
    files = [
        document(tmp_path / "jan.json", days_of("2016-01-30", 2)),
        document(tmp_path / "mar.json", days_of("2016-03-01", 2)),
    ]
    refbrowser.combine(files, tmp_path / "all.json", axis=FEBRUARY)
    return tmp_path / "all.json"


def test_a_late_file_fills_its_hole(path: Path, tmp_path: Path) -> None:
    assert holes_in(path) == list(range(2, 31))
    before = json.loads(path.read_text())["refs"]
    found = refbrowser.append(path, document(tmp_path / "feb.json", days_of("2016-02-01", 29)))
    assert (found.before, found.after, found.references) == (33, 33, 29)
    assert [each.message for each in found.mismatches] == ["feb.json: fills 29 missing times"]
    assert holes_in(path) == []
    after = json.loads(path.read_text())["refs"]
    assert {key: after[key] for key in before} == before, "nothing else changes"


def test_parts_of_a_hole_are_filled_and_it_is_one_step(path: Path, tmp_path: Path) -> None:
    files = [
        document(tmp_path / "b.json", days_of("2016-02-20", 3)),
        document(tmp_path / "a.json", days_of("2016-02-02", 4)),
    ]
    with open_dataset(OpenRequest(str(path))) as dataset:
        edit = append_edit(dataset, planned(path, *files))
    assert edit.title == "Fill 7 missing times with 2 files"  # type: ignore[attr-defined]
    refbrowser.append(path, files)
    assert holes_in(path) == [2, *range(7, 21), *range(24, 31)]


def test_where_values_are_a_file_is_refused(path: Path, tmp_path: Path) -> None:
    partly = document(tmp_path / "partly.json", days_of("2016-02-28", 4))
    assert blocking(path, partly) == {
        "overlap": "time: partly.json overlaps all.json, which has values of /t at 2016-03-01 to 2016-03-02"
    }
    there = document(tmp_path / "there.json", days_of("2016-03-01", 2))
    assert blocking(path, there)["overlap"].endswith("at 2016-03-01 to 2016-03-02")
    assert not blocking(path, there, accept=("overlap",)), "then it lies behind, as without holes"
    before = path.read_bytes()
    with pytest.raises(RefbrowserError, match="overlaps"):
        refbrowser.append(path, partly)
    assert path.read_bytes() == before


def test_late_files_do_not_overlap_each_other(path: Path, tmp_path: Path) -> None:
    files = [document(tmp_path / f"{day}.json", days_of(f"2016-02-0{day}", 4)) for day in (2, 4)]
    assert blocking(path, *files) == {"overlap": "time: 4.json overlaps 2.json"}


def test_chunks_of_a_file_are_those_of_the_document(path: Path, tmp_path: Path) -> None:
    two = document(tmp_path / "two.json", days_of("2016-02-01", 4), chunk=2)
    assert "chunks are 1 × 3" in blocking(path, two)["chunks"]
    refbrowser.append(path, two, reencode=True)
    assert holes_in(path) == list(range(6, 31))


def month(folder: Path, name: str, first: str, days: int) -> Path:
    how = {"t": {"dtype": "<f4", "fill": "NaN"}}
    return document(folder / f"{name}.json", days_of(first, days), v3=True, chunk=99, variables=how)


def test_a_month_is_a_chunk(tmp_path: Path) -> None:
    files = [
        month(tmp_path, name, first, days)
        for name, first, days in (("jan", "2016-01-01", 31), ("apr", "2016-04-01", 30))
    ]
    path = tmp_path / "all.json"
    refbrowser.combine(files, path, axis="time=2016-01:2016-04:1D")
    refbrowser.append(path, month(tmp_path, "jul", "2016-07-01", 31), axis="time=1D")
    assert refbrowser.open(path)["t"].chunks == ((31, 29, 31, 30, 31, 30, 31), 3)
    refbrowser.append(path, month(tmp_path, "jun", "2016-06-01", 30))
    assert holes_in(path) == [*range(31, 91), *range(121, 152)]
    half = month(tmp_path, "half", "2016-02-01", 14)
    (told,) = blocking(path, half).values()
    assert told.endswith("chunks of 1: half.json have other borders than those of the document there")
    refbrowser.append(path, month(tmp_path, "feb", "2016-02-01", 29))
    assert holes_in(path) == [*range(60, 91), *range(121, 152)]


def test_what_is_missing_behind_a_document_stays_missing(path: Path, tmp_path: Path) -> None:
    april = document(tmp_path / "apr.json", days_of("2016-04-01", 2))
    (gap,) = [each.message for each in planned(path, april).mismatches]
    assert gap.startswith("time: about 29 values are missing between all.json and apr.json ")
    assert gap.endswith("(--axis time=day keeps them as missing)")
    found = refbrowser.append(path, april, axis="time=day")
    assert [each.message for each in found.mismatches] == [
        "time: 29 of 31 new times are missing: 2016-03-03 to 2016-03-31"
    ]
    assert (found.before, found.after) == (33, 64)
    assert holes_in(path) == [*range(2, 31), *range(33, 62)]
    assert refbrowser.open(path)["time"][...].tolist() == days_of("2016-01-30", 64).tolist()


def test_a_document_that_was_joined_end_to_end_has_no_axis(tmp_path: Path) -> None:
    files = [document(tmp_path / f"{day}.json", days_of(f"2016-01-0{day}", 2)) for day in (1, 5)]
    refbrowser.combine(files, tmp_path / "all.json", concat="time")
    late = document(tmp_path / "9.json", days_of("2016-01-09", 2))
    with pytest.raises(RefbrowserError, match="of the document has 1 gap itself"):
        planned(tmp_path / "all.json", late, axis=("time=1D",))


def test_a_document_gets_a_value_that_means_missing(tmp_path: Path) -> None:
    how = {"t": {"dtype": "<i2", "fill": 0, "_FillValue": -9}}
    path = tmp_path / "all.json"
    files = [
        document(tmp_path / f"{day}.json", days_of(f"2016-01-0{day}", 2), v3=True, variables=how)
        for day in (1, 5, 9)
    ]
    refbrowser.combine(files[0], path, concat="time")
    refbrowser.append(path, files[1], axis="time=1D")
    assert (refbrowser.open(path)["t"][2:4] == -9).all()


def test_chunks_that_read_as_values_go_on_doing_so(tmp_path: Path) -> None:
    how = {"t": {"dtype": "<i2", "fill": 0, "_FillValue": -9}}
    files = [
        document(tmp_path / f"{day}.json", days_of(f"2016-01-0{day}", 2), v3=True, variables=how)
        for day in (1, 5)
    ]
    said = json.loads(files[0].read_text())
    del said["refs"]["t/c/0/0"]
    files[0].write_text(json.dumps(said))
    assert list(blocking(*files, axis=("time=1D",))) == ["holes"]


def test_an_axis_is_said_by_its_step() -> None:
    assert AxisWords.parse("time=6h") == AxisWords.parse("time=::6h")
