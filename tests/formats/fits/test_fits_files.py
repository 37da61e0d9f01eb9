"""Files of FITS opened directly: what is shown and read is what astropy gives."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from servers.http_server import HttpServer

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.fits import fits_arrays

fits = pytest.importorskip("astropy.io.fits")

#: Arrays that no byte range gives, with a word of the reason.
NOT_REFERENCABLE = {
    "/PACKED": "compressed",
    "/PACKED_UNSIGNED": "compressed",
    "/WIDE": "64 bits",
    "/LINES": "text",
    "/EVENTS.rows": "variable length",
    "/EVENTS.texts": "variable length",
    "/EVENTS.scaled": "scale or offset",
    "/EVENTS.unsigned": "scale or offset",
}


def write_all(path: Path) -> Path:
    """Write a file with a unit of each kind."""
    rng = np.random.default_rng(1)
    column = fits.Column
    rows = np.array([np.arange(n, dtype="f4") for n in (0, 3, 1, 2)], object)
    table = fits.BinTableHDU.from_columns(
        [
            column("whole", "J", unit="m", array=np.arange(4)),
            column("real", "D", array=rng.random(4)),
            column("truth", "L", array=[True, False, True, True]),
            column("text", "5A", array=["a", "bb", "ccc", ""]),
            column("cells", "6E", dim="(3,2)", array=np.arange(24.0).reshape(4, 2, 3)),
            column("bits", "11X", array=rng.integers(0, 2, (4, 11)).astype(bool)),
            column("complex", "C", array=np.arange(4) * 1j),
            column("rows", "PE()", array=rows),
            column("texts", "PA()", array=np.array(["x", "", "yz", "longer"], object)),
            column("scaled", "I", array=np.arange(4)),
            column("unsigned", "I", bzero=32768, array=np.array([0, 1, 40000, 65535], "u2")),
        ],
        name="EVENTS",
    )
    table.header["TSCAL10"], table.header["TZERO10"] = 0.5, 10.0
    scaled = fits.ImageHDU(np.arange(12, dtype="i2").reshape(3, 4), name="SCALED")
    units = [
        fits.PrimaryHDU(),
        fits.ImageHDU(rng.random((5, 7)).astype("f4"), name="SCI"),
        fits.ImageHDU(rng.random((5, 7)), name="SCI", ver=2),
        fits.ImageHDU(rng.integers(0, 2**16, (6, 7, 8)).astype("u2"), name="UNSIGNED"),
        fits.ImageHDU(np.arange(256, dtype="u1").view("i1"), name="BYTES"),
        fits.ImageHDU(np.array([0, 2**63, 2**64 - 1], "u8"), name="WIDE"),
        fits.ImageHDU(np.arange(10, dtype="i8")),
        scaled,
        fits.ImageHDU(name="NOTHING"),
        fits.CompImageHDU(rng.integers(-9, 99, (40, 30)).astype("i4"), name="PACKED"),
        fits.CompImageHDU(rng.integers(0, 2**16, (20, 30)).astype("u2"), name="PACKED_UNSIGNED"),
        table,
        fits.TableHDU.from_columns(
            [
                column("n", "I5", array=[1, -2, 3]),
                column("x", "E12.4", array=[1.5, 2, -3e9]),
                column("w", "A4", array=["x", "yy", "zzzz"]),
            ],
            name="LINES",
        ),
    ]
    header = units[0].header
    header["OBSERVER"], header["DATE-OBS"], header["FLAG"] = "Edwin", "2020-01-01", True
    header["HIERARCH ESO DET NAME"] = "long"
    header["COMMENT"], header["HISTORY"] = "one", "a"
    header["HISTORY"] = "b"
    units[1].header["BUNIT"] = "Jy"
    fits.HDUList(units).writeto(path, output_verify="ignore")
    # Cards that astropy would act upon when it writes.
    data = path.read_bytes()
    name = b"EXTNAME = 'SCALED  '"
    at = data.index(b"END".ljust(80), data.index(name))
    cards = b"BSCALE  =                  0.5".ljust(80) + b"BZERO   =                  100".ljust(80)
    cards += b"BLANK   =                    7".ljust(80) + b"END".ljust(80)
    path.write_bytes(data[:at] + cards + data[at + len(cards) :])
    return path


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("fits") / "all.fits")


def same(mine: Any, theirs: Any) -> bool:
    return bool(mine.shape == theirs.shape and (mine == theirs).all())


def check_values(dataset: refbrowser.Dataset, path: Path) -> None:
    """Compare with what astropy reads."""
    with fits.open(path, do_not_scale_image_data=True) as raw, fits.open(path) as file:
        for name in ("SCI", "SCI_2", "UNSIGNED", "BYTES", "WIDE", "PACKED", "PACKED_UNSIGNED"):
            unit = file["SCI", 2] if name == "SCI_2" else file[name]
            assert same(dataset[f"/{name}"][...], unit.data), name
        assert same(dataset["/HDU6"][...], file[6].data)
        assert same(dataset["/SCALED"][...], raw["SCALED"].data)
        assert same(dataset["/UNSIGNED"][1:5:2, ::-1, 3], file["UNSIGNED"].data[1:5:2, ::-1, 3])
        assert same(dataset["/PACKED"][3:30:9, 1:2], file["PACKED"].data[3:30:9, 1:2])
        table, mine = file["EVENTS"].data, dataset["/EVENTS"][...]
        for name in ("whole", "real", "cells", "complex"):
            assert same(mine[name], table[name]), name
        assert same(mine["truth"] == b"T", table["truth"])
        assert np.char.rstrip(mine["text"]).tolist() == [each.encode() for each in table["text"]]
        assert same(np.unpackbits(mine["bits"], axis=1)[:, :11].astype(bool), table["bits"])
        for name in ("scaled", "unsigned"):
            assert same(dataset[f"/EVENTS.{name}"][...], table[name]), name
        assert [each.tolist() for each in dataset["/EVENTS.rows"][1:]] == [
            each.tolist() for each in table["rows"][1:]
        ]
        assert dataset["/EVENTS.texts"][...].tolist() == ["".join(each) for each in table["texts"]]
        for name in ("n", "x"):
            assert same(dataset["/LINES"][...][name], np.asarray(file["LINES"].data[name])), name
        assert dataset["/LINES"][...]["w"].tolist() == [b"x", b"yy", b"zzzz"]


@pytest.mark.slow
def test_every_kind_reads_as_astropy_reads_it(everything: Path) -> None:
    with refbrowser.open(str(everything)) as dataset:
        assert dataset.format == "fits"
        assert not dataset.document.notes
        check_values(dataset, everything)
        told = {path: array.node.not_referencable for path, array in dataset.arrays.items()}
        assert {path for path, why in told.items() if why} == set(NOT_REFERENCABLE)
        assert all(word in told[path] for path, word in NOT_REFERENCABLE.items())
        root = dataset.hierarchy.root
        assert root.attributes["OBSERVER"] == "Edwin"
        assert root.attributes["FLAG"] is True
        assert root.attributes["ESO DET NAME"] == "long"
        assert root.attributes["HISTORY"] == "a\nb"
        assert "BITPIX" not in root.attributes
        assert set(root.groups) == {"NOTHING"}
        scaled = dataset["/SCALED"].node
        said = {name: scaled.attributes[name] for name in ("scale_factor", "add_offset", "_FillValue")}
        assert said == {"scale_factor": 0.5, "add_offset": 100.0, "_FillValue": 7}
        assert scaled.fill_value == 7
        assert dataset["/SCI"].node.attributes["units"] == "Jy"
        assert dataset["/SCI"].node.dimensions == ("y", "x")
        assert dataset["/UNSIGNED"].node.dimensions == ("z", "y_7", "x_8")


def test_missing_values_of_tables_are_no_numbers(tmp_path: Path) -> None:
    """What TNULL names is the fill value of a column, NaN where numbers are computed, and zero nowhere."""
    path = tmp_path / "a.fits"
    column = fits.Column
    table = fits.BinTableHDU.from_columns(
        [
            column("plain", "J", null=-99, array=np.array([1, -99])),
            column("scaled", "I", null=-1, array=np.array([21, -1])),
            column("unsigned", "I", bzero=32768, null=-32768, array=np.array([1, 0], "u2")),
        ],
        name="T",
    )
    table.header["TSCAL2"], table.header["TZERO2"] = 0.5, 10.0
    lines = fits.TableHDU.from_columns(
        [column("n", "I6", null="NONE", array=[7, 8]), column("x", "F8.3", array=[1.5, 2])], name="L"
    )
    fits.HDUList([fits.PrimaryHDU(), table, lines]).writeto(path, output_verify="ignore")
    head, _, tail = path.read_bytes().rpartition(b"     8")
    path.write_bytes(head + b"  NONE" + tail)
    with refbrowser.open(str(path)) as dataset:
        for name, fill, values in (
            ("plain", -99, [1, -99]),
            ("scaled", np.nan, [20.5, np.nan]),
            ("unsigned", 0, [1, 0]),
        ):
            array = dataset[f"/T.{name}"]
            assert np.array_equal(array.node.fill_value, fill, equal_nan=True), name
            assert np.array_equal(array[...], values, equal_nan=True), name
            assert "_FillValue" in array.node.attributes
        assert dataset["/T"][...]["plain"].tolist() == [1, -99]
        # Whole numbers stay whole: what is none is the smallest one, and marked beside the table.
        least = -(2**63)
        assert dataset["/L"][...]["n"].tolist() == [7, least]
        assert dataset["/L.n"].node.fill_value == dataset["/L.n"].attrs["_FillValue"] == least


def test_packed_files_are_read_and_refer_to_nothing(everything: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.fits.gz"
    packed = gzip.compress(everything.read_bytes())
    path.write_bytes(packed)
    with HttpServer({"/a.fits.gz": packed}) as server:
        for name in (str(path), server.url("/a.fits.gz")):
            with refbrowser.open(name) as dataset:
                assert dataset.format == "fits"
                check_values(dataset, everything)
                assert all(array.node.not_referencable for array in dataset.arrays.values())
                assert "compressed by gzip" in dataset["/SCI"].node.not_referencable
    path.write_bytes(packed[: len(packed) // 2])
    with refbrowser.open(str(path)) as dataset:
        assert any("cannot be unpacked" in each.message for each in dataset.document.notes)
        assert dataset["/SCI"][...].shape == (5, 7)


def test_it_is_listed_and_read_by_the_command_line(
    everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", "--json", str(everything)]) == 0
    told = capsys.readouterr().out
    assert '"not_referencable": "its numbers are stored as text"' in told
    assert main(["cdl", str(everything)]) == 0
    told = capsys.readouterr().out
    assert "\tfloat SCI(y, x) ;" in told
    assert "\tushort UNSIGNED(z, y_7, x_8) ;" in told
    assert '\t\t:OBSERVER = "Edwin" ;' in told


def test_references_are_read_by_fsspec_and_zarr(everything: Path, tmp_path: Path) -> None:
    import fsspec
    import zarr

    target = tmp_path / "a.refs.json"
    with refbrowser.open(str(everything)) as dataset:
        report = refbrowser.export(dataset, str(target), format="refs-v1")
        lost = {loss.path for loss in report.losses if "left out" in loss.what}
        assert lost == {"/EVENTS.rows"}
        with refbrowser.open(str(target), allow=[str(tmp_path.parent), str(everything.parent)]) as again:
            assert set(dataset.arrays) - set(again.arrays) == lost
            for path in ("/SCI", "/UNSIGNED", "/BYTES", "/EVENTS", "/EVENTS.unsigned", "/PACKED"):
                assert same(again[path][...], dataset[path][...]), path
        store = fsspec.filesystem("reference", fo=str(target), simple_templates=False, asynchronous=True)
        group = zarr.open_group(zarr.storage.FsspecStore(store, path=""), mode="r", zarr_format=2)
        for name in ("SCI", "UNSIGNED", "BYTES", "SCALED"):
            assert same(group[name][...], dataset[f"/{name}"][...]), name


def test_images_are_divided_into_equal_chunks_that_follow_each_other() -> None:
    million = 1 << 20
    for shape, size, sides in (
        ((8, 4, million), 4, (1, 4, million)),
        ((4096, 8192), 4, (512, 8192)),
        ((100, 100), 8, (100, 100)),
        ((), 8, ()),
        ((0, 5), 8, (1, 5)),
        ((1, 2, 4096, 8192), 4, (1, 1, 512, 8192)),
    ):
        assert fits_arrays._sides(shape, size, 16 << 20, 64 << 20) == sides, shape


def test_groups_and_images_in_the_primary_unit(tmp_path: Path) -> None:
    path = tmp_path / "a.fit"
    groups = fits.GroupData(
        np.arange(24, dtype="f4").reshape(4, 1, 2, 3),
        parnames=["u", "v"],
        pardata=[np.arange(4.0)] * 2,
        bitpix=-32,
    )
    fits.GroupsHDU(groups).writeto(path)
    with refbrowser.open(str(path)) as dataset, fits.open(path) as file:
        (name,) = dataset.arrays
        mine = dataset[name][...]
        assert same(mine["DATA"], file[0].data["DATA"])
        assert same(mine["u"], file[0].data.par("u"))
    data = np.zeros((3, 4), ">i2")
    fits.PrimaryHDU(data).writeto(path, overwrite=True)
    with refbrowser.open(str(path)) as dataset:
        assert list(dataset.arrays) == ["/PRIMARY"]
        assert dataset["/PRIMARY"].dtype == data.dtype


@pytest.mark.slow
def test_a_remote_file_is_read_by_ranges(everything: Path) -> None:
    with HttpServer({"/all.fits": everything.read_bytes(), "/any": everything.read_bytes()}) as server:
        for name in ("/all.fits", "/any"):
            server.requests.clear()
            with refbrowser.open(server.url(name)) as dataset:
                assert server.request_count <= 3
                check_values(dataset, everything)


@pytest.mark.slow
def test_what_is_missing_or_damaged_fails_alone(everything: Path, tmp_path: Path) -> None:
    """Nothing but errors of ours comes of damage, and what is sound is still read."""
    data = everything.read_bytes()
    path = tmp_path / "a.fits"
    read = lost = 0

    def look() -> list[str]:
        nonlocal read, lost
        path.write_bytes(damaged)
        try:
            with refbrowser.open(str(path)) as dataset:
                for array in dataset.arrays.values():
                    try:
                        if np.prod(array.shape, dtype=float) < 1e6:
                            array[...]
                        read += 1
                    except RefbrowserError:
                        lost += 1
                return [each.message for each in dataset.document.notes]
        except RefbrowserError as error:
            assert error.kind in (ErrorKind.FORMAT, ErrorKind.BUDGET), error  # noqa: PT017
            lost += 17
            return []

    for size in (100, 2880, 9000, len(data) // 2, len(data) - 8000):
        damaged = bytearray(data[:size])
        found = look()
        assert size <= 2880 or found, size
    assert read > 12
    for seed in range(10):
        rng = np.random.default_rng(seed)
        damaged = bytearray(data)
        for at in rng.integers(80, len(data), int(rng.choice([3, 20, 100]))).tolist():
            damaged[at] = int(rng.choice([0, 255, damaged[at] ^ 1, rng.integers(256)]))
        look()
    for card, value in (
        ("NAXIS1", 10**15),
        ("NAXIS2", -5),
        ("NAXIS", 999),
        ("BITPIX", 7),
        ("GCOUNT", 10**18),
    ):
        damaged = bytearray(data)
        at = data.index(card.ljust(8).encode() + b"= ", data.index(b"'SCI  "[:4]) - 2880)
        damaged[at : at + 80] = f"{card:8}= {value:>20}".encode().ljust(80)
        look()
    for old, new in (
        (b"TFORM8  = 'PE(3)", b"TFORM8  = 'PE(3"),
        (b"PCOUNT", b"PCOUNX"),
        (b"TFIELDS =                   11", b"TFIELDS =                  999"),
    ):
        damaged = bytearray(data.replace(old, new))
        look()
    assert read > 100
    assert lost
