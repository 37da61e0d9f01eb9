"""An NcML is opened as the dataset that it puts together, where nothing is to be asked; else it says why."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from servers.http_server import HttpServer
from test_led_sources import DAYS, HEAD, listed, write_days

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.combining import combined_proof, led_dataset
from refbrowser.formats.sniffing import NotReferencesError
from refbrowser.limits import LIMITS

ALONG_TIME = '<aggregation dimName="time" type="joinExisting">{}</aggregation>'


def written(folder: Path, within: str, name: str = "all.ncml", head: str = HEAD) -> Path:
    path = folder / name
    path.write_text(f"{head}{within}</netcdf>")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("files", [listed(), '<scan location="." suffix=".nc"/>'])
def test_files_along_a_dimension_and_attributes(tmp_path: Path, files: str) -> None:
    days = write_days(tmp_path)
    units = '<variable name="t"><attribute name="units" value="K"/></variable>'
    edits = f'<attribute name="title" value="all"/>{units}'
    expected = xarray.concat(days, "time", data_vars="minimal", coords="minimal", compat="override")
    with refbrowser.open(written(tmp_path, edits + ALONG_TIME.format(files))) as dataset:
        for name in ("t", "other", "time", "x"):
            assert np.array_equal(dataset[f"/{name}"][...], expected[name]), name
        assert (dataset.attrs["title"], dataset["/t"].attrs["units"]) == ("all", "K")
        assert dataset.format == "ncml"
        again = pickle.loads(pickle.dumps(dataset["/t"]))
        assert np.array_equal(again[...], expected["t"])
        # It is saved elsewhere, as references: the NcML stays what it is.
        refbrowser.export(dataset, tmp_path / "all.json", format="refs-v1")
    with refbrowser.open(tmp_path / "all.json") as dataset:
        assert np.array_equal(dataset["/t"][...], expected["t"])


@pytest.mark.slow
def test_a_new_dimension_a_union_and_one_file(tmp_path: Path) -> None:
    for number, day in enumerate(write_days(tmp_path), 1):
        day.isel(time=0, drop=True).to_netcdf(tmp_path / f"day_2000010{number}.nc")
    files = "".join(f'<netcdf location="day_2000010{n}.nc" coordValue="{10 * n}"/>' for n in (1, 2, 3))
    path = written(tmp_path, f'<aggregation dimName="run" type="joinNew">{files}</aggregation>', "new.ncml")
    with refbrowser.open(path) as dataset:
        assert dataset["/run"][...].tolist() == [10, 20, 30]
        assert dataset["/t"].shape == (DAYS, 4)
    xarray.Dataset({"extra": ("x", np.arange(4.0))}).to_netcdf(tmp_path / "extra.nc")
    both = '<netcdf location="day_20000101.nc"/><netcdf location="extra.nc"/>'
    with refbrowser.open(written(tmp_path, f'<aggregation type="union">{both}</aggregation>')) as dataset:
        assert {"/t", "/extra"} <= set(dataset.arrays)
    one = HEAD.replace(">", ' location="day_20000101.nc">')
    edit = '<attribute name="title" value="edited"/>'
    with refbrowser.open(written(tmp_path, edit, "one.ncml", one)) as dataset:
        assert dataset.attrs["title"] == "edited"
        assert dataset["/t"].shape == (4,)


@pytest.mark.slow
def test_what_is_not_followed_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_days(tmp_path)
    path = written(tmp_path, ALONG_TIME.format(f"{listed()}<promoteGlobalAttribute/>"))
    assert main(["info", str(path)]) == 0
    told = capsys.readouterr()
    assert "time = 6" in told.out
    assert "not followed: attributes of files are not made variables" in told.out + told.err


@pytest.mark.slow
def test_files_elsewhere_need_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "lists").mkdir()
    write_days(tmp_path / "data")
    path = written(
        tmp_path / "lists", ALONG_TIME.format(listed('<netcdf location="../data/day_2000010{}.nc"/>'))
    )
    assert main(["info", str(path)]) == 3
    told = capsys.readouterr().err
    assert f"not opened by itself: reading from {tmp_path / 'data'} needs permission" in told
    assert f"--allow {tmp_path / 'data'}" in told
    with pytest.raises(NotReferencesError) as caught:
        refbrowser.open(path)
    lead = caught.value.found.lead
    assert lead is not None
    assert (len(lead.sources), "needs permission" in lead.why) == (DAYS, True)
    with refbrowser.open(path, allow=[str(tmp_path / "data")]) as dataset:
        assert dataset["/t"].shape == (6, 4)


@pytest.mark.slow
def test_a_link_that_leads_out_of_the_folder_needs_permission(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "lists").mkdir()
    write_days(tmp_path / "data")
    for path in (tmp_path / "data").iterdir():
        (tmp_path / "lists" / path.name).symlink_to(path)
    for files in (listed(), '<scan location="." suffix=".nc"/>'):
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.open(written(tmp_path / "lists", ALONG_TIME.format(files)))
        assert caught.value.kind is ErrorKind.BLOCKED


@pytest.mark.slow
def test_many_files_and_files_that_do_not_fit_are_left_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_days(tmp_path)
    path = written(tmp_path, ALONG_TIME.format(listed()))
    for most, is_opened in ((DAYS - 1, False), (DAYS, True), (DAYS + 1, True)):
        monkeypatch.setattr(led_dataset, "LIMITS", type(LIMITS)(lead_opened=most))
        if is_opened:
            refbrowser.open(path).close()
        else:
            with pytest.raises(NotReferencesError, match=f"names {DAYS} files, more than {most}") as caught:
                refbrowser.open(path)
            assert caught.value.kind is ErrorKind.BUDGET
            assert "refbrowser make" in caught.value.advice
    xarray.Dataset({"t": (("time", "y"), np.zeros((2, 3)))}).to_netcdf(tmp_path / "day_20000102.nc")
    with pytest.raises(NotReferencesError, match="files cannot be combined as they are"):
        refbrowser.open(path)


@pytest.mark.slow
def test_folders_that_take_long_to_look_through_are_left_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_days(tmp_path)
    (tmp_path / "below").mkdir()
    path = written(tmp_path, ALONG_TIME.format('<scan location="." suffix=".nc"/>'))
    flat = written(tmp_path, ALONG_TIME.format('<scan location="." suffix=".nc" subdirs="false"/>'), "f.ncml")
    # Three files, a folder, and two NcML.
    for most, is_opened in ((5, False), (6, True)):
        monkeypatch.setattr(led_dataset, "LIMITS", type(LIMITS)(lead_scanned=most))
        for each in (path, flat):
            if is_opened:
                refbrowser.open(each).close()
                continue
            with pytest.raises(NotReferencesError, match=f"more than {most} entries") as caught:
                refbrowser.open(each)
            assert caught.value.kind is ErrorKind.BUDGET
    monkeypatch.undo()
    (tmp_path / "below" / "round").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(NotReferencesError, match="a link to a folder"):
        refbrowser.open(path)
    refbrowser.open(flat).close()
    # Twelve links to the folder itself: names of eight levels are 12 to the power of 8.
    (tmp_path / "below" / "round").unlink()
    for number in range(12):
        (tmp_path / "below" / f"{number}").symlink_to(".", target_is_directory=True)
    for said in ('location="below/*/*/*/*/*/*/*/*"', 'location="below" suffix="/*/*/*/*/*/*/*/*.nc"'):
        within = ALONG_TIME.format(f'<scan {said} subdirs="false"/>')
        with pytest.raises(NotReferencesError, match="folders looked through that a pattern names"):
            refbrowser.open(written(tmp_path, within, "deep.ncml"))
    with HttpServer({"/all.ncml": path.read_bytes()}) as server:
        url = server.url("/all.ncml")
        with pytest.raises(NotReferencesError, match="folders of a server"):
            refbrowser.open(url)
    outside = written(tmp_path / "below", ALONG_TIME.format('<scan location=".." suffix=".nc"/>'))
    monkeypatch.setattr(led_dataset, "_check_scan", lambda *_: pytest.fail("it was looked through"))
    with pytest.raises(NotReferencesError, match="needs permission"):
        refbrowser.open(outside)


@pytest.mark.slow
def test_an_ncml_that_names_itself_ends(tmp_path: Path) -> None:
    for name in ("all.ncml", "ALL.NCML", "other.ncml"):
        path = written(tmp_path, f'<aggregation type="union"><netcdf location="{name}"/></aggregation>')
        with pytest.raises(RefbrowserError):
            refbrowser.open(path)
    written(tmp_path, '<aggregation type="union"><scan location="."/></aggregation>')
    with pytest.raises(NotReferencesError, match="it names other NcML"):
        refbrowser.open(tmp_path / "all.ncml")


@pytest.mark.slow
def test_values_that_are_not_those_of_the_files_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_days(tmp_path)
    path = written(tmp_path, ALONG_TIME.format(listed()))
    # As if the last file had been put in the place of the first.
    monkeypatch.setattr(combined_proof, "is_same", lambda *_: False)
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(path)
    assert caught.value.kind is ErrorKind.IO


@pytest.mark.slow
def test_an_ncml_on_a_server_reads_what_lies_there(tmp_path: Path) -> None:
    write_days(tmp_path)
    files: dict[str, Any] = {f"/d/{each.name}": each.read_bytes() for each in tmp_path.iterdir()}
    files["/d/all.ncml"] = f"{HEAD}{ALONG_TIME.format(listed())}</netcdf>".encode()
    files["/d/bad.ncml"] = (
        f'{HEAD}<aggregation type="union"><netcdf location="file://{tmp_path}/day_20000101.nc"/></aggregation></netcdf>'.encode()
    )
    with HttpServer(files) as server:
        with refbrowser.open(server.url("/d/all.ncml")) as dataset:
            assert dataset["/t"].shape == (6, 4)
        with pytest.raises(RefbrowserError):
            refbrowser.open(server.url("/d/bad.ncml"))


def test_other_files_of_that_name_are_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.ncml"
    path.write_text(json.dumps({".zgroup": '{"zarr_format": 2}'}))
    with refbrowser.open(path) as dataset:
        assert dataset.format == "refs-v0"
    path.write_text("<html></html>")
    with pytest.raises(RefbrowserError):
        refbrowser.open(path)
