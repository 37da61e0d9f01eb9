"""A generator of odd sets, one for each mismatch: all are found and named, none is invented on clean ones."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining.combination import ODD, Combination
from refbrowser.exporting.combining.combine import combined_document, gather, plan_of
from refbrowser.exporting.combining.file_set import FileSet
from refbrowser.exporting.combining.properties import looked_at

FILES, ROWS, ODD_ONE = 5, 4, 2
Refs = dict[str, Any]


def text_of(values: np.ndarray[Any, Any]) -> str:
    return "base64:" + base64.b64encode(values.tobytes()).decode()


def array(refs: Refs, name: str, values: Any, dims: list[str], chunks: list[int], **attributes: Any) -> None:
    values = np.asarray(values)
    refs[f"{name}/.zarray"] = {
        "zarr_format": 2, "shape": list(values.shape), "chunks": chunks, "dtype": values.dtype.str,
        "compressor": None, "filters": None, "fill_value": None, "order": "C",
    }  # fmt: skip
    refs[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": dims, **attributes}
    if list(values.shape) == chunks:
        refs[f"{name}/{'.'.join('0' * len(dims))}"] = text_of(values)


def clean_set() -> list[Refs]:
    found = []
    for number in range(FILES):
        refs: Refs = {
            ".zgroup": {"zarr_format": 2},
            ".zattrs": {"title": "a run", "history": f"step {number}"},
        }
        times = np.arange(ROWS, dtype="<i4") + number * ROWS
        array(refs, "time", times, ["time"], [ROWS], units="hours since 2000-01-01", calendar="standard")
        array(refs, "x", np.arange(6, dtype="<f4"), ["x"], [6])
        array(refs, "crs", np.array(0, "<i4"), [], [])
        refs["crs/0"] = text_of(np.array(0, "<i4"))
        values = np.zeros((ROWS, 6), "<i2")
        array(
            refs,
            "t",
            values,
            ["time", "x"],
            [2, 6],
            scale_factor=0.1,
            add_offset=1.0,
            units="K",
            long_name="t",
        )
        refs["t/.zarray"]["compressor"] = {"id": "zlib", "level": 1}
        refs["t/.zarray"]["fill_value"] = -1
        for row in range(2):
            refs[f"t/{row}.0"] = [f"s3://bucket/f{number}.nc", 100 * row, 50]
        found.append(refs)
    return found


def change(key: str, **members: Any) -> Callable[[list[Refs]], None]:
    def made(files: list[Refs]) -> None:
        files[ODD_ONE][key].update(members)

    return made


def times(start: int, step: int = 1, rows: int = ROWS) -> Callable[[list[Refs]], None]:
    def made(files: list[Refs]) -> None:
        files[ODD_ONE]["time/0"] = text_of((np.arange(rows, dtype="<i4") * step) + start)

    return made


def without(name: str) -> Callable[[list[Refs]], None]:
    def made(files: list[Refs]) -> None:
        for key in [key for key in files[ODD_ONE] if key.startswith(f"{name}/")]:
            del files[ODD_ONE][key]

    return made


def transposed(files: list[Refs]) -> None:
    files[ODD_ONE]["t/.zattrs"]["_ARRAY_DIMENSIONS"] = ["x", "time"]
    files[ODD_ONE]["t/.zarray"].update(shape=[6, ROWS], chunks=[6, 2])


def wider(files: list[Refs]) -> None:
    array(files[ODD_ONE], "x", np.arange(7, dtype="<f4"), ["x"], [7])
    files[ODD_ONE]["t/.zarray"].update(shape=[ROWS, 7])


def shorter(files: list[Refs]) -> None:
    """Chunks of two do not meet at the end of three rows."""
    array(files[ODD_ONE], "time", np.arange(3, dtype="<i4") + ODD_ONE * ROWS, ["time"], [3],
          units="hours since 2000-01-01", calendar="standard")  # fmt: skip
    files[ODD_ONE]["t/.zarray"]["shape"] = [3, 6]


def swapped(files: list[Refs]) -> None:
    files[ODD_ONE], files[ODD_ONE + 1] = files[ODD_ONE + 1], files[ODD_ONE]


def gap(files: list[Refs]) -> None:
    del files[ODD_ONE]


#: What is changed, which differences that gives, and what may be seen besides because of it.
BLOCKING: dict[str, tuple[Callable[[list[Refs]], None], set[str]]] = {
    "scale": (change("t/.zattrs", scale_factor=0.2), set()),
    "offset": (change("t/.zattrs", add_offset=0.0), set()),
    "units": (change("t/.zattrs", units="degC"), set()),
    "units of time": (
        change("time/.zattrs", units="minutes since 2000-01-01 12:00"), {"gap", "overlap", "disorder"},
    ),
    "calendar": (change("time/.zattrs", calendar="noleap"), set()),
    "missing value": (change("t/.zattrs", missing_value=-5), set()),
    "valid range": (change("t/.zattrs", valid_max=5), set()),
    "sign": (change("t/.zattrs", _Unsigned="true"), set()),
    "flags": (change("t/.zattrs", flag_values=[1, 2]), set()),
    "type": (change("t/.zarray", dtype="<i4"), set()),
    "byte order": (change("t/.zarray", dtype=">i2"), set()),
    "chunks": (change("t/.zarray", chunks=[2, 3]), set()),
    "codecs": (change("t/.zarray", compressor={"id": "zlib", "level": 9}), set()),
    "codecs of another kind": (change("t/.zarray", compressor={"id": "zstd", "level": 1}), set()),
    "memory order": (change("t/.zarray", order="F"), set()),
    "fill": (change("t/.zarray", fill_value=-9), set()),
    "dimensions": (transposed, {"chunks"}),
    "presence": (without("t"), set()),
    "shape": (wider, set()),
    "values": (lambda files: files[ODD_ONE].update({"x/0": text_of(np.arange(1, 7, dtype="<f4"))}), set()),
    "overlap": (times(ODD_ONE * ROWS - 1), {"gap"}),
    "double": (times((ODD_ONE - 1) * ROWS), {"gap"}),
    "disorder": (swapped, set()),
}  # fmt: skip
HARMLESS = {
    "chunks": change("t/.zarray", chunks=[1, 6]),
    "attribute": change("t/.zattrs", long_name="other"),
    "attribute of the root": change(".zattrs", title="other"),
    "gap": gap,
    "disorder within": times(ODD_ONE * ROWS + 3, -1),
}


def written(files: list[Refs], folder: Path) -> list[str]:
    names = []
    for number, refs in enumerate(files):
        told = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in refs.items()}
        names.append(str(folder / f"f{number}.json"))
        Path(names[-1]).write_text(json.dumps(told))
    return names


class Sets:
    """Odd sets of which only the odd files are opened anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clean = clean_set()
        self.request = Combination(sources=tuple(written(self.clean, folder)), concat=("time",))
        self.opened = gather(self.request)

    def files(self, change: Callable[[list[Refs]], None]) -> FileSet:
        files = copy.deepcopy(self.clean)
        change(files)
        found = FileSet(self.opened.looking)
        names = written(files, self.folder)
        for number, (name, refs) in enumerate(zip(names, files, strict=True)):
            if refs == self.clean[number]:
                found.files.append(self.opened.files[number])
                continue
            with open_dataset(OpenRequest(name)) as dataset:
                found.add(looked_at(dataset, name, found.looking))
        return found


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Sets:
    return Sets(tmp_path_factory.mktemp("odd"))


def test_nothing_is_invented_on_a_clean_set(sets: Sets) -> None:
    plan = plan_of(sets.opened, sets.request)
    assert [(each.kind, each.name) for each in plan.mismatches] == [("attribute", "history")]
    assert {axis.name: axis.size for axis in plan.axes} == {"time": FILES * ROWS}
    assert {each.path: each.role for each in plan.arrays} == {
        "/time": "inlined", "/x": "same", "/crs": "same", "/t": "placed",
    }  # fmt: skip
    # The same units and calendar, written otherwise.
    same = sets.files(change("time/.zattrs", units="hours since 2000-1-1 00:00:00", calendar="gregorian"))
    assert not plan_of(same, sets.request).blocking


@pytest.mark.slow
def test_each_mismatch_is_found_and_names_the_odd_file(sets: Sets) -> None:
    for what, (made, besides) in BLOCKING.items():
        kind = what.partition(" of ")[0]
        files = sets.files(made)
        plan = plan_of(files, sets.request)
        blocking = {each.kind: each for each in plan.blocking}
        assert kind in blocking, what
        assert set(blocking) - besides == {kind}, what
        told = {each.kind for each in plan.mismatches} - besides - {kind}
        assert told <= {"attribute"}, what
        mismatch = blocking[kind]
        odd = ODD_ONE if kind != "disorder" else ODD_ONE + 1
        assert mismatch.files == (files.files[odd].source,), what
        assert f"f{odd}.json" in mismatch.message, what
        assert mismatch.remedies, what
        with pytest.raises(RefbrowserError, match="cannot be combined"):
            combined_document(plan)
        # Each way out that needs no other values leads out.
        for remedy in mismatch.remedies:
            request = remedy.applied(sets.request)
            if remedy.kind in ("inline_var",) or besides:
                continue
            left = {(each.kind, each.path) for each in plan_of(files, request).blocking}
            assert (kind, mismatch.path) not in left, (what, remedy)
        left = plan_of(files, replace(sets.request, leave_out=(ODD,), sort=True))
        assert not left.blocking, what
        assert len(combined_document(left).refs) > FILES, what


def test_harmless_differences_are_told_and_stop_nothing(sets: Sets) -> None:
    for what, made in HARMLESS.items():
        plan = plan_of(sets.files(made), sets.request)
        found = [each for each in plan.mismatches if each.name != "history"]
        assert not plan.blocking
        assert [each.kind for each in found] == [what.partition(" ")[0]], what


def test_one_line_tells_of_many_odd_files(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        for number in (0, 3):
            files[number]["t/.zattrs"]["scale_factor"] = 0.5

    (found,) = plan_of(sets.files(made), sets.request).blocking
    assert found.message == "/t: scale_factor is 0.1 in 3 files, but 0.5 in 2: f0.json, f3.json"
    assert (found.common, found.common_files, found.odd[0].value) == ("0.1", 3, "0.5")
    assert [each.option for each in found.remedies] == [
        "--reencode",
        "--reencode --accept rounding:/t",
        "--split eras",
        "--leave-out odd",
        "--leave-out-var /t",
    ]


def test_what_cannot_be_laid_out_is_an_error(sets: Sets) -> None:
    def twice(files: list[Refs]) -> None:
        array(files[ODD_ONE], "cov", np.zeros((ROWS, ROWS), "<f4"), ["time", "time"], [ROWS, ROWS])

    def two_lengths(files: list[Refs]) -> None:
        array(files[ODD_ONE], "g/s", np.zeros(9, "<f4"), ["time"], [9])

    for made in (twice, two_lengths):
        with pytest.raises(RefbrowserError, match="two lengths, or twice"):
            plan_of(sets.files(made), sets.request)


def test_missing_times_stay_missing_and_scaled_ones_are_refused(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        for refs in files:
            times = np.arange(ROWS, dtype="<i4")
            times[1] = -999
            array(refs, "ref", times, ["time"], [ROWS], units="days since 2000-01-01", missing_value=-999)
        files[ODD_ONE]["ref/.zattrs"]["units"] = "days since 2000-01-02"

    files = sets.files(made)
    plain = plan_of(files, sets.request)
    assert not plain.blocking
    values = np.frombuffer(combined_document(plain).expansion.value("ref/0") or b"", "<i4")
    assert values[ODD_ONE * ROWS :][:4].tolist() == [1, -999, 3, 4]
    anew = replace(sets.request, time_units="hours since 2000-01-01")
    document = combined_document(plan_of(files, anew))
    values = np.frombuffer(document.expansion.value("ref/0") or b"", "<i4")
    assert len(values) == FILES * ROWS
    assert values[:4].tolist() == [0, -999, 48, 72]
    assert values[ODD_ONE * ROWS :][:4].tolist() == [24, -999, 72, 96]

    def scaled(files: list[Refs]) -> None:
        made(files)
        for refs in files:
            refs["ref/.zattrs"]["scale_factor"] = 2.0

    assert [each.kind for each in plan_of(sets.files(scaled), sets.request).blocking] == ["units"]
    with pytest.raises(RefbrowserError, match="have a scale"):
        combined_document(plan_of(sets.files(scaled), anew))


def test_coordinates_of_other_kinds_are_placed(sets: Sets) -> None:
    days = np.array("2001-01-01", "M8[D]").astype("<M8[ns]")
    for kind in (
        lambda n: days + np.timedelta64(n, "h"),
        lambda n: np.array(-n, "<i4"),
        lambda n: np.array(f"{n:02}", "<U2"),
    ):

        def made(files: list[Refs], kind: Callable[[int], Any] = kind) -> None:
            for number, refs in enumerate(files):
                values = np.array([kind(number * ROWS + row) for row in range(ROWS)])
                array(refs, "time", values, ["time"], [ROWS])

        plan = plan_of(sets.files(made), sets.request)
        assert not plan.blocking
        assert [each.kind for each in plan.mismatches] == ["attribute"]
        assert combined_document(plan).expansion.find("time/0") is not None


def scalar(refs: Refs, name: str, value: int) -> None:
    array(refs, name, np.array(value, "<i4"), [], [])
    refs[f"{name}/0"] = text_of(np.array(value, "<i4"))


@pytest.mark.slow
def test_scalars_keep_having_no_dimension_and_lie_along_a_new_one_where_that_is_said(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        for number, refs in enumerate(files):
            scalar(refs, "run", number)
            scalar(refs, "kind", 7)

    files = sets.files(made)
    sets_of = Combination(sources=sets.request.sources, new_dims=("member=list:a,b,c,d,e",))
    looked = gather(sets_of)
    assert len(looked.files) == FILES
    plan = plan_of(looked, sets_of)
    (found,) = [each for each in plan.blocking if each.path == "/run"]
    assert found.message == "/run: each file has other values"
    assert found.remedies[0].option == "--inline-var /run"
    anew = found.remedies[0].applied(sets_of)
    # Times are others in each file as well, and are the first dimension of nothing here.
    anew = replace(anew, leave_out_var=("time", "t"))
    document = combined_document(plan_of(gather(anew), anew))
    told = json.loads(document.expansion.value("run/.zarray") or b"")
    assert told["shape"] == [FILES]
    assert np.frombuffer(document.expansion.value("run/0") or b"", "<i4").tolist() == [0, 1, 2, 3, 4]
    # Valued ones stand in the document, without a dimension.
    assert files.files[0].values.get("/kind") is None
    inlined = Combination(
        sources=sets.request.sources, concat=("time",), inline_var=("kind", "run"), accept=("values",)
    )
    document = combined_document(plan_of(gather(inlined), inlined))
    assert json.loads(document.expansion.value("kind/.zarray") or b"")["shape"] == []


def test_accepted_values_are_those_of_most_files(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        files[0]["x/0"] = text_of(np.arange(6, dtype="<f4") + 9)

    files = sets.files(made)
    (found,) = plan_of(files, sets.request).blocking
    assert found.message == f"/x: {FILES - 1} files have the same values, but not 1: f0.json"
    request = replace(sets.request, accept=("values:/x",))
    document = combined_document(plan_of(files, request))
    assert np.frombuffer(document.expansion.value("x/0") or b"", "<f4").tolist() == list(range(6))


def test_fill_values_of_values_in_the_document_are_not_mixed(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        for number, refs in enumerate(files):
            values = np.array([1, 2, -9 if number == ODD_ONE else -1, 3], "<i4")
            array(refs, "flag", values, ["time"], [ROWS])
            refs["flag/.zarray"]["fill_value"] = -9 if number == ODD_ONE else -1

    (found,) = plan_of(sets.files(made), sets.request).blocking
    assert (found.kind, found.path, len(found.files)) == ("fill", "/flag", 1)

    def unused(files: list[Refs]) -> None:
        made(files)
        array(files[ODD_ONE], "flag", np.zeros(ROWS, "<i4"), ["time"], [ROWS])

    assert not plan_of(sets.files(unused), sets.request).blocking


def test_an_attribute_is_said_for_all(sets: Sets) -> None:
    files = sets.files(change("t/.zattrs", units="degC"))
    request = replace(sets.request, set_attr=("t:units=kelvin", "x:valid_max=[1, 2]"))
    plan = plan_of(files, request)
    assert not plan.blocking
    document = combined_document(plan)
    assert json.loads(document.expansion.value("t/.zattrs") or b"")["units"] == "kelvin"
    assert json.loads(document.expansion.value("x/.zattrs") or b"")["valid_max"] == [1, 2]
    for wrong in (
        "t:scale_factor=2",
        "t:add_offset=0",
        "t:_Unsigned=true",
        "t.units=K",
        "t:units=",
        "units=K",
    ):
        with pytest.raises(RefbrowserError):
            replace(sets.request, set_attr=(wrong,)).check()
    with pytest.raises(RefbrowserError, match="no file has an array 'none'"):
        plan_of(files, replace(sets.request, set_attr=("none:units=K",)))


def test_texts_that_several_files_have_overlap(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        for number, refs in enumerate(files):
            texts = np.array([f"{number - (number == ODD_ONE):02}{row}" for row in range(ROWS)], "<U3")
            texts[0] = f"{number:02}x"
            array(refs, "time", texts, ["time"], [ROWS])

    found = [each for each in plan_of(sets.files(made), sets.request).blocking if each.kind == "overlap"]
    assert [each.message for each in found] == ["time: f2.json overlaps f1.json"]
    request = replace(sets.request, accept=("overlap",))
    assert not plan_of(sets.files(made), request).blocking


def test_files_with_different_variables_are_merged_where_that_is_chosen(sets: Sets) -> None:
    def made(files: list[Refs]) -> None:
        for refs in files[3:]:
            for key in [key for key in refs if key.startswith("t/")]:
                refs[f"u/{key[2:]}"] = refs.pop(key)

    files = sets.files(made)
    found = {each.path: each for each in plan_of(files, sets.request).blocking}
    assert found.keys() == {"/t", "/u"}
    assert [each.option for each in found["/t"].remedies][:2] == ["--merge", "--leave-out odd"]
    assert found["/t"].remedies[0].words == "allow files with different variables"
    assert not plan_of(files, found["/t"].remedies[0].applied(sets.request)).blocking


def test_a_file_that_ends_within_a_chunk_stops_nothing(sets: Sets) -> None:
    plan = plan_of(sets.files(shorter), sets.request)
    told = {each.kind: each.is_blocking for each in plan.mismatches if each.name != "history"}
    assert told == {"gap": False, "chunks": False, "file ends": False}
