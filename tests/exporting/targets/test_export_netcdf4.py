"""Exports to netCDF-4: what netCDF4-python and our reader find in them, and what is told and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents_made import DocumentMaker
from streams_made import write_ocean

import refbrowser
from refbrowser.engine.jobs import JobControl
from refbrowser.errors import RefbrowserError
from refbrowser.exporting.check import check_export
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ArrayChoice, ExportReport, ExportRequest
from refbrowser.exporting.targets import netcdf4_chunks, netcdf4_writing
from refbrowser.exporting.targets.netcdf import Netcdf4Options
from refbrowser.io.cancel import Cancelled, CancelToken

netCDF4 = pytest.importorskip("netCDF4")


def write_model(path: Path) -> Path:
    """Write a file with a variable of each kind, by netCDF4."""
    rng = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as file:
        file.setncatts({"title": "a model", "n": np.int16(3), "ratio": np.array([1.5, 2], "f4"), "empty": ""})
        file.setncattr_string("texts", ["a", "ü"])
        file.createDimension("time", None), file.createDimension("x", 7), file.createDimension("y", 5)
        for name, kind, options in (
            ("plain", "f8", {}),
            ("packed", "i2", {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True}),
            ("other", "u8", {"compression": "zstd"}),
            ("signed", "i1", {"zlib": True, "fill_value": -1}),
            ("big", ">f4", {"endian": "big", "fill_value": 1e20}),
        ):
            made = file.createVariable(name, kind, ("time", "y", "x"), chunksizes=(2, 5, 4), **options)
            made[:] = rng.integers(0, 100, (5, 5, 7))
        file["packed"].setncatts({"scale_factor": 0.5, "add_offset": np.float32(2), "units": "K"})
        file["time" if "time" in file.variables else "plain"].units = "days since 2000-01-01"
        file.createVariable("x", "f4", ("x",))[:] = np.arange(7)
        file.createVariable("single", "i4")[...] = 9
        file.createVariable("late", "i4", ("time",), fill_value=4)[:3] = [1, 2, 3]
        texts = file.createVariable("names", str, ("y",))
        texts[:] = np.array(["", "a", "ü", "long" * 9, "e"], object)
        file.createVariable("letters", "S1", ("y", "x"))[:] = np.full((5, 7), b"q", "S1")
        sky = file.createEnumType("u1", "sky", {"clear": 0, "cloudy": 3})
        file.createVariable("cloud", sky, ("y",), fill_value=0)[:] = np.array([0, 3, 3, 0, 3], "u1")
        inner = np.dtype([("lon", "f8"), ("tag", "S1", (4,))], align=True)
        point = file.createCompoundType(inner, "point")
        outer = np.dtype([("k", "i2"), ("at", point.dtype), ("m", "f4", (2,))], align=True)
        station = file.createCompoundType(outer, "station")
        held = np.zeros(5, outer)
        held["k"], held["at"]["lon"], held["m"] = np.arange(5), rng.random(5), 2.5
        held["at"]["tag"] = np.array(list("abcd"), "S1")
        file.createVariable("stations", station, ("y",))[:] = held
        rows = file.createVariable("rows", file.createVLType(np.int32, "row"), ("y",))
        for number in range(5):
            rows[number] = np.arange(number, dtype="i4")
        group = file.createGroup("inner").createGroup("deep")
        group.createDimension("x", 3)
        group.createVariable("v", "i4", ("y", "x"), zlib=True)[:] = np.arange(15).reshape(5, 3)
    return path


def exported(source: Path, target: Path, **options: Any) -> ExportReport:
    request = {each: options.pop(each) for each in ("arrays", "skip_bad", "force") if each in options}
    with refbrowser.open(source) as dataset:
        chosen = Netcdf4Options(**options)
        return run_export(dataset, ExportRequest(str(target), "netcdf4", options=chosen, **request))


def test_chunks_are_copied_or_encoded(tmp_path: Path) -> None:
    rng, source, target = np.random.default_rng(5), tmp_path / "in.nc", tmp_path / "out.nc"
    packed = {"zlib": True, "shuffle": True, "complevel": 3}
    with netCDF4.Dataset(source, "w") as file:
        file.createDimension("t", None), file.createDimension("x", 9)
        long = file.createVariable("long", "f4", ("t", "x"), chunksizes=(512, 4), fletcher32=True, **packed)
        long[:] = rng.random((20, 9))
        file.createVariable("big", ">i2", ("t", "x"), chunksizes=(8, 9), endian="big", **packed)[:] = 7
        # It has the name of a dimension that is not its own.
        file.createVariable("x", "f8", ("t",), chunksizes=(6,), **packed)[:] = rng.random(20)
        holes = file.createVariable("holes", "i4", ("t", "x"), chunksizes=(5, 9), **packed)
        holes[12:14] = 3
        filled = file.createVariable("filled", "i4", ("t", "x"), chunksizes=(5, 9), fill_value=-1)
        filled[4] = 2
        for name in ("long", "big", "x", "holes", "filled"):
            file[name].set_auto_maskandscale(False)
    report = exported(source, target)
    # Those of another byte order alone are encoded anew; what is missing stays so.
    assert (report.copied, report.chunks, report.missing) == (3 + 4 + 1 + 1, 3 + 3 + 4 + 1 + 1, 6)
    with netCDF4.Dataset(source) as one, netCDF4.Dataset(target) as other:
        assert described(other) == described(one)
        assert other["long"].chunking() == [512, 4]
        assert [other["long"].filters()[each] for each in ("complevel", "shuffle", "fletcher32")] == [3, 1, 1]
    # Of a part that does not begin where chunks do all are encoded.
    with refbrowser.open(source) as dataset:
        chosen = (ArrayChoice.of(dataset, "/holes", "3:14,1:"), ArrayChoice.of(dataset, "/x", "::3"))
        options = Netcdf4Options(codec="zlib:1")
        request = ExportRequest(str(target), "netcdf4", arrays=chosen, options=options, force=True)
        assert run_export(dataset, request).copied == 0
        with netCDF4.Dataset(target) as file:
            file.set_auto_maskandscale(False)
            assert np.array_equal(file["holes"][...], dataset["/holes"][3:14, 1:])
            assert np.array_equal(file["x"][...], dataset["/x"][::3])


def described(group: Any) -> Any:
    """Return all that netCDF4 finds in a group."""
    found: dict[str, Any] = {
        "dimensions": {name: (len(each), each.isunlimited()) for name, each in group.dimensions.items()},
        "attributes": attributes(group),
        "variables": {},
        "groups": {name: described(below) for name, below in group.groups.items()},
    }
    for name, each in group.variables.items():
        each.set_auto_maskandscale(False)
        each.set_auto_chartostring(False)
        values = np.asarray(each[...], object if each.dtype is str else None)
        if values.dtype.kind == "O":
            values = [item if isinstance(item, str) else item.tolist() for item in values.reshape(-1)]
        else:
            values = values.astype(values.dtype.newbyteorder("=")).tolist()
            values = repr(values) if np.dtype(each.dtype).names else values
        # The names of types are those of their variables.
        kind = each.dtype if each.dtype is str else np.dtype(each.dtype).newbyteorder("=").descr
        kind = kind, getattr(each.datatype, "enum_dict", None)
        found["variables"][name] = each.dimensions, each.shape, kind, attributes(each), values
    return found


def attributes(target: Any) -> dict[str, Any]:
    found = {name: target.getncattr(name) for name in target.ncattrs()}
    return {
        name: value
        if isinstance(value, str | list)
        else (np.asarray(value).dtype.char, np.asarray(value).tolist())
        for name, value in found.items()
    }


@pytest.mark.slow
def test_a_model_is_the_same_again(tmp_path: Path) -> None:
    source, target = write_model(tmp_path / "model.nc"), tmp_path / "out.nc"
    report = exported(source, target)
    assert [str(loss) for loss in report.losses] == ["/other: codec zstd is written as zlib"]
    assert report.verified == report.chunks > 20
    with netCDF4.Dataset(source) as one, netCDF4.Dataset(target) as other:
        assert described(other) == described(one)
        for name in ("plain", "packed", "x"):
            assert other[name].chunking() == one[name].chunking()
            assert other[name].filters() == one[name].filters()
    with refbrowser.open(target) as dataset, refbrowser.open(source) as first:
        assert set(dataset) == set(first)
        assert np.array_equal(dataset["/inner/deep/v"][...], first["/inner/deep/v"][...])
    # Other software reads the same, but what was changed.
    with netCDF4.Dataset(target, "a") as file:
        file.set_auto_maskandscale(False)
        file["packed"][3, 1, 2], file["rows"][2], file["inner"].extra = 77, np.arange(9, dtype="i4"), 1
        file["packed"].units = "degC"
    with refbrowser.open(source) as dataset:
        packed = dataset["/packed"][3, 1, 2]
        checked = check_export(dataset, ExportRequest(str(target), "netcdf4"))
    assert [each.name for each in checked.programs] == ["netCDF4", "h5py"]
    assert sum(each.what == "values" for each in checked.items) == 2 * report.arrays
    told = [(each.path, each.what, each.expected, each.found) for each in checked.items if not each.is_equal]
    assert sorted(told[:4]) == sorted(told[4:])
    assert sorted(told[:4]) == [
        ("/inner", "attribute 'extra'", "nothing", "1"),
        ("/packed", "attribute 'units'", '"K"', '"degC"'),
        ("/packed", "values", f"'{packed}' at [3, 1, 2]", "'77' there"),
        ("/rows", "values", "'[0, 1]' at [2]", f"'{list(range(9))}' there"),
    ]
    # Of a part: the dimensions are as long as what is taken.
    part = tmp_path / "part.nc"
    with refbrowser.open(source) as dataset:
        chosen = (ArrayChoice.of(dataset, "/packed", "1:4,:,2"), ArrayChoice.of(dataset, "/names", "::2"))
        run_export(dataset, ExportRequest(str(part), "netcdf4", arrays=chosen))
        with netCDF4.Dataset(part) as file:
            file.set_auto_maskandscale(False)
            assert np.array_equal(file["packed"][...], dataset["/packed"][1:4, :, 2])
            assert file["names"][...].tolist() == ["", "ü", "e"]
            assert file["packed"].dimensions == ("time", "y")
    part.unlink()
    for codec, kind in (("none", None), ("zlib:2", "zlib"), ("zstd:3", "zstd")):
        exported(source, target, codec=codec, fletcher32=True, force=True)
        with netCDF4.Dataset(source) as one, netCDF4.Dataset(target) as other:
            assert described(other) == described(one)
            filters = other["packed"].filters()
            assert filters["fletcher32"]
            assert [each for each in ("zlib", "zstd") if filters[each]] == [kind][: bool(kind)]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.nc", "out.nc"]


@pytest.mark.slow
def test_documents_and_streams_are_written(shared_data: Path, tmp_path: Path) -> None:
    made = DocumentMaker(tmp_path)
    arrays = {
        "half": np.arange(6, dtype="f2"),
        "truth": np.array([True, False]),
        "when": np.array(["2001-02-03", "NaT"], "M8[s]"),
        "pairs": np.arange(4) * (1 + 2j),
        "fixed": np.array([b"ab", b"c"], "S2"),
        "wide": np.array(["ä", "bc"], "U2"),
        "big": np.arange(12, dtype=">i4").reshape(3, 4),
    }
    for name, values in arrays.items():
        made.array(name, values, tuple(max(1, side - 1) for side in values.shape))
    documents = [made.write(missing=("big/1.0",)), write_ocean(tmp_path)]
    documents += [shared_data / "real" / f"{name}.refs.json" for name in ("cth", "basin_mask")]
    for number, document in enumerate(documents):
        target = tmp_path / f"{number}.nc"
        report = exported(document, target, skip_bad=True)
        with refbrowser.open(document) as dataset, netCDF4.Dataset(target) as file:
            skipped = {error.place.path for error in report.skipped}
            assert len(skipped) < len(set(dataset))
            for path in set(dataset) - skipped:
                found, wanted = file[path], dataset[path][...]
                found.set_auto_maskandscale(False)
                values = np.asarray(found[...])
                if wanted.dtype.kind == "c":
                    values = values["r"] + 1j * values["i"]
                elif wanted.dtype.kind == "M":
                    wanted = wanted.astype("i8")
                elif wanted.dtype.kind == "S" and values.dtype.kind == "O":
                    wanted = np.char.decode(wanted, "utf-8").astype(object)
                if values.dtype.kind not in "OSV":
                    assert np.array_equal(values, wanted, equal_nan=values.dtype.kind == "f"), path
                elif values.dtype.kind == "O" and wanted.dtype.kind in "OU":
                    assert [str(each) for each in values.flat] == [str(each) for each in wanted.flat], path
            if not number:
                told = "\n".join(map(str, report.losses))
                for text in ("/half: float16", "/truth: bool", "/when: datetime64", "/pairs: complex"):
                    assert text in told


def test_progress_goes_to_the_end_and_not_beyond(tmp_path: Path) -> None:
    made = DocumentMaker(tmp_path)
    made.array("a", np.arange(40, dtype="i4"), (10,))
    made.array("b", np.arange(40, dtype="i4"), (10,))
    told: list[tuple[int, int | None]] = []

    def tell(done: int, total: int | None = None, **_: Any) -> None:
        told.append((done, total))

    refbrowser.export(made.write(), tmp_path / "out.nc", format="netcdf4", progress=tell)
    assert told[-1] == (8, 8)
    assert all(done <= total for done, total in told if total is not None)


def test_what_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = DocumentMaker(tmp_path)
    made.array("good", np.arange(40, dtype="i4"), (10,))
    made.array("opaque", np.array([b"ab", b"cd"], "V2"), (2,))
    made.group("sub", CLASS="kept", fine=1)
    document, target = made.write(), tmp_path / "out.nc"
    with refbrowser.open(document) as dataset, pytest.raises(RefbrowserError, match="opaque bytes"):
        refbrowser.export(dataset, target, format="netcdf4", arrays=["opaque"])
    report = exported(document, target)
    assert not report.skipped
    assert "/opaque: left out: netCDF4 writes no elements of type 'opaque(2) opaque_t': opaque bytes" in map(
        str, report.losses
    )
    assert "/sub: attribute 'CLASS' is left out: the name is reserved by netCDF" in map(str, report.losses)
    with pytest.raises(RefbrowserError, match="exists already"):
        exported(document, target, skip_bad=True)
    before = target.read_bytes()
    with pytest.raises(RefbrowserError, match="no codec 'blosc'"):
        Netcdf4Options(codec="blosc").check("netcdf4")
    # What is written wrong never gets the name.
    numbers = iter(range(99))
    monkeypatch.setattr(netcdf4_writing, "_digest", lambda values: bytes([next(numbers)]))
    with pytest.raises(RefbrowserError, match="verification failed"):
        exported(document, target, skip_bad=True, force=True)
    monkeypatch.undo()
    monkeypatch.setattr(netcdf4_chunks, "_sum", lambda data: next(numbers))
    with pytest.raises(RefbrowserError, match="a chunk differs from what was written"):
        exported(document, target, skip_bad=True, force=True)
    monkeypatch.undo()
    token = CancelToken()
    token.cancel()
    request = ExportRequest(str(target), "netcdf4", force=True, skip_bad=True)
    with refbrowser.open(document) as dataset, pytest.raises(Cancelled):
        run_export(dataset, request, JobControl(token))
    assert target.read_bytes() == before
    # A chunk that is lost is an error, and with `skip_bad` it is told.
    with (tmp_path / "data.bin").open("r+b") as stream:
        stream.truncate(70)
    with pytest.raises(RefbrowserError):
        exported(document, target, arrays=None, force=True)
    report = exported(document, target, skip_bad=True, force=True)
    assert any(error.place.path == "/good" for error in report.skipped)
    assert [each for each in tmp_path.iterdir() if "refbrowser" in each.name] == []
