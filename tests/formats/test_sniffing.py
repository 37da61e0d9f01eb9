"""Files that hold data are recognised by their first bytes; all others are told by what they begin with."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.formats.references import open_references
from refbrowser.formats.sniffing import (
    DATA_KINDS,
    FileKind,
    Found,
    NotReferencesError,
    file_kind,
    found_in_folder,
    hex_lines,
    json_kind,
)

HDF5 = b"\x89HDF\r\n\x1a\n"
KINDS = [
    (b"CDF\x01\x00\x00\x00\x00", FileKind.NETCDF3),
    (b"CDF\x02....", FileKind.NETCDF3),
    (b"CDF\x05....", FileKind.NETCDF3),
    (b"CDF\x03....", FileKind.UNKNOWN),
    (HDF5 + b"\x00" * 8, FileKind.HDF5),
    (b"user block".ljust(512, b"\x00") + HDF5, FileKind.HDF5),
    (b"user block".ljust(2048, b"\x00") + HDF5, FileKind.HDF5),
    (b"user block".ljust(600, b"\x00") + HDF5, FileKind.UNKNOWN),
    (b"GRIB\x00\x00\x00\x01rest\x00", FileKind.GRIB),
    (b"GRIB\xff\xff\x00\x02rest\x00", FileKind.GRIB),
    (b"HTXX01 EGRR 010000\r\r\nGRIB\x00\x00\x00\x01\x00", FileKind.GRIB),
    (b"GRIB is a format of the WMO", FileKind.TEXT),
    (b"II*\x00\x08\x00", FileKind.TIFF),
    (b"MM\x00*\x00\x00", FileKind.TIFF),
    (b"II+\x00\x08\x00", FileKind.TIFF),
    (b"\x0e\x03\x13\x01\x00", FileKind.HDF4),
    (b"SIMPLE  =                    T", FileKind.FITS),
    (b"PK\x03\x04\x14\x00", FileKind.ZIP),
    (b"PAR1\x15\x04", FileKind.PARQUET),
    (b"  \n<!DOCTYPE html><html>", FileKind.PAGE),
    (b"[1, 2, 3]", FileKind.TEXT),
    ("größer".encode(), FileKind.TEXT),
    (b"\x00\x01\x02\x03", FileKind.UNKNOWN),
    (b"", FileKind.EMPTY),
]


@pytest.mark.parametrize(("head", "kind"), KINDS)
def test_kind_by_first_bytes(head: bytes, kind: FileKind) -> None:
    assert file_kind(head) is kind


@pytest.mark.parametrize("head", [head for head, kind in KINDS if kind in DATA_KINDS])
@pytest.mark.parametrize("is_packed", [False, True])
def test_data_is_told_whatever_its_name(tmp_path: Path, head: bytes, is_packed: bool) -> None:
    path = tmp_path / "era5.json"
    path.write_bytes(gzip.compress(head) if is_packed else head)
    with pytest.raises(NotReferencesError) as told:
        open_references(path)
    assert told.value.kind == "E_FORMAT"
    assert told.value.found.is_data
    assert told.value.found.head == head[:48]
    assert "holds data, not references" in told.value.message


@pytest.mark.parametrize(("data", "error"), [
    (b"", "E_JSON"), (b"[1, 2]", None), (b"\x00\x01\x02", None), (b"<html>not found</html>", "E_FORMAT"),
])  # fmt: skip
def test_other_files_keep_their_error_and_show_their_beginning(data: bytes, error: str | None) -> None:
    with pytest.raises(NotReferencesError) as told:
        open_references(data, name="x.json")
    assert error is None or told.value.kind == error
    assert not told.value.found.is_data
    assert told.value.found.head == data
    assert told.value.message


@pytest.mark.parametrize("data", [b'{"a": ', b'\xef\xbb\xbf  {"version": 7}'])
def test_broken_documents_are_documents(data: bytes) -> None:
    with pytest.raises(RefbrowserError) as told:
        open_references(data)
    assert not isinstance(told.value, NotReferencesError)


def test_folders(tmp_path: Path) -> None:
    for name in ("b.json", "a.json.gz", ".hidden.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    documents = ("a.json.gz", "b.json")
    assert found_in_folder(tmp_path) == Found(
        FileKind.FOLDER, documents=documents, names=(*documents, "notes.txt")
    )
    with pytest.raises(NotReferencesError) as told:
        open_references(tmp_path)
    assert told.value.found.documents == ("a.json.gz", "b.json")
    (tmp_path / ".zgroup").write_text("{}")
    assert found_in_folder(tmp_path).kind is FileKind.ZARR


def test_hex_lines_are_aligned() -> None:
    lines = hex_lines(bytes(range(60, 80)))
    assert lines[0].endswith("<=>?@ABCDEFGHIJK")
    assert lines[1].index("LMNO") == lines[0].index("<=>?")


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"type", "features"}, FileKind.GEOJSON),
        ({"type", "stac_version", "geometry"}, FileKind.STAC),
        ({"name", "version", "scripts"}, FileKind.PACKAGE),
        ({"nbformat", "cells", "metadata"}, FileKind.NOTEBOOK),
        ({"type", "a/0.0"}, None),
        ({"name", "version"}, None),
        (set(), None),
    ],
)
def test_objects_of_other_software(keys: set[str], kind: FileKind | None) -> None:
    assert json_kind(keys) is kind


@pytest.mark.parametrize(
    ("text", "kind", "advice"),
    [
        (
            '<?xml version="1.0"?>\n<netcdf xmlns="http://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2"/>',
            "an NcML description",
            "names nothing",
        ),
        ('<VRTDataset rasterXSize="2"/>', "a virtual raster of GDAL", "names nothing"),
        ("# a day\ns3://bucket/a.nc\nhttps://host/b.nc\n", "a list of URLs", "refbrowser make"),
        ('{"type": "Feature", "stac_version": "1.0.0", "assets": {}}', "a STAC document", "nothing that can"),
        ("<!doctype html>", "a web page", ""),
    ],
)
def test_what_has_no_references_is_named_and_leads_on(
    tmp_path: Path, text: str, kind: str, advice: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(NotReferencesError, match=f"the file is {kind}: it has no references") as raised:
        refbrowser.open(path)
    assert advice in raised.value.advice


def test_a_document_with_such_words_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"_offset": 3, "a": ["b", 0, 4]}')
    with refbrowser.open(path) as dataset:
        assert dataset.format == "refs-v0"


def test_a_parquet_file_is_told_what_to_open_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "gfs.parq"
    path.write_bytes(b"PAR1\x15\x04\x15\x00PAR1")
    with pytest.raises(NotReferencesError, match="the file is a parquet file") as raised:
        refbrowser.open(path)
    assert raised.value.found.kind is FileKind.PARQUET
    assert "Open the folder" in raised.value.advice
    assert "columns varname, uri, offset and length" in raised.value.advice
