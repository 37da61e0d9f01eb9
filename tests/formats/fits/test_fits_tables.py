"""Tables, headers and sums of FITS as astropy reads them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.cli.program import main
from refbrowser.errors import RefbrowserError
from refbrowser.formats.fits import fits_units

fits = pytest.importorskip("astropy.io.fits")


def with_cards(path: Path, unit: str, **cards: Any) -> None:
    """Put cards in a header that astropy would act upon when it writes."""
    data = path.read_bytes()
    at = data.index(b"END".ljust(80), data.index(b"EXTNAME = '" + unit.encode().ljust(8)))
    lines = [f"{name:8}= {value!r:>20}".encode().ljust(80) for name, value in cards.items()]
    head = data[:at] + b"".join(lines) + b"END".ljust(80)
    behind = at + 80 + -(at + 80) % 2880
    path.write_bytes(head + b" " * (-len(head) % 2880) + data[behind:])


def write_tables(path: Path) -> None:
    column = fits.Column
    rows = np.array([np.arange(n, dtype="f8") for n in (1, 0, 2)], object)
    binary = fits.BinTableHDU.from_columns(
        [
            column("time", "D", array=np.array([1.5, 2.5, 3.5])),
            column("short", "I", array=np.array([1, -9, 3], "i2")),
            column("real", "E", array=np.array([1, 2, 4], "f4")),
            column("complex", "M", array=np.array([1j, 2, 3])),
            column("unsigned", "J", array=np.array([0, 2**31, 2**32 - 1], "u4"), bzero=2**31),
            column("rows", "PD()", array=rows),
            column("nothing", "0D", array=np.zeros((3, 0))),
            column("no_text", "0D", array=np.zeros((3, 0))),
            column("bits", "16X", array=np.arange(48).reshape(3, 16) % 3 == 0),
        ],
        name="BINARY",
    )
    text = fits.TableHDU.from_columns(
        [column("n", "I10", null="none", array=[1, -2, 3]), column("x", "E12.4", array=[1.5, 2, -3e9])],
        name="TEXT",
    )
    fits.HDUList([fits.PrimaryHDU(), binary, text]).writeto(path)
    with_cards(
        path, "BINARY", TSCAL1=2.0, TZERO1=329097600.0, TSCAL2=0.5, TZERO2=100.0, TNULL2=-9, TSCAL3=2.0,
        TZERO4=5.0, TZERO6=10.0, TDIM9="(8,2,1)",
    )  # fmt: skip
    data = path.read_bytes().replace(b"        -2", b"      none", 1)
    path.write_bytes(data.replace(b"TFORM8  = '0D", b"TFORM8  = '0A", 1))


def test_scaled_columns_are_those_of_astropy(tmp_path: Path) -> None:
    write_tables(tmp_path / "a.fits")
    # Astropy cannot read tables that give bits a shape.
    (tmp_path / "b.fits").write_bytes((tmp_path / "a.fits").read_bytes().replace(b"TDIM9", b"NODIM", 1))
    with refbrowser.open(str(tmp_path / "a.fits")) as dataset, fits.open(tmp_path / "b.fits") as file:
        theirs = file["BINARY"].data
        for name in ("time", "short", "real", "unsigned"):
            mine, expected = dataset[f"/BINARY.{name}"][...], np.array(theirs[name])
            if name == "short":
                assert np.isnan(mine[1])
                mine, expected = mine[[0, 2]], expected[[0, 2]]
            assert (mine == expected).all(), name
        # Astropy scales the real parts alone.
        assert dataset["/BINARY.complex"][...].tolist() == [5 + 1j, 7, 8]
        assert dataset["/BINARY.time"][...].tolist() == [329097603, 329097605, 329097607]
        assert [each.tolist() for each in dataset["/BINARY.rows"][...]] == [[10], [], [10, 11]]
        # The rows themselves are as they are stored.
        table = dataset["/BINARY"][...]
        assert table["time"].tolist() == [1.5, 2.5, 3.5]
        assert (
            np.unpackbits(table["bits"], axis=1).tolist() == (np.arange(48).reshape(3, 16) % 3 == 0).tolist()
        )


def test_columns_without_width_are_kept(tmp_path: Path) -> None:
    write_tables(tmp_path / "a.fits")
    with refbrowser.open(str(tmp_path / "a.fits")) as dataset:
        assert dataset["/BINARY.nothing"][...].shape == (3, 0)
        assert dataset["/BINARY.no_text"][...].tolist() == ["", "", ""]


def test_whole_numbers_of_text_tables_stay_whole(tmp_path: Path) -> None:
    write_tables(tmp_path / "a.fits")
    with refbrowser.open(str(tmp_path / "a.fits")) as dataset:
        table = dataset["/TEXT"][...]
        column = dataset["/TEXT.n"]
        assert column[...].tolist() == table["n"].tolist()
        assert column.attrs["_FillValue"] == -(2**63)
    assert (table["n"].dtype, table["n"].tolist()) == (np.dtype("i8"), [1, -(2**63), 3])
    assert table["x"].tolist() == [1.5, 2, -3e9]


def test_a_table_whose_rows_have_other_bytes_costs_itself_alone(tmp_path: Path) -> None:
    write_tables(tmp_path / "a.fits")
    data = (tmp_path / "a.fits").read_bytes()
    assert data.count(b"TFORM3  = 'E       '") == 1
    (tmp_path / "a.fits").write_bytes(data.replace(b"TFORM3  = 'E       '", b"TFORM3  = '2E      '"))
    with refbrowser.open(str(tmp_path / "a.fits")) as dataset:
        with pytest.raises(RefbrowserError, match=r"its columns have \d+ bytes, its rows"):
            dataset["/BINARY"][...]
        assert len(dataset["/TEXT"][...]) == 3


def test_a_header_that_departs_from_the_standard_is_shown_with_bytes(tmp_path: Path) -> None:
    fits.PrimaryHDU(np.arange(4, dtype=">i2")).writeto(tmp_path / "a.fits")
    data = (tmp_path / "a.fits").read_bytes()
    head = b"SIMPLE  =                    "
    (tmp_path / "a.fits").write_bytes(data.replace(head + b"T", head + b"F", 1))
    with refbrowser.open(str(tmp_path / "a.fits")) as dataset:
        assert dataset["/PRIMARY"][:8].tobytes() == np.arange(4, dtype=">i2").tobytes()
        assert dataset["/PRIMARY"].attrs.get("BITPIX", 16) == 16


# Sums


def write_summed(path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = np.array([np.arange(5.0), np.arange(3.0)], object)
    units = [
        fits.PrimaryHDU(rng.integers(-99, 99, (7, 11)).astype("i2")),
        fits.ImageHDU(rng.integers(0, 2**16, (30, 9)).astype("u2"), name="UNSIGNED"),
        fits.CompImageHDU(rng.integers(-9, 99, (40, 30)).astype("i4"), name="PACKED"),
        fits.BinTableHDU.from_columns([fits.Column("k", "J", array=np.arange(9))], name="PLAIN"),
        fits.BinTableHDU.from_columns([fits.Column("rows", "PE()", array=rows)], name="HEAP"),
        fits.TableHDU.from_columns([fits.Column("n", "I5", array=[1, -2, 3])], name="TEXT"),
    ]  # fmt: skip
    fits.HDUList(units).writeto(path, checksum=True)


PATHS = {0: "/PRIMARY", 1: "/UNSIGNED", 2: "/PACKED", 3: "/PLAIN", 4: "/HEAP.rows", 5: "/TEXT"}


def warned(dataset: refbrowser.Dataset) -> list[str]:
    return [each.message for each in dataset.access.memory.warnings]


def test_sums_of_sound_files_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_summed(tmp_path / "a.fits")
    judged: list[int] = []
    judge = fits_units.UnitSum._judged
    monkeypatch.setattr(
        fits_units.UnitSum, "_judged", lambda self, total: judged.append(total) or judge(self, total)
    )
    with refbrowser.open(str(tmp_path / "a.fits")) as dataset:
        for path in PATHS.values():
            dataset[path][...]
        assert not warned(dataset)
        assert not dataset.document.notes
    assert len(judged) == len(PATHS)


def test_bytes_of_other_files_are_no_part_of_a_sum() -> None:
    library = SimpleNamespace(url="/a.fits")
    witness = fits_units.UnitSum(library, "/PRIMARY", offset=100, span=8, size=8, expected=0, rest=0)
    changed = memoryview(b"\0\0\0\1\0\0\0\0")
    assert witness.check("/b.fits", 100, changed) is None
    assert witness.check("/a.fits", 104, changed) is None
    found = witness.check("/a.fits", 100, changed)
    assert found is not None
    assert (found.place.url, found.place.start, found.place.stop) == ("/a.fits", 100, 108)


@pytest.mark.parametrize("number", PATHS)
def test_a_changed_byte_is_told_where_it_is_read(number: int, tmp_path: Path) -> None:
    path = tmp_path / "a.fits"
    write_summed(path)
    with fits.open(path) as file:
        at = file[number].fileinfo()["datLoc"] + (40 if number == 4 else 3)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with refbrowser.open(str(path)) as dataset:
        for other, sound in PATHS.items():
            if other != number:
                dataset[sound][...]
        assert not warned(dataset)
        # What is packed, or text, may be none at all now.
        with suppress(RefbrowserError):
            dataset[PATHS[number]][...]
        assert ["DATASUM says" in each for each in warned(dataset)] == [True]


def test_a_changed_card_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.fits"
    write_summed(path)
    data = path.read_bytes()
    at = data.index(b"TTYPE1  = 'k")
    path.write_bytes(data[: at + 11] + b"q" + data[at + 12 :])
    with refbrowser.open(str(path)) as dataset:
        (note,) = dataset.document.notes
    assert (note.place.path, "CHECKSUM" in note.message) == ("/PLAIN", True)


def test_images_of_many_chunks_are_summed_as_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from refbrowser.formats.fits import fits_arrays

    monkeypatch.setattr(fits_arrays, "_LARGEST", 2000)
    monkeypatch.setattr(fits_arrays, "_USUAL", 900)
    path = tmp_path / "a.fits"
    fits.PrimaryHDU(np.arange(3003, dtype="i2").reshape(1001, 3)).writeto(path, checksum=True)
    data = bytearray(path.read_bytes())
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/PRIMARY"].node.grid.size > 2
        dataset["/PRIMARY"][...]
        assert not warned(dataset)
    data[2880 + 3000] ^= 4
    path.write_bytes(data)
    with refbrowser.open(str(path)) as dataset:
        dataset["/PRIMARY"][:5]
        assert not warned(dataset)
        dataset["/PRIMARY"][...]
        assert len(warned(dataset)) == 1


def test_an_audit_finds_a_changed_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.fits"
    write_summed(path)
    data = bytearray(path.read_bytes())
    with fits.open(path) as file:
        data[file["HEAP"].fileinfo()["datLoc"] + 41] ^= 1
        data[file[0].fileinfo()["datLoc"]] ^= 1
    path.write_bytes(data)
    main(["audit", str(path), "--level", "full"])
    told = capsys.readouterr().out
    assert told.count("DATASUM says") == 2 or told.count("DATASUM") >= 2, told


@pytest.mark.parametrize("form", ["PL()", "QL()"])
def test_logical_rows_of_variable_length_have_the_letters_of_logical_columns(
    form: str, tmp_path: Path
) -> None:
    rows = np.array([np.array([True, False, True]), np.array([], bool), np.array([False])], object)
    columns = [fits.Column("truth", "L", array=[True, False, True]), fits.Column("rows", form, array=rows)]
    fits.BinTableHDU.from_columns(columns, name="TRUTH").writeto(tmp_path / "a.fits")
    with fits.open(tmp_path / "a.fits") as file, refbrowser.open(tmp_path / "a.fits") as dataset:
        mine, theirs = dataset.array("TRUTH"), file["TRUTH"].data
        assert ((mine[...]["truth"] == b"T") == theirs["truth"]).all()
        if theirs["rows"][0].dtype != bool:
            pytest.skip("the installed astropy writes numbers where letters belong")
        for here, there in zip(dataset.array("TRUTH.rows")[...], theirs["rows"], strict=True):
            assert here.dtype == mine.dtype["truth"]
            assert (here == b"T").tolist() == there.tolist()


def test_properties_of_tables_are_learned_and_held(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Fill values of columns with rows are no single numbers.
    write_summed(tmp_path / "a.fits")
    assert main(["expect", str(tmp_path / "a.fits"), "--properties"]) == 0
    capsys.readouterr()
    main(["audit", str(tmp_path / "a.fits")])
    assert "not-as-declared" not in capsys.readouterr().out
