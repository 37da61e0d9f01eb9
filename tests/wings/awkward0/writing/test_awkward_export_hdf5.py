"""HDF5 files that arrays are added to and removed from: what else is in them stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr_versions import put

import refbrowser
from refbrowser.codecs.workers.confinement import in_force
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import CancelToken
from refbrowser.wings.awkward0.files import hdf5
from refbrowser.wings.awkward0.files.hdf5 import write_hdf5
from refbrowser.wings.awkward0.writing.awkward0_writing import Awkward0Writing

h5py = pytest.importorskip("h5py")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    group = zarr.open_group(tmp_path / "source.zarr", mode="w", zarr_format=2)
    put(group, "flags", np.array([True, False]))
    return tmp_path / "source.zarr"


def export(source: Path, target: Path, **options: Any) -> None:
    refbrowser.export(source, target, format="awkward0", options=Awkward0Writing(**options))


def changed(target: Path, *removed: str) -> None:
    """Remove datasets, as an export has it done."""
    data = target.with_name("data")
    data.touch()
    write_hdf5(target, data, [], removed, changes=True, size=0, token=CancelToken())


@pytest.mark.slow
def test_other_datasets_stay(plain: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.h5"
    with h5py.File(target, "w") as file:
        file["other"] = np.arange(5)
        file["other"].attrs["units"] = "m"
        file["group/flags"] = np.arange(3)
        file["link"] = h5py.SoftLink("/other")
    export(plain, target, name="group", append=True)
    export(plain, target, name="new", removed=("group",))
    with h5py.File(target) as file:
        assert file["other"].attrs["units"] == "m"
        assert set(file["group"]) == {"flags"}
        assert set(file["new"]) == {"schema.json", "0"}
        assert file["link"][...].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_the_room_of_removed_datasets_is_given_back(tmp_path: Path) -> None:
    target = tmp_path / "x.h5"
    with h5py.File(target, "w") as file:
        file["big/0"] = np.zeros(1_000_000, "u1")
        file["other/kept"] = np.arange(5)
        file["other"].attrs["units"] = "m"
    changed(target, "big/0")
    assert target.stat().st_size < 100_000
    with h5py.File(target) as file:
        assert set(file) == {"other"}
        assert file["other/kept"][...].tolist() == [0, 1, 2, 3, 4]
        assert file["other"].attrs["units"] == "m"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["reference", "attribute", "names", "root", "link"])
def test_objects_that_refer_to_others_stay_where_they_are(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "x.h5"
    with h5py.File(target, "w") as file:
        file["gone"] = np.zeros(10_000, "u1")
        file["kept"] = np.arange(5)
        if kind == "reference":
            file.create_dataset("to", data=file["kept"].ref, dtype=h5py.ref_dtype)
        elif kind == "attribute":
            file["kept"].attrs["to"] = file["kept"].ref
        elif kind == "names":
            file["again"] = file["kept"]
        elif kind == "link":
            file["again"] = h5py.SoftLink("/kept")
        else:
            file.attrs["title"] = "x"
    changed(target, "gone")
    with h5py.File(target) as file:
        assert "gone" not in file
        if kind == "reference":
            assert file[file["to"][()]] == file["kept"]
        elif kind == "attribute":
            assert file[file["kept"].attrs["to"]] == file["kept"]
        elif kind in ("names", "link"):
            assert file["again"] == file["kept"]
        else:
            assert file.attrs["title"] == "x"


@pytest.mark.slow
def test_nothing_is_written_through_a_link(plain: Path, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_group("inner")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["out"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/inner")
    before = (tmp_path / "x.h5").read_bytes(), (tmp_path / "other.h5").read_bytes()
    with pytest.raises(RefbrowserError) as caught:
        export(plain, tmp_path / "x.h5", name="out/flags", append=True)
    assert caught.value.kind is ErrorKind.IO
    assert before == ((tmp_path / "x.h5").read_bytes(), (tmp_path / "other.h5").read_bytes())


_ATTEMPTS = """    try:
        import socket
        refused = []
        for name, attempt in {
            "network": lambda: socket.create_connection(("127.0.0.1", 1)),
            "program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
            "read": lambda: open(OTHER).close(),
            "written": lambda: open(OTHER + "2", "w").close(),
            "keys": lambda: os.environ["AWS_SECRET_ACCESS_KEY"],
        }.items():
            try:
                attempt()
            except (PermissionError, KeyError):
                refused.append(name)
        _write(h5py, request)
        raise ValueError(refused)
"""


@pytest.mark.slow
@pytest.mark.skipif("not held back" in in_force().values(), reason="this system has no way to confine it")
def test_what_writes_has_its_folder_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    (tmp_path / "other").touch()
    for name in ("program", "work"):
        (tmp_path / name).mkdir()
    script, target, data = (tmp_path / name for name in ("program/script.py", "work/a.h5", "work/data"))
    source = hdf5._SCRIPT.read_text().replace("__file__", repr(str(hdf5._SCRIPT)))
    attempts = _ATTEMPTS.replace("OTHER", repr(str(tmp_path / "other")))
    script.write_text(source.replace("    try:\n        _write(h5py, request)\n", attempts))
    monkeypatch.setattr(hdf5, "_SCRIPT", script)
    data.write_bytes(b"abc")
    with h5py.File(target, "w") as file:
        file["old"] = [1, 2]
        file["kept"] = [3]
    with pytest.raises(RefbrowserError) as caught:
        write_hdf5(target, data, [("new", 0, 3)], ["old"], changes=True, size=0, token=CancelToken())
    for name in ("network", "program", "read", "written", "keys"):
        assert name in str(caught.value)
    with h5py.File(target) as file:
        assert bytes(file["new"][...]) == b"abc"
        assert sorted(file) == ["kept", "new"]
