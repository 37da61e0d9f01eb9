"""What HDF5 has told of the words of headers is told of the same words in other files, and of no others."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest

from refbrowser.formats.hdf5.hdf5_arrays import Contents
from refbrowser.formats.library.process import HDF5


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that a process of its own loads, which has seen no file."""
    for name in ("HDF5_PLUGIN_PRELOAD", "HDF5_PLUGIN_PATH", "HDF5_USE_FILE_LOCKING"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    spec = spec_from_file_location("library", HDF5)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def described(reader: Any, path: Path, **more: int) -> list[Any]:
    """Return what is told of a file."""

    def plain(answer: Any) -> Any:
        return (answer[0], *(bytes(each) for each in answer[1:])) if isinstance(answer, tuple) else answer

    opened = reader.Reader()
    opened.open(str(path))
    try:
        answers = [plain(each) for each in opened.do_describe({**Contents.bounds(), **more})]
    finally:
        opened.close()
    arrays = [each[0] if isinstance(each, tuple) else each for each in answers]
    there = {each.get("address") for each in arrays}
    for array in arrays:
        if "scales" in array:
            # What is there no more is no scale, whether its address is told or not.
            array["scales"] = [each if each in there else None for each in array["scales"]]
    return answers


def asked(reader: Any, path: Path) -> list[Any]:
    """Return what is told of a file where HDF5 is asked for all of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader.headers.Headers, "messages", lambda self, address: [])
        return described(reader, path)


def netcdf(path: Path, change: Callable[[Any], object] = lambda file: None) -> Path:
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("y", 3)
        file.title = "a"
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2001-01-01"
        time[:] = [1, 2]
        for name in ("a", "b"):
            made = file.createVariable(name, "i2", ("time", "y"), zlib=True, fill_value=-1)
            made.setncatts({"units": "K", "scale_factor": 0.5, "flags": np.array([1, 2], "i1"), "none": ""})
            made[:] = [[1, 2, 3], [4, 5, 6]]
        change(file)
    return path


def plain_hdf5(path: Path, change: Callable[[Any], object] = lambda file: None, **options: Any) -> Path:
    with h5py.File(path, "w", **options) as file:
        for name in ("a", "b"):
            made = file.create_dataset(name, data=np.arange(6.0).reshape(2, 3), chunks=(1, 3), fillvalue=7)
            made.attrs["n"], made.attrs["text"] = 5, np.bytes_("abc")
        file.create_dataset("flat", data=np.arange(4, dtype=">i4"))
        change(file)
    return path


def _dense(file: Any) -> None:
    for number in range(20):
        file["a"].setncattr(f"n{number}", number)


def _written(variable: Any) -> None:
    variable[:] = [[1, 2, 3], [4, 5, 6]]


CHANGES: tuple[Callable[[Any], object], ...] = (
    lambda file: None,
    lambda file: file["a"].setncattr("units", "m"),
    lambda file: file["a"].setncattr("scale_factor", np.float32(0.5)),
    lambda file: file["a"].setncattr_string("units", "K"),
    lambda file: file["a"].setncattr_string("units", "m"),
    lambda file: file["a"].setncattr("flags", np.array([1, 2], "u1")),
    lambda file: file["b"].renameAttribute("units", "stinu"),
    lambda file: file.createVariable("c", "S1", ("y",)),
    lambda file: file.createVariable("d", str, ("y",)),
    lambda file: file.createVariable("e", file.createEnumType("u1", "kind", {"x": 0}), ("y",)),
    lambda file: _written(file.createVariable("f", "i2", ("time", "y"), chunksizes=(4, 3))),
    lambda file: _written(file.createVariable("g", "i2", ("time", "y"), chunksizes=(4, 2))),
    lambda file: _written(file.createVariable("h", ">i2", ("time", "y"), endian="big")),
    lambda file: file.createGroup("g").setncattr("title", "b"),
    _dense,
)


def _named(file: Any, dtype: str) -> None:
    file["type"] = np.dtype(dtype)
    file["a"].attrs.create("shared", 1, dtype=file["type"])
    file.create_dataset("c", (2,), dtype=file["type"])


def _scales(file: Any) -> None:
    # Of several the last one is taken; one that is gone, and a dimension without any.
    file.create_dataset("x1", data=[1.0, 2, 3]).make_scale("x1")
    file.create_dataset("x2", data=[4.0, 5, 6]).make_scale("x2")
    file.create_dataset("gone", data=[1, 2]).make_scale("gone")
    for name in ("a", "b"):
        file[name].dims[1].attach_scale(file["x1"])
    file["a"].dims[1].attach_scale(file["x2"])
    file["b"].dims[0].attach_scale(file["gone"])
    del file["gone"]


def _no_scales(file: Any) -> None:
    file.create_dataset("c", data=[1, 2]).attrs["DIMENSION_LIST"] = "some"
    # As many as another array has dimensions.
    file["flat"].dims[0].attach_scale(file["b"])
    space = h5py.h5s.create_simple((1,))
    kind = h5py.h5a.open(file["flat"].id, b"DIMENSION_LIST").get_type()
    h5py.h5a.create(file["a"].id, b"DIMENSION_LIST2", kind, space)
    h5py.h5a.rename(file["a"].id, b"DIMENSION_LIST2", b"DIMENSION_LIST")
    file.create_dataset("d", data=[1, 2]).attrs["DIMENSION_LIST"] = np.zeros(4, "i4")
    h5py.h5a.create(file.create_dataset("e", data=[1, 2]).id, b"DIMENSION_LIST2", kind, space)


H5_CHANGES: tuple[Callable[[Any], object], ...] = (
    lambda file: None,
    lambda file: file["a"].attrs.create("n", 6),
    lambda file: file["a"].attrs.create("n", 5, dtype=">i8"),
    lambda file: file["a"].attrs.create("text", "abc"),
    lambda file: file["a"].attrs.create("text", "cde"),
    lambda file: file["a"].attrs.create("r", file["b"].ref),
    lambda file: file.move("b", "z") or file["a"].attrs.create("r", file["z"].ref),
    _scales,
    _no_scales,
    lambda file: _named(file, "i4"),
    lambda file: _named(file, "u4"),
    lambda file: file.create_dataset("c", data=np.arange(6.0).reshape(2, 3), chunks=(1, 3), fillvalue=8),
    lambda file: file.create_dataset("d", (2, 3), chunks=(1, 3), compression="gzip", dtype="f8"),
    lambda file: file.create_dataset(
        "e", (2, 3), chunks=(1, 3), compression="gzip", shuffle=True, dtype="f8"
    ),
    lambda file: file.create_dataset("f", (2, 3), chunks=(1, 3), maxshape=(None, 3), dtype="f8"),
    lambda file: file.create_dataset("g", (2, 3), chunks=(2, 3), maxshape=(None, 3), dtype="f8"),
    lambda file: file.create_dataset("h", (2, 3), chunks=(2, 1), dtype="f8"),
)


@pytest.mark.slow
def test_files_are_told_as_if_they_were_the_first(reader: Any, tmp_path: Path) -> None:
    paths = [netcdf(tmp_path / f"{number}.nc", change) for number, change in enumerate(CHANGES)]
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"track_order": True},
        {"libver": "latest", "userblock_size": 512},
    )
    for how, options in enumerate(ways):
        paths += [
            plain_hdf5(tmp_path / f"{how}-{number}.h5", change, **options)
            for number, change in enumerate(H5_CHANGES)
        ]
    expected = [asked(reader, path) for path in paths]
    assert not any("error" in str(each) for each in expected)
    for each in (paths, paths[::-1]):
        reader.headers._TOLD.clear()
        told = {path: described(reader, path) for path in each}
        assert [told[path] for path in paths] == expected
        # Now all of it is known.
        assert [described(reader, path) for path in paths] == expected


def counted(reader: Any, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the names of the attributes that HDF5 is asked for from now on."""
    names: list[bytes] = []

    def opened(found: Any, name: bytes) -> Any:
        names.append(name)
        return h5py.h5a.open(found, name)

    known = {name: getattr(h5py.h5a, name) for name in dir(h5py.h5a)}
    monkeypatch.setattr(reader, "h5a", SimpleNamespace(**{**known, "open": opened}))
    return names


def test_what_was_told_is_not_asked_again(
    reader: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [netcdf(tmp_path / "a.nc"), netcdf(tmp_path / "b.nc", CHANGES[1])]
    names = counted(reader, monkeypatch)
    described(reader, paths[0])
    assert len(names) > 10
    names.clear()
    described(reader, paths[1])
    assert names == [b"units"]


def test_limits_hold_of_what_is_known(reader: Any, tmp_path: Path) -> None:
    path = netcdf(tmp_path / "a.nc")
    for limits in ({"attribute": 2}, {"attributes": 30}):
        expected = described(reader, path, **limits)
        described(reader, path)
        assert described(reader, path, **limits) == expected
        assert "more than are read" in str(expected)
        reader.headers._TOLD.clear()


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch, reader: Any) -> list[Path]:
    """Files that are changed while they are read."""
    paths: list[Path] = []
    attribute = reader._Walk._attribute

    def told(self: Any, found: Any) -> Any:
        for path in paths:
            os.utime(path, (5, 5))
        return attribute(self, found)

    monkeypatch.setattr(reader._Walk, "_attribute", told)
    return paths


def test_what_is_changed_meanwhile_is_not_kept(reader: Any, tmp_path: Path, changed: list[Path]) -> None:
    path = netcdf(tmp_path / "a.nc")
    changed.append(path)
    described(reader, path)
    assert not reader.headers._TOLD
    changed.clear()
    described(reader, path)
    assert reader.headers._TOLD


def test_files_of_other_sizes_are_not_compared(reader: Any, tmp_path: Path) -> None:
    made = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    made.set_sizes(4, 4)
    path = tmp_path / "a.h5"
    with h5py.File(h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, made)) as file:
        file.create_dataset("a", data=[1, 2]).attrs["n"] = np.bytes_("abc")
    described(reader, path)
    assert not reader.headers._TOLD


def test_no_more_words_are_kept_than_there_is_room_for(
    reader: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader.headers, "_KEPT", 3)
    monkeypatch.setattr(reader.headers, "_LONGEST", 100)
    first = netcdf(tmp_path / "a.nc", lambda file: file.setncattr("title", "x" * 200))
    second = netcdf(tmp_path / "b.nc", CHANGES[1])
    described(reader, first)
    words = {*reader.headers._TOLD}
    assert max(map(len, words)) <= 100
    described(reader, second)
    assert not words <= {*reader.headers._TOLD}


def test_words_that_lead_elsewhere_are_not_compared(reader: Any) -> None:
    """Of messages that are shared there is an address, which begins like a text."""
    form = [(1, 0, b"space"), (3, 0, b"\x10type"), (8, 0, b"\3\2" + bytes(18)), (5, 0, b"fill")]
    words = reader.headers.words_of_form
    assert words(form) is not None
    for at, (kind, _, body) in enumerate(form):
        assert words([*form[:at], (kind, 2, body), *form[at + 1 :]]) is None
    assert words([*form, (7, 0, b"files")]) is None
    assert words(form[:2]) is None
    for layout in (b"\3\0" + bytes(18), b"\4\3" + bytes(18), b"\5\2" + bytes(18), b"\3\2"):
        assert words([*form[:2], (8, 0, layout)]) is None
    attribute = b"\3\0\2\0\4\0\4\0\0" + b"n\0" + b"\x13" + bytes(12)
    assert reader.headers.words_of_attributes([(12, 0, attribute)]) == {b"n": b"a" + attribute}
    for flags, body in ((2, attribute), (0, attribute[:1] + b"\1" + attribute[2:]), (0, attribute[:8])):
        assert not reader.headers.words_of_attributes([(12, flags, body)])


def test_damaged_headers_and_heaps_are_left_to_hdf5(reader: Any, tmp_path: Path) -> None:
    path = plain_hdf5(tmp_path / "a.h5", _scales)
    with h5py.File(path) as file:
        address, whole = reader.chunks.address_of(file["a"].id), path.read_bytes()
        x2 = str(reader.chunks.address_of(file["x2"].id))
        known = reader.headers.Headers(file, reader.chunks.reading(file), reader.chunks.messages)
        assert known.scales(known.messages(address), 2) == [None, x2]
        assert known.scales(known.messages(address), 3) is None
        reader.headers._HEAP = 24
        known = reader.headers.Headers(file, reader.chunks.reading(file), reader.chunks.messages)
        assert known.scales(known.messages(address), 2) == [None, x2]
        for seed in range(200):
            damaged = bytearray(whole)
            for at in np.random.default_rng(seed).integers(0, len(whole), 400).tolist():
                damaged[at] ^= 0x55

            def read(offset: int, length: int, data: bytes = bytes(damaged)) -> bytes:
                return data[offset : offset + length]

            known = reader.headers.Headers(file, read, reader.chunks.messages)
            messages = known.messages(address)
            found = known.scales(messages, 2)
            assert found is None or len(found) == 2
            reader.headers.words_of_form(messages)
            reader.headers.words_of_attributes(messages)
