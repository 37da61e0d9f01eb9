"""Selections by the names of dimensions, and what ``read -o`` writes, replaces and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from refbrowser import open as open_dataset
from refbrowser import sample
from refbrowser.cli import main

SST = ["read", "sea_surface.json", "/ocean/sst"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sample, where commands run."""
    monkeypatch.chdir(tmp_path)
    sample()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("time=2024-03", np.s_[2:3]),
        ("time=2024-03:2024-05,lat=40:60", np.s_[2:5, 130:150]),
        ("lat=60:40 , time=2024-03", np.s_[2:3, 130:150]),
        ("lat=40.5,lon=-179.5", np.s_[:, 130, 0]),
        ("lat=85:", np.s_[:, 175:]),
        ("time=2024-11-01:", np.s_[10:]),
        ("time=:2024-01-31T23:59", np.s_[:1]),
        ("time=2024", np.s_[:]),
        ("time@-1,lon@0:10:5", np.s_[-1, :, 0:10:5]),
        ("lon@::-60,time@0", np.s_[0, :, ::-60]),
    ],
)
def test_names_select_what_indices_do(text: str, index: object, folder: Path) -> None:
    assert main([*SST, "--select", text, "-o", "x.npy"]) == 0
    with open_dataset("sea_surface.json") as dataset:
        np.testing.assert_array_equal(np.load(folder / "x.npy"), dataset["/ocean/sst"][index])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("depth=3", "there are time, lat, lon"),
        ("lat=40", "the nearest value is 39.5"),
        ("lat=far", "not a number"),
        ("lat=1:2:3", "not a number"),
        ("lat=200:300", "no lat is within '200:300'"),
        ("time=2031", "it goes from 2024-01-1"),
        ("time=yesterday", "is not a date"),
        ("time=:", "is not a date"),
        ("time@x", "is neither an index"),
        ("time@12", "out of bounds"),
        ("time=2024-03,3", "names no dimension"),
    ],
)
def test_what_selects_nothing_is_told(text: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SST, "--select", text, "--json"]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.out == ""


def test_a_coordinate_selects_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "sea_surface.json", "/ocean/lat", "--select", "lat=88:", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [88.5, 89.5]


def test_plan_and_export_select_by_names_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "sea_surface.json", "/ocean/sst", "--select", "time=2024-03", "--json"]) == 0
    assert "sst_2024-03" in capsys.readouterr().out
    select = ["--array", "/ocean/sst", "--select", "time=2024-03"]
    assert main(["export", "sea_surface.json", "-o", "x.zarr", "--to", "zarr-v3", *select]) == 0
    with open_dataset("x.zarr") as written, open_dataset("sea_surface.json") as dataset:
        np.testing.assert_array_equal(written["/ocean/sst"][...], dataset["/ocean/sst"][2:3])


def test_rows_have_coordinates_and_decoded_values(folder: Path) -> None:
    select = ["--select", "time=2024-03,lat=40.5,lon@0:2"]
    assert main([*SST, *select, "-o", "x.csv"]) == 0
    title, *rows = (folder / "x.csv").read_text().splitlines()
    assert title == "time,lat,lon,sst"
    with open_dataset("sea_surface.json") as dataset:
        stored = dataset["/ocean/sst"][2, 130, :2]
    for row, lon, value in zip(rows, (-179.5, -178.5), stored, strict=True):
        cells = row.split(",")
        assert cells[0].startswith("2024-03-1")
        assert list(map(float, cells[1:3])) == [40.5, lon]
        assert float(cells[3]) == pytest.approx(int(value) * 0.002 + 15)


def test_values_that_are_missing_are_empty_cells(folder: Path) -> None:
    with open_dataset("sea_surface.json") as dataset:
        stored = dataset["/ocean/sst"][0]
    lat, lon = (int(place[0]) for place in np.nonzero(stored == -32768))
    assert main([*SST, "--select", f"time@0,lat@{lat},lon@{lon}", "-o", "x.csv"]) == 0
    assert (folder / "x.csv").read_text().splitlines()[1].endswith(",")


def test_the_suffix_says_what_is_written(folder: Path) -> None:
    netcdf4 = pytest.importorskip("netCDF4")
    parquet = pytest.importorskip("pyarrow.parquet")
    select = ["--select", "time=2024-03,lat=40:60"]
    assert main([*SST, *select, "-o", "x.nc"]) == 0
    with netcdf4.Dataset("x.nc") as written:
        ocean = written["ocean"]
        assert ocean["sst"].shape == (1, 20, 360)
        np.testing.assert_array_equal(ocean["lat"][:], np.arange(40.5, 60))
    assert main(["read", "sea_surface.json", "/ocean/lat", "-o", "x.parquet"]) == 0
    assert parquet.read_table("x.parquet").num_rows == 180
    assert main([*SST, *select, "-o", "x.json"]) == 0
    assert len(json.loads((folder / "x.json").read_text())[0]) == 20


def test_nothing_is_replaced_without_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in ("npy", "csv", "json", "nc", "parquet"):
        target = folder / f"x.{suffix}"
        target.write_text("mine")
        read = ["read", "sea_surface.json", "/ocean/lat", "-o", str(target)]
        assert main(read) == 7
        assert target.read_text() == "mine"
        assert "--force" in capsys.readouterr().err
        assert main([*read, "--force", "-q"]) == 0
        assert target.read_bytes() != b"mine"


@pytest.mark.parametrize("extra", [["-o", "x.xlsx"], ["-o", "x.zarr"], ["--json", "-o", "x.csv"]])
def test_what_read_does_not_write_is_refused(
    extra: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", "sea_surface.json", "/ocean/lat", *extra]) == 2
    assert "refbrowser export writes other formats" in capsys.readouterr().err
    assert not list(folder.glob("x.*"))


def test_targets_are_given_by_place_or_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export = ["export", "sea_surface.json", "--to", "refs-v0"]
    assert main([*export, "a.json"]) == 0
    assert main([*export, "-o", "b.json"]) == 0
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    assert main(export) == 2
    assert main([*export, "c.json", "-o", "d.json"]) == 2
    assert not (folder / "c.json").exists()


def test_old_names_go_on_working_with_a_note(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", "sea_surface.json"]) == 0
    assert main(["audit", "sea_surface.json", "--compare-lock"]) == 0
    new = capsys.readouterr()
    assert "called" not in new.err
    assert main(["audit", "sea_surface.json", "--lock"]) == 0
    old = capsys.readouterr()
    assert "--lock is called --compare-lock now" in old.err
    assert old.out == new.out.split("\n", 1)[1]
    assert main(["append", "sea_surface.json", "none.nc", "--along=time"]) != 0
    assert "--along is called --concat now" in capsys.readouterr().err


def test_the_help_of_export_has_the_options_of_one_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--shards SHAPE" not in shown
    assert "--shards" in shown
    assert "--array A" in shown
    assert main(["export", "--help", "--to", "zarr-v3"]) == 0
    shown = capsys.readouterr().out
    assert "--shards " in shown
    assert "--container KIND" in shown
    assert "--codec CODEC" in shown
    assert "--schema-suffix" not in shown
    assert main(["export", "--to", "awkward0", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--container KIND" in shown
    # An option that formats share is explained for this one.
    assert "--codec RULE" in shown
    assert "--shards" not in shown


def test_an_audit_shows_its_fixes_and_makes_them_where_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zarray = '{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i2","compressor":null,"filters":null,'
    zarray += '"fill_value":0,"order":"C"}'
    document = folder / "broken.json"
    Path("x.bin").write_bytes(b"\1\0\2\0")
    # A key behind the end of its array: its fix takes it away.
    document.write_text(
        json.dumps({"a/.zarray": zarray, "a/0": ["x.bin", 0, 4], "a/7": ["x.bin", 0, 4]}, indent=1)
    )
    before = document.read_bytes()
    assert main(["audit", "broken.json", "--fix", "--json"]) in (0, 2)
    shown = json.loads(capsys.readouterr().out)
    assert shown["fixes"]["written"] is None
    assert len(shown["fixes"]["edits"]) == 1
    assert document.read_bytes() == before
    assert main(["audit", "broken.json", "--fix", "-o", "fixed.json"]) in (0, 2)
    assert "written: fixed.json" in capsys.readouterr().out
    assert document.read_bytes() == before
    assert set(json.loads(Path("fixed.json").read_text())) == {"a/.zarray", "a/0"}
    assert main(["audit", "broken.json", "--fix", "-o", "fixed.json"]) == 7
    assert main(["audit", "broken.json", "--fix", "--write"]) in (0, 2)
    assert document.read_bytes() == Path("fixed.json").read_bytes()
    capsys.readouterr()
    assert main(["audit", "broken.json", "--fix", "--write"]) == 0
    assert "nothing that was found has a fix" in capsys.readouterr().out
    assert main(["audit", "broken.json", "--write"]) == 2
    assert main(["audit", "broken.json", "--fix", "--write", "-o", "z.json"]) == 2


def test_fixes_are_written_over_the_file_that_was_audited_and_its_lock_follows(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.exporting.saving import audit_fixes

    zarray = '{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i2","compressor":null,"filters":null,'
    zarray += '"fill_value":0,"order":"C"}'
    refs = {"a/.zarray": zarray, "a/0": ["x.bin", 0, 4], "a/7": ["y.bin", 0, 4]}
    for name in ("x.bin", "y.bin"):
        Path(name).write_bytes(b"\1\0\2\0")
    document = folder / "broken.json"
    document.write_text(json.dumps(refs))
    assert main(["lock", "broken.json"]) == 0
    # What the lock says of a file stays, though the file was replaced meanwhile.
    Path("x.bin").write_bytes(b"\1\0\2\0\3\0")
    fix_findings = audit_fixes.fix_findings

    def changed_meanwhile(*said: object) -> object:
        document.write_text(json.dumps({**refs, "a/8": ["x.bin", 0, 4]}))
        return fix_findings(*said)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(audit_fixes, "fix_findings", changed_meanwhile)
        assert main(["audit", "broken.json", "--fix", "--write"]) == 4
    assert "a/8" in document.read_text()
    document.write_text(json.dumps(refs))
    assert main(["audit", "broken.json", "--fix", "--write"]) in (0, 2)
    assert set(json.loads(document.read_text())) == {"a/.zarray", "a/0"}
    (locked,) = json.loads(Path("broken.json.lock.json").read_text())["files"].items()
    assert (locked[0], locked[1]["size"]) == ("x.bin", 4)
    document.write_text(json.dumps(refs))
    assert main(["audit", "broken.json", "--fix", "-o", "elsewhere.json"]) in (0, 2)
    assert Path("elsewhere.json.lock.json").is_file()
    capsys.readouterr()


def test_warnings_are_objects_in_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["move", "sea_surface.json", "data/", "s3://bucket/d", "--json"]) == 0
    slash, permission = json.loads(capsys.readouterr().out)["warnings"]
    assert (slash["kind"], slash["url"]) == ("E_USAGE", "s3://bucket/d")
    assert slash["message"].startswith("It does not end in /")
    assert (permission["kind"], permission["url"]) == ("E_BLOCKED", "s3://bucket")
    base = {"version": 1, "templates": {"u": "x", "v": "y"}, "refs": {"a": ["{{u}}", 0, 1]}}
    for name, document in (
        ("base.json", base),
        ("ours.json", {**base, "refs": {"a": ["{{v}}", 0, 1]}}),
        ("theirs.json", {**base, "templates": {"u": "x"}}),
    ):
        Path(name).write_text(json.dumps(document))
    assert main(["merge", "base.json", "ours.json", "theirs.json", "-o", "merged.json", "--json"]) in (0, 2)
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert warning["message"].startswith("neither side had this fault: ")
    assert (warning["kind"], warning["url"]) == ("E_TEMPLATE", "{{v}}")
