"""A DMR++ is compared with its file: each damage is found, and nothing in a sound one."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from damaged_sets import DESCRIPTION_DAMAGES, described
from dmrpp_made import dmrpp_of
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.engine.audit.audit_run import set_findings
from refbrowser.engine.findings.chunk_table import ChunkMarks
from refbrowser.engine.jobs import JobControl
from refbrowser.findings.finding import Finding


def findings(path: Path | str, **said: list[str]) -> list[Finding]:
    with refbrowser.open(path, **said) as dataset:
        return list(set_findings(dataset, JobControl(), ChunkMarks()))


def test_nothing_is_found_in_a_sound_one(tmp_path: Path) -> None:
    path = described(tmp_path)
    assert findings(path) == []
    assert main(["check", str(path)]) == 0


@pytest.mark.parametrize("name", DESCRIPTION_DAMAGES)
def test_each_damage_is_found(tmp_path: Path, name: str) -> None:
    code, count, damage = DESCRIPTION_DAMAGES[name]
    path = described(tmp_path)
    damage(path)
    found = [each for each in findings(path) if each.code == code]
    assert len(found) == count, found


def test_an_array_is_named_with_its_first_chunk(tmp_path: Path) -> None:
    path = described(tmp_path)
    DESCRIPTION_DAMAGES["a chunk that is elsewhere"][2](path)
    (found,) = findings(path)
    assert (found.place.path, found.place.key) == ("/packed", "packed/0.1")
    assert "1 chunk of 8" in found.message
    assert main(["check", str(path)]) == 2


def test_arrays_that_servers_name_otherwise_are_known_by_their_chunks(tmp_path: Path) -> None:
    path = described(tmp_path)
    path.write_text(path.read_text().replace('name="raw"', 'name="group_raw"'))
    assert findings(path) == []


def test_chunks_for_which_filters_were_left_out(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        array = file.create_dataset("v", shape=(8,), chunks=(4,), dtype="<i4", compression="gzip")
        array[:4] = [1, 2, 3, 4]
        array.id.write_direct_chunk((4,), np.arange(4, dtype="<i4").tobytes(), filter_mask=1)
    path = tmp_path / "a.h5.dmrpp"
    path.write_text(dmrpp_of(tmp_path / "a.h5").replace(' fm="1"', ""))
    (found,) = [each for each in findings(path) if each.code == "description-differs"]
    assert found.place.key == "v/1"


def test_what_may_not_be_read_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path = described(tmp_path / "a")
    moved = tmp_path / "b" / "f.dmrpp"
    moved.write_text(path.read_text().replace('href="f.h5"', f'href="{tmp_path / "a" / "f.h5"}"'))
    (found,) = findings(moved)
    assert found.code == "description-unread"
    assert findings(moved, allow=[str(tmp_path / "a")]) == []


@pytest.mark.slow
def test_at_a_server(tmp_path: Path) -> None:
    described(tmp_path)
    files = {f"/{each.name}": each.read_bytes() for each in tmp_path.iterdir()}
    with HttpServer(files) as server:
        assert findings(server.url("/f.h5.dmrpp")) == []
        with h5py.File(tmp_path / "f.h5", "w") as file:
            file["raw"] = np.zeros((8, 100))
        server.files["/f.h5"] = (tmp_path / "f.h5").read_bytes()
        codes = {each.code for each in findings(server.url("/f.h5.dmrpp"))}
    assert {"description-stale", "description-differs"} <= codes


def test_other_data_than_hdf5_is_no_damage(tmp_path: Path) -> None:
    scipy = pytest.importorskip("scipy.io")
    with scipy.netcdf_file(tmp_path / "c.nc", "w") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "i4", ("x",))[:] = np.arange(4)
    refbrowser.export(tmp_path / "c.nc", tmp_path / "c.nc.dmrpp", format="dmrpp")
    assert findings(tmp_path / "c.nc.dmrpp") == []
    with refbrowser.open(tmp_path / "c.nc.dmrpp") as dataset:
        assert dataset.array("/v")[...].tolist() == [0, 1, 2, 3]


def test_values_that_stand_in_the_description_need_no_file(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["text"] = "words"
    path = tmp_path / "a.dmrpp"
    refbrowser.export(tmp_path / "a.h5", path, format="dmrpp")
    (tmp_path / "a.h5").unlink()
    assert findings(path) == []
