"""Files added to a reference document: one edit, the same values as if all had been combined at once."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from servers.http_server import HttpServer
from test_combined_values import DAYS, month, opened, request

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.opening import OpenRequest, open_dataset
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.appending.appending import append_edit, append_files, append_plan
from refbrowser.exporting.combining.combination import Combination
from refbrowser.exporting.combining.combine import combine
from refbrowser.exporting.targets.reference_options import ReferenceOptions
from refbrowser.formats.parquet_references import update_parquet


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("appended")
    for number in range(3):
        month(folder / f"m{number}.nc", number)
        month(folder / f"n{number}.nc", number, "NETCDF4")
    return folder


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_file_with_other_variables_is_not_merged_into_a_document(folder: Path, tmp_path: Path) -> None:
    first = combine(request(folder, "m[01].nc", target=str(tmp_path / "two.json")))
    shutil.copy(folder / "m2.nc", tmp_path / "other.nc")
    with netCDF4.Dataset(tmp_path / "other.nc", "a") as file:
        name = next(name for name, each in file.variables.items() if len(each.dimensions) > 1)
        file.renameVariable(name, "other")
    with open_dataset(OpenRequest(first.target, allow=(str(folder), str(tmp_path)))) as dataset:
        plan = append_plan(dataset, Combination(sources=(str(tmp_path / "other.nc"),)))
    lacking = [each for each in plan.blocking if each.kind == "presence" and each.path == f"/{name}"]
    assert lacking
    assert "merge" not in {remedy.kind for each in lacking for remedy in each.remedies}


@pytest.mark.slow
def test_what_differs_from_the_document_stops(folder: Path, tmp_path: Path) -> None:
    first = combine(request(folder, "m[01].nc", target=str(tmp_path / "two.json")))
    before = Path(first.target).read_bytes()
    # Two files of one scale, but the document counts.
    month(tmp_path / "a.nc", 2, scale=0.5)
    plans: list[object] = []
    with pytest.raises(RefbrowserError, match=r"scale_factor is 0\.01 in 1 file, but 0\.5 in 1: a"):
        append_files(first.target, Combination(sources=(str(tmp_path / "a.nc"),)), told=plans.append)
    month(tmp_path / "b.nc", 2, units="months since 1999-01-01")
    with pytest.raises(RefbrowserError, match="units"):
        append_files(first.target, Combination(sources=(str(tmp_path / "b.nc"),)))
    shutil.copy(folder / "m0.nc", tmp_path / "c.nc")
    with pytest.raises(RefbrowserError):
        append_files(first.target, Combination(sources=(str(tmp_path / "c.nc"),), concat=("y",)))
    assert Path(first.target).read_bytes() == before
    assert len(plans) == 1


@pytest.mark.slow
def test_times_of_another_date_are_counted_as_those_of_the_document(folder: Path, tmp_path: Path) -> None:
    first = combine(request(folder, "m[01].nc", target=str(tmp_path / "two.json")))
    with refbrowser.open(first.target) as dataset:
        before = dataset["/time"]
        units, kind = before.attrs["units"], before.dtype
    month(tmp_path / "c.nc", 2, units="days since 2001-03-01", shift=59)
    append_files(first.target, Combination(sources=(str(tmp_path / "c.nc"),)))
    with refbrowser.open(first.target) as dataset:
        after = dataset["/time"]
        assert (after.attrs["units"], after.dtype) == (units, kind)
        assert after[:].tolist() == list(range(90))


@pytest.mark.slow
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


# Along what files do not have


def run_file(folder: Path, number: int) -> str:
    path = folder / f"run{number:03d}.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.realization, file.model = np.int32(number), f"m{number}"
        file.createDimension("x", 3)
        file.createVariable("x", "f4", ("x",))[:] = np.arange(3)
        file.createVariable("t", "f4", ("x",))[:] = np.arange(3) + 10 * number
        file.createVariable("member", "i4", ())[...] = number
    return str(path)


@pytest.mark.slow
def test_files_are_added_along_a_dimension_that_only_the_document_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [run_file(tmp_path, number) for number in range(1, 5)]
    target = tmp_path / "runs.json"
    for first, then in (
        (r"run=name:run(\d+)", r"run=name:run(\d+)"),
        ("run=attribute:model", "run=attribute:model"),
        ("run=variable:member", "run=variable:member"),
        ("run=list:a,b,c", "run=list:d"),
    ):
        whole = [r.replace("a,b,c", "a,b,c,d") for r in (first,)]
        how: dict[str, Any] = {"force": True, "inline_var": "member", "allow": [str(tmp_path)]}
        how["options"] = ReferenceOptions(absolute=True)
        refbrowser.combine(files, tmp_path / "whole.json", new_dims=whole, **how)
        refbrowser.combine(files[:3], target, new_dims=first, **how)
        before = target.read_bytes()
        for more in ([], ["--along", "run"]):
            if "list" not in first:
                # The document has recorded where values come from.
                assert main(["append", str(target), files[3], *more]) == 0
                assert opened(target).identical(opened(tmp_path / "whole.json")), first
                target.write_bytes(before)
                continue
            # It does not guess, and says what to say.
            assert main(["append", str(target), files[3], *more]) == 2
            assert "--new-dim run=name:run" in capsys.readouterr().err
        assert target.read_bytes() == before
        capsys.readouterr()
        assert main(["append", str(target), files[3], "--new-dim", then]) == 0, first
        assert "run: 3 before, 4 now" in capsys.readouterr().out
        ours, theirs = opened(target), opened(tmp_path / "whole.json")
        assert ours.identical(theirs), first
        assert ours["t"].shape == (4, 3)
        assert ours["member"].values.tolist() == [1, 2, 3, 4]
        # The same value again.
        assert main(["append", str(target), files[3], "--new-dim", then]) == 2
        assert "overlap" in capsys.readouterr().err
    for wrong, told in (
        (r"run=name:walk(\d+)", "gives no value for 1: run004.nc"),
        ("other=list:4", "has no dimension 'other'"),
    ):
        assert main(["append", str(target), files[3], "--new-dim", wrong]) == 2
        assert told in capsys.readouterr().err
    refbrowser.combine(files[:3], target, new_dims=r"run=name:run(\d+)", **how)
    assert main(["append", str(target), files[3], "--new-dim", "run=list:four"]) == 2
    assert "'four' is not a number" in capsys.readouterr().err


# Documents of other kinds


def values_of(path: object, *allow: object) -> dict[str, Any]:
    with refbrowser.open(str(path), allow=[str(each) for each in allow]) as dataset:
        return {name: np.asarray(dataset[name][:]) for name in ("/t", "/time", "/time_bnds", "/y")}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, values in expected.items():
        assert np.array_equal(found[name], values), name


@pytest.fixture(scope="module")
def whole(folder: Path) -> dict[str, Any]:
    return values_of(combine(request(folder, "n?.nc", target=str(folder / "whole.json"))).target)


@pytest.mark.slow
def test_of_a_parquet_folder_only_what_changes_is_written(
    folder: Path, whole: dict[str, Any], tmp_path: Path
) -> None:
    target = tmp_path / "two.parq"
    first = [str(folder / f"n{number}.nc") for number in range(2)]
    refbrowser.combine(first, target, concat="time", format="refs-parquet")
    (target / "note.txt").write_text("mine")
    before = {path: path.stat().st_ino for path in target.rglob("*") if path.is_file()}
    report = append_files(str(target), Combination(sources=(str(folder / "n2.nc"),)))
    assert (report.before, report.after, report.unread) == (59, 90, 0)
    assert_same(values_of(target, folder), whole)
    after = {path: path.stat().st_ino for path in target.rglob("*") if path.is_file()}
    assert after.keys() == before.keys()
    changed = {str(path.relative_to(target)) for path in after if after[path] != before[path]}
    assert changed == {".zmetadata", "t/refs.0.parq", "time/refs.0.parq", "time_bnds/refs.0.parq"}
    assert [path.name for path in tmp_path.iterdir()] == ["two.parq"]
    # Elsewhere, as text and in this form.
    month(tmp_path / "n3.nc", 2, "NETCDF4", shift=-31)
    for name in ("out.json", "out.parq"):
        more = Combination(sources=(str(tmp_path / "n3.nc"),), target=str(tmp_path / name))
        assert append_files(str(target), more).after == 121
        found = values_of(tmp_path / name, folder)
        assert found["/t"].shape == (121, 2, 3)
        assert_same({each: values[:90] for each, values in found.items() if each != "/y"}, {
            each: values for each, values in whole.items() if each != "/y"
        })  # fmt: skip
    assert {path: path.stat().st_ino for path in target.rglob("*") if path.is_file()} == after


@pytest.mark.slow
def test_a_parquet_folder_is_as_it_was_where_it_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "two.parq"
    first = [str(folder / f"n{number}.nc") for number in range(2)]
    refbrowser.combine(first, target, concat="time", format="refs-parquet")
    with open_dataset(OpenRequest(str(target), allow=(str(folder),))) as dataset:
        plan = append_plan(dataset, Combination(sources=(str(folder / "n2.nc"),)))
        after = dataset.document.apply(append_edit(dataset, plan))
        told = json.loads((target / ".zmetadata").read_text())
        told["metadata"][".zattrs"] = {"by": "others"}
        (target / ".zmetadata").write_text(json.dumps(told))
        before = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
        with pytest.raises(RefbrowserError, match="changed by others"):
            update_parquet(dataset.document, after, target)
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["two.parq"]


def relative_document(folder: Path, tmp_path: Path) -> dict[str, Any]:
    """Return the references of two months, whose URLs are relative to the folder of the months."""
    first = [str(folder / f"n{number}.nc") for number in range(2)]
    refbrowser.combine(first, tmp_path / "r.json", concat="time", format="refs-v0")
    refs: dict[str, Any] = json.loads((tmp_path / "r.json").read_text())
    for key, value in refs.items():
        if isinstance(value, list):
            refs[key] = [value[0].rpartition("/")[2], *value[1:]]
    return refs


@pytest.mark.slow
def test_coordinates_that_rules_templates_or_other_files_give(
    folder: Path, whole: dict[str, Any], tmp_path: Path
) -> None:
    refs = relative_document(folder, tmp_path)
    (folder / "time.bin").write_bytes(np.arange(59, dtype="<f8").tobytes())
    refs["time/.zarray"] = json.dumps({
        "zarr_format": 2, "shape": [59], "chunks": [1], "dtype": "<f8", "compressor": None,
        "filters": None, "fill_value": None, "order": "C",
    })  # fmt: skip
    del refs["time/0"]
    rule = {
        "key": "time/{{i}}", "url": "{{u}}", "offset": "{{i * 8}}", "length": "8",
        "dimensions": {"i": {"stop": 59}},
    }  # fmt: skip
    other = {"key": "other/{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 2}}}
    (folder / "zarray.json").write_text(refs["t/.zarray"])
    of_kind: dict[str, dict[str, Any]] = {
        "rule": {"gen": [other, rule], "refs": refs},
        "template": {"refs": {**refs, **{f"time/{n}": ["{{u}}", 8 * n, 8] for n in range(59)}}},
        "metadata": {"gen": [rule], "refs": {**refs, "t/.zarray": ["zarray.json"]}},
    }
    for kind, members in of_kind.items():
        target = folder / f"{kind}_given.json"
        target.write_text(json.dumps({"version": 1, "templates": {"u": "time.bin"}, **members}))
        report = append_files(str(target), Combination(sources=(str(folder / "n2.nc"),)))
        assert (report.after, report.unread) == (90, 0), kind
        assert_same(values_of(target), whole)
        written = json.loads(target.read_text())
        assert written.get("gen", []) == ([other] if kind == "rule" else []), kind
    # One that gives other arrays as well is not taken away.
    several = {**rule, "key": "{{ 'time' if i < 59 else 'other' }}/{{i}}"}
    target.write_text(
        json.dumps({"version": 1, "templates": {"u": "time.bin"}, "gen": [several], "refs": refs})
    )
    before = target.read_bytes()
    with pytest.raises(RefbrowserError, match="gen rule 0 makes '/time', which changes, and other arrays"):
        append_files(str(target), Combination(sources=(str(folder / "n2.nc"),)))
    assert target.read_bytes() == before


@pytest.mark.slow
def test_folded_documents_are_appended_to(folder: Path, whole: dict[str, Any], tmp_path: Path) -> None:
    target = str(tmp_path / "folded.json")
    combine(request(folder, "m[01].nc", target=target, fold=True))
    rules = json.loads(Path(target).read_text())["gen"]
    assert rules
    append_files(target, Combination(sources=(str(folder / "m2.nc"),)))
    assert json.loads(Path(target).read_text())["gen"] == rules
    assert_same(values_of(target, folder), whole)


@pytest.mark.slow
def test_remote_documents_are_written_elsewhere(
    folder: Path, whole: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "remote.json").write_text(json.dumps(relative_document(folder, tmp_path)))
    out = tmp_path / "out.json"
    with HttpServer({}, root=folder) as server:
        url = server.origin
        allow = ["--allow", url]
        assert main(["append", f"{url}/remote.json", f"{url}/n2.nc", *allow]) == 2
        assert "it is read there, never written; give -o OUT.json" in capsys.readouterr().err
        assert main(["append", f"{url}/remote.json", f"{url}/n2.nc", "-o", f"{url}/out.json"]) == 2
        # What is added may lie there, or here.
        for source in (f"{url}/n2.nc", str(folder / "n2.nc")):
            command = ["append", f"{url}/remote.json", source, "-o", str(out), "--force", "--json", *allow]
            assert main(command) == 0
            report = json.loads(capsys.readouterr().out)
            assert (report["after"], report["unread"], report["compared"] > 0) == (90, 0, True)
            assert_same(values_of(out, url, folder), whole)
    # Relative URLs mean the same from another folder.
    assert (
        main(["append", str(folder / "remote.json"), str(folder / "n2.nc"), "-o", str(out), "--force"]) == 0
    )
    assert_same(values_of(out, folder), whole)


# What is said of differences


@pytest.mark.slow
def test_no_remedy_leaves_the_document_out(folder: Path, tmp_path: Path) -> None:
    first = combine(request(folder, "n[01].nc", target=str(tmp_path / "two.json")))
    month(tmp_path / "scaled.nc", 2, "NETCDF4", scale=0.5)
    month(tmp_path / "more.nc", 2, "NETCDF4")
    with netCDF4.Dataset(tmp_path / "more.nc", "a") as file:
        file.createVariable("extra", "f4", ("time",), chunksizes=(31,))[:] = 1
        file.createVariable("wide", "f4", ("time", "x"))[:] = 1
    shutil.copy(folder / "n1.nc", tmp_path / "again.nc")
    month(tmp_path / "early.nc", 0, "NETCDF4", shift=400)
    seen = set()
    with open_dataset(OpenRequest(first.target, allow=(str(folder),))) as dataset:
        for names in (["scaled"], ["again"], ["scaled", "more"]):
            sources = tuple(str(tmp_path / f"{name}.nc") for name in names)
            asked = Combination(sources=sources, concat=("time",))
            plan = append_plan(dataset, asked)
            assert plan.blocking, names
            for each in plan.blocking:
                assert not any(first.target in remedy.value for remedy in each.remedies), each
                assert not {first.target} & set(each.files), each
                assert each.remedies
                seen.add(each.kind)
                for remedy in each.remedies:
                    if remedy.kind not in ("leave_out", "take_as", "inline_var"):
                        left = append_plan(dataset, remedy.applied(asked)).blocking
                        assert (each.kind, each.path) not in {(it.kind, it.path) for it in left}
            # A pattern of files does not mean it.
            kept = append_plan(dataset, replace(asked, leave_out=("two*",)))
            assert [each.source for each in kept.files] == [first.target, *sources]
            # Nor is it left out by what is said of all that is odd, or named by a pattern.
            for text in ("odd", "*"):
                with pytest.raises(RefbrowserError, match="no file"):
                    append_plan(dataset, replace(asked, leave_out=(text,)))
    assert seen == {"scale", "overlap", "double"}
    with pytest.raises(RefbrowserError, match="before the document"):
        append_files(first.target, Combination(sources=(str(tmp_path / "early.nc"),)))


@pytest.mark.slow
def test_of_files_only_what_the_document_has_is_added_where_nothing_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, added = str(tmp_path / "two.json"), str(tmp_path / "more.nc")
    combine(request(folder, "n[01].nc", target=target))
    month(tmp_path / "more.nc", 2, "NETCDF4")
    with netCDF4.Dataset(added, "a") as file:
        file.createVariable("extra", "f4", ("time",), chunksizes=(31,))[:] = 1
    before = Path(target).read_bytes()
    assert main(["append", target, added]) == 0
    assert "/extra: only in 1: " in (told := capsys.readouterr().err)
    assert "left out, as the document does not have it (--accept presence:/extra adds it)" in told
    found = opened(target)
    assert (found.sizes["time"], "extra" in found) == (90, False)
    # Who names it means it.
    Path(target).write_bytes(before)
    assert main(["append", target, added, "--array", "extra"]) == 2
    assert "--accept presence:/extra" in capsys.readouterr().err


@pytest.mark.slow
def test_variables_that_the_document_does_not_have_are_added_where_that_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "two.json")
    combine(request(folder, "n[01].nc", target=target))
    month(tmp_path / "n2.nc", 2, "NETCDF4", scale=0.5)
    added = str(tmp_path / "n2.nc")
    assert main(["append", target, added]) == 2
    assert f"--take-as t=t_2:{added}" in capsys.readouterr().err
    assert main(["append", target, added, "--take-as", "t=t_2:n2.nc"]) == 0
    found = opened(target)
    assert found.sizes["time"] == 90
    assert np.isnan(found["t"][59:]).all()
    assert np.isnan(found["t_2"][:59]).all()
    with netCDF4.Dataset(added) as file:
        assert np.allclose(found["t_2"][59:], file["t"][:])
    # Chunks of 31 do not begin at 59.
    combine(request(folder, "n[01].nc", target=target))
    with netCDF4.Dataset(added, "a") as file:
        file["t"].scale_factor = 0.01
        file.createVariable("extra", "f4", ("time", "x"), chunksizes=(31, 3))[:] = 1
    assert main(["append", target, added, "--accept", "presence:extra"]) == 2
    assert "/extra: chunks of 31 along time do not meet" in capsys.readouterr().err
    assert main(["append", target, added, "--accept", "presence:extra", "--inline-var", "extra"]) == 0
    assert opened(target)["extra"][59:].values.tolist() == [[1] * 3] * 31
