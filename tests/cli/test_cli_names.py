"""Names of files that are no text, that links of archives are made of, and on disks in memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from refbrowser.cli.program import main

ODD = os.fsdecode(b"\xff\xfe")


def write_netcdf(path: str) -> None:
    from scipy.io import netcdf_file

    with netcdf_file(path, "w") as file:
        file.createDimension("x", 4)
        file.createVariable("t", "i4", ("x",))[:] = range(4)


@pytest.fixture
def store(tmp_path: Path) -> str:
    array = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": None, "filters": None,
        "fill_value": 0, "order": "C",
    }  # fmt: skip
    (tmp_path / "values").write_bytes(bytes(4))
    refs = {".zgroup": '{"zarr_format": 2}', "t/.zarray": json.dumps(array), "t/0": ["values", 0, 2]}
    (tmp_path / "doc.json").write_text(json.dumps({"version": 1, "refs": refs}))
    path = str(tmp_path / "store.zarr")
    assert main(["export", str(tmp_path / "doc.json"), path, "--to", "zarr-v2"]) == 0
    return path


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
@pytest.mark.parametrize("form", ["refs-v0", "refs-v1", "refs-parquet"])
def test_references_cannot_name_a_file_that_is_no_text(
    tmp_path: Path, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    named = str(tmp_path / ODD)
    write_netcdf(named)
    out = tmp_path / "out.parq"
    assert main(["export", named, str(out), "--to", form]) == 2
    assert "is not UTF-8, which references require; rename the file" in capfd.readouterr().err
    assert main(["make", named, "-o", str(out), "--to", form]) == 2
    assert os.listdir(tmp_path) == [ODD]


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_all_else_is_done_with_such_names(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    named, copy = str(tmp_path / ODD), str(tmp_path / "copy.zarr")
    write_netcdf(named)
    assert main(["export", named, copy, "--to", "zarr-v2"]) == 0
    for each in (named, copy):
        capfd.readouterr()
        assert main(["read", each, "/t", "--json"]) == 0
        assert "[0, 1, 2, 3]" in capfd.readouterr().out
    # Keys of a store are URLs, which are text.
    assert main(["export", named, str(tmp_path / f"{ODD}.zarr"), "--to", "zarr-v2"]) == 2
    assert "could not be opened again: its path is not UTF-8" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["a::b", "a\nb"])
@pytest.mark.parametrize("form", ["zarr-v2", "refs-v1", "netcdf4", "parquet", "ncstream", "awkward0"])
def test_nothing_is_written_where_it_cannot_be_read(
    store: str, tmp_path: Path, name: str, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir(tmp_path))
    assert main(["export", store, str(tmp_path / name), "--to", form]) == 2
    assert "could not be opened again" in capfd.readouterr().err
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="a disk in memory")
def test_a_disk_in_memory_is_a_disk(store: str) -> None:
    path = Path(f"/dev/shm/refbrowser-test-{os.getpid()}.zip")
    try:
        assert main(["export", store, str(path), "--to", "zarr-v2", "--zip"]) == 0
        assert main(["info", str(path)]) == 0
    finally:
        path.unlink(missing_ok=True)
