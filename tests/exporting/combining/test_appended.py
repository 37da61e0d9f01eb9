"""Files added to a reference document: one edit, the same values as if all had been combined at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from test_combined_values import DAYS, month, opened, request

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.combining.appending import append_edit, append_files, append_plan
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("appended")
    for number in range(3):
        month(folder / f"m{number}.nc", number)
        month(folder / f"n{number}.nc", number, "NETCDF4")
    return folder


def test_appending_gives_what_combining_all_gives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in "mn":
        whole = combine(request(folder, f"{kind}?.nc"))
        first = combine(request(folder, f"{kind}[01].nc", target=str(folder / f"{kind}_two.json")))
        before = Path(first.target).read_bytes()
        out = str(folder / f"{kind}_three.json")
        added = [first.target, str(folder / f"{kind}2.nc"), "-o", out, "--json"]
        assert main(["append", *added]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["along"], report["before"], report["after"], report["unread"]) == ("time", 59, 90, 0)
        assert (report["references"], report["compared"] >= 3) == (31, True)
        assert Path(first.target).read_bytes() == before
        ours, theirs = opened(out), opened(whole.target)
        assert ours.identical(theirs)
        if kind == "n":
            continue
        # One step, and in place.
        with open_dataset(OpenRequest(first.target, allow=(str(folder),))) as dataset:
            plan = append_plan(dataset, Combination(sources=(str(folder / f"{kind}2.nc"),)))
            edit = append_edit(dataset, plan)
            assert edit.title == "Append 1 file along time"  # type: ignore[attr-defined]
            assert len(dataset.document.apply(edit).refs) == len(dataset.document.refs) + 31
        assert main(["append", first.target, str(folder / f"{kind}2.nc"), "--along", "time"]) == 0
        assert "59 before, 90 now" in capsys.readouterr().out
        assert opened(first.target).identical(theirs)
        again = Path(first.target).read_bytes()
        # The same month once more lies where the document does.
        assert main(["append", first.target, str(folder / f"{kind}2.nc")]) == 2
        assert "overlap" in capsys.readouterr().err
        assert Path(first.target).read_bytes() == again


def test_what_differs_from_the_document_stops(folder: Path, tmp_path: Path) -> None:
    first = combine(request(folder, "m[01].nc", target=str(tmp_path / "two.json")))
    before = Path(first.target).read_bytes()
    # Two files of one scale, but the document counts.
    month(tmp_path / "a.nc", 2, scale=0.5)
    plans: list[object] = []
    with pytest.raises(RefbrowserError, match=r"scale_factor is 0\.01 in 1 file, but 0\.5 in 1: a"):
        append_files(first.target, Combination(sources=(str(tmp_path / "a.nc"),)), told=plans.append)
    month(tmp_path / "b.nc", 2, units="days since 1999-01-01")
    with pytest.raises(RefbrowserError, match="units"):
        append_files(first.target, Combination(sources=(str(tmp_path / "b.nc"),)))
    shutil.copy(folder / "m0.nc", tmp_path / "c.nc")
    with pytest.raises(RefbrowserError):
        append_files(first.target, Combination(sources=(str(tmp_path / "c.nc"),), concat=("y",)))
    assert Path(first.target).read_bytes() == before
    assert len(plans) == 1


def test_documents_of_others_are_appended_to(folder: Path, tmp_path: Path) -> None:
    """Version 0 with other separators, and coordinates in many chunks."""
    times = np.arange(59, dtype="<f8")
    refs = {".zgroup": '{"zarr_format":2}'}
    with refbrowser.open(str(folder / "n0.nc")) as dataset:
        plain = json.loads(dataset.read_key("t/.zarray"))
        for name in ("t/.zattrs", "time/.zattrs", "y/.zarray", "y/.zattrs", "time_bnds/.zattrs"):
            refs[name] = dataset.read_key(name).decode()
        refs["y/0"] = "base64:AACAPwAAAEA="
    refs["t/.zarray"] = json.dumps({**plain, "shape": [59, 2, 3], "dimension_separator": "/"})
    for name, values in (("time", times), ("time_bnds", np.stack([times, times + 1], 1))):
        chunks = [1] if values.ndim == 1 else [1, 2]
        refs[f"{name}/.zarray"] = json.dumps(
            {"zarr_format": 2, "shape": values.shape, "chunks": chunks, "dtype": "<f8", "compressor": None,
             "filters": None, "fill_value": None, "order": "C"}
        )  # fmt: skip
        for row in range(59):
            key = f"{name}/{'.'.join(map(str, [row, 0][: values.ndim]))}"
            refs[key] = "base64:" + __import__("base64").b64encode(values[row].tobytes()).decode()
    begin = 0
    for number in range(2):
        with refbrowser.open(str(folder / f"n{number}.nc")) as dataset:
            columns = dataset["/t"].node.manifest.columns(
                np.array([[row, 0, 0] for row in range(DAYS[number])])
            )
            for row in range(DAYS[number]):
                found = columns.reference(row)
                refs[f"t/{begin + row}/0/0"] = [found.url, found.offset, found.length]  # type: ignore[assignment, union-attr]
        begin += DAYS[number]
    target = tmp_path / "v0.json"
    target.write_text(json.dumps(refs))
    report = append_files(str(target), Combination(sources=(str(folder / "n2.nc"),), allow=(str(folder),)))
    assert (report.before, report.after, report.unread) == (59, 90, 0)
    ours, theirs = opened(target), opened(combine(request(folder, "n?.nc")).target)
    for name in theirs.variables:
        assert (ours[name].values == theirs[name].values).all(), name
    written = json.loads(target.read_text())
    assert "t/89/0/0" in written
    assert [key for key in written if key.startswith("time/")] == ["time/.zattrs", "time/.zarray", "time/0"]
