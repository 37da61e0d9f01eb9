"""A DMR++ that is written says what the source says: our reader, VirtualiZarr and h5py read the same."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import h5py
import numcodecs
import numpy as np
import pytest
from documents_made import DocumentMaker
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest
from refbrowser.limits import LIMITS
from refbrowser.wings.dmrpp.writing.dmrpp_text import chunk_lines

VALUES = np.random.default_rng(3).normal(size=(90, 180)).astype("f4")
NUMBERS = ("lat", "lon", "t", "scalar", "g/holes", "g/empty", "g/none", "g/b", "g/lzf", "g/large", "g/int16")
DAP, OURS = "{http://xml.opendap.org/ns/DAP/4.0#}", "{http://xml.opendap.org/dap/dmrpp/1.0.0#}"


def write_file(path: Path) -> Path:
    packed: dict[str, Any] = {"compression": "gzip", "compression_opts": 7, "shuffle": True}
    with h5py.File(path, "w") as file:
        file.attrs["title"] = 'a <b> & "c"\r\nline'
        file.attrs["counts"] = np.array([1, 2], "i2")
        file.attrs["odd"] = np.array([np.nan, np.inf, 0.1], "f4")
        for name, values in (("lat", np.arange(90, dtype="f4")), ("lon", np.arange(180, dtype=">f8"))):
            file.create_dataset(name, data=values).make_scale(name)
        array = file.create_dataset("t", data=VALUES, chunks=(32, 64), fletcher32=True, **packed)
        array.attrs["_FillValue"] = np.float32(-9)
        for axis, name in enumerate(("lat", "lon")):
            array.dims[axis].attach_scale(file[name])
        file["scalar"] = np.float64(2.5)
        group = file.create_group("g")
        holes = group.create_dataset("holes", shape=(10, 10), dtype="i4", chunks=(5, 5), fillvalue=7)
        holes[:5, :5] = 3
        group.create_dataset("empty", shape=(4,), dtype="u1", chunks=(2,), fillvalue=9)
        group.create_dataset("none", shape=(0, 3), maxshape=(None, 3), dtype="f4", chunks=(2, 3))
        group["b"] = np.array([True, False])
        group["fixed"] = np.array([b"ab", b"c"], "S3")
        group["texts"] = np.array(["Zürich", "so", "so", "long" * 300], object)
        group["text"] = "hello ü"
        group["structure"] = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", "<f8")])
        # HDF5 alone knows this filter: the values are written into the description, few as they are.
        group.create_dataset("lzf", data=np.arange(100), compression="lzf", chunks=(10,))
        group.create_dataset("large", data=np.arange(30_000), compression="lzf", chunks=(10_000,))
        group.create_dataset("int16", data=np.arange(8, dtype=">i2"), chunks=(3,), **packed)
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_file(tmp_path / "a.h5")


def export(source: Path, target: Path, **said: Any) -> Any:
    return refbrowser.export(source, target, format="dmrpp", **said)


def parsed(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()


def variable(path: Path, name: str) -> ElementTree.Element:
    return next(each for each in parsed(path).iter() if each.get("name") == name)


@pytest.mark.slow
def test_our_reader_and_h5py_read_the_same(source: Path) -> None:
    target = source.with_name("a.h5.dmrpp")
    report = export(source, target)
    assert report.verified == report.chunks > 0
    with refbrowser.open(target) as dataset, h5py.File(source) as file:
        for name in NUMBERS:
            assert np.array_equal(dataset.array(f"/{name}")[...], file[name][...]), name
            if name != "g/b":
                assert dataset.array(f"/{name}").dtype.newbyteorder("=") == file[name].dtype.newbyteorder("=")
        assert dataset.array("/g/fixed")[...].tolist() == [b"ab", b"c"]
        assert dataset.array("/g/texts")[...].tolist() == ["Zürich", "so", "so", "long" * 300]
        assert dataset.array("/g/text")[...] == "hello ü"
        assert np.array_equal(dataset.array("/g/structure")[...], file["g/structure"][...])


@pytest.mark.slow
def test_references_dimensions_and_attributes_are_those_of_the_source(source: Path) -> None:
    target = source.with_name("a.h5.dmrpp")
    export(source, target)
    with refbrowser.open(target) as made, refbrowser.open(source) as ours:
        for name in ("/lat", "/lon", "/t", "/g/holes", "/g/int16"):
            mine, its = made.array(name).node, ours.array(name).node
            assert mine.grid == its.grid
            assert mine.dimensions == its.dimensions
            assert mine.codecs == its.codecs
            coords = np.array([*np.ndindex(*its.grid.grid_shape)])
            for column in ("kind", "offset", "length"):
                read, expected = (getattr(each.manifest.columns(coords), column) for each in (mine, its))
                assert np.array_equal(read, expected), (name, column)
        root = made.hierarchy.root
        assert root.attributes["title"] == 'a <b> & "c"\r\nline'
        assert root.attributes["counts"] == [1, 2]
        assert root.attribute_types["counts"] == "short"
        assert np.isnan(root.attributes["odd"][0])
        assert root.attributes["odd"][1:] == [np.inf, 0.1]
        assert made.array("/t").node.attributes == {"_FillValue": -9}
        assert "_FillValue" not in made.array("/g/holes").node.attributes, "HDF5's fill value marks nothing"
        assert made.array("/g/holes").node.fill_value == 7


@pytest.mark.slow
def test_virtualizarr_reads_the_same(source: Path) -> None:
    parsers = pytest.importorskip("virtualizarr.parsers")
    registry = pytest.importorskip("obspec_utils.registry")
    stores = pytest.importorskip("obstore.store")
    xarray = pytest.importorskip("xarray")
    target = source.with_name("a.h5.dmrpp")
    # It has no checksums, reads no values that stand in the text, and needs the last chunk of each array.
    with h5py.File(source, "a") as file:
        del file["t"]
        file.create_dataset("t", data=VALUES, chunks=(32, 64), shuffle=True, compression="gzip")
    export(source, target, arrays=["/lat", "/lon", "/t", "/g/int16"])
    known = registry.ObjectStoreRegistry({"file://": stores.LocalStore()})
    for group, names in (("/", ("lat", "lon", "t")), ("/g", ("int16",))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            store = parsers.DMRPPParser(group=group)(url=f"file://{target}", registry=known)
            read = xarray.open_zarr(store, consolidated=False, zarr_format=3, decode_cf=False).load()
        with h5py.File(source) as file:
            for name in names:
                values = read[name].to_numpy()
                # It takes all bytes for little-endian, whatever is said of them.
                is_big = file[group][name].dtype.str[0] == ">"
                assert np.array_equal(values.byteswap() if is_big else values, file[group][name][...]), name


def test_what_stands_in_the_text_has_the_form_that_servers_read(source: Path) -> None:
    target = source.with_name("a.h5.dmrpp")
    report = export(source, target)
    assert variable(target, "lzf").find(f"{OURS}compact") is not None
    assert variable(target, "large").find(f"{OURS}missingdata") is not None
    texts = variable(target, "texts").find(f"{OURS}vlsa")
    assert texts is not None
    assert [each.get("c") for each in texts] == [None, "2", None]
    assert texts[-1].get("s") == "1200"
    told = {loss.path for loss in report.losses if "written into the description" in loss.what}
    assert told == {"/g/lzf", "/g/large", "/g/texts", "/g/text"}
    filters = variable(target, "t").find(f"{OURS}chunks")
    assert filters is not None
    assert filters.get("compressionType") == "shuffle deflate fletcher32"
    assert filters.get("deflateLevel") == "7"
    assert filters.get("byteOrder") == "LE"


def test_the_file_is_named_beside_the_description_or_in_full(source: Path, tmp_path: Path) -> None:
    export(source, tmp_path / "a.h5.dmrpp")
    assert parsed(tmp_path / "a.h5.dmrpp").get(f"{OURS}href") == "a.h5"
    (tmp_path / "other").mkdir()
    export(source, tmp_path / "other" / "b.dmrpp")
    assert parsed(tmp_path / "other" / "b.dmrpp").get(f"{OURS}href") == f"file://{source}"
    with refbrowser.open(tmp_path / "other" / "b.dmrpp", allow=[str(tmp_path)]) as dataset:
        assert np.array_equal(dataset.array("/t")[...], VALUES)


def test_what_is_recorded_of_the_file(source: Path, tmp_path: Path) -> None:
    export(source, tmp_path / "a.h5.dmrpp")
    held = variable(tmp_path / "a.h5.dmrpp", "build_dmrpp_metadata")
    said = {each.get("name"): each.findtext(f"{DAP}Value") for each in held}
    assert said["file_size"] == str(source.stat().st_size)
    assert set(said) == {"created", "file_size", "file_modified"}
    with refbrowser.open(tmp_path / "a.h5.dmrpp") as dataset:
        assert "build_dmrpp_metadata" not in dataset.hierarchy.root.attributes
        assert not dataset.document.findings


def document_of(folder: Path, **options: Any) -> Path:
    maker = DocumentMaker(folder)
    maker.array("a", np.arange(12, dtype=">i4").reshape(3, 4), (2, 2), **options)
    return maker.write(missing=("a/1.1",))


@pytest.mark.slow
def test_references_of_a_document_with_rules_and_templates(tmp_path: Path) -> None:
    path = document_of(tmp_path, compressors=None, fill_value=-1)
    text = json.loads(path.read_text())
    for key in ("a/0.0", "a/0.1"):
        text["refs"][key][0] = "{{u}}"
    first, second = (text["refs"].pop(key)[1] for key in ("a/0.0", "a/0.1"))
    text["templates"] = {"u": "data.bin"}
    rule = {"key": "a/0.{{i}}", "url": "{{u}}", "dimensions": {"i": {"stop": 2}}, "length": "16"}
    text["gen"] = [{**rule, "offset": f"{{{{{first} + i * {second - first}}}}}"}]
    path.write_text(json.dumps(text))
    report = export(path, tmp_path / "data.bin.dmrpp")
    told = [loss.what for loss in report.losses]
    assert any("rules are written out" in what for what in told)
    assert any("templates are written out" in what for what in told)
    assert report.missing == 1
    with refbrowser.open(tmp_path / "data.bin.dmrpp") as made, refbrowser.open(path) as ours:
        assert np.array_equal(made.array("/a")[...], ours.array("/a")[...])
        assert made.array("/a").node.attributes["_FillValue"] == -1, "Zarr's fill value marks missing values"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"compressors": numcodecs.Zstd()}, "fletcher32, not 'zstd'"),
        ({"compressors": None, "order": "F"}, "not in C order"),
        ({"compressors": None, "filters": [numcodecs.Shuffle(2)]}, "fletcher32, not 'shuffle'"),
        ({"compressors": None, "dtype": "c8"}, "DAP4 has no type for"),
        ({"compressors": None, "dtype": "M8[ns]"}, "DAP4 has no type for"),
    ],
)  # fmt: skip
def test_what_it_has_no_words_for_is_refused(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    path = document_of(tmp_path, **options)
    with pytest.raises(RefbrowserError, match=why):
        export(path, tmp_path / "a.dmrpp")
    assert not (tmp_path / "a.dmrpp").exists()


def test_arrays_in_other_files_are_left_out_and_told(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path)
    for name in "abc":
        maker.array(name, np.arange(4, dtype="i4"), (2,), compressors=None)
    path = maker.write()
    text = json.loads(path.read_text())
    text["refs"]["b/0"][0] = "other.bin"
    text["refs"]["c/0"][0] = text["refs"]["c/1"][0] = "other.bin"
    maker.array("d", np.arange(4, dtype="i4"), (4,), compressors=None)
    path.write_text(json.dumps(text))
    (tmp_path / "other.bin").write_bytes((tmp_path / "data.bin").read_bytes())
    report = export(path, tmp_path / "data.bin.dmrpp")
    left = {loss.path: loss.what for loss in report.losses if loss.what.startswith("left out")}
    assert "several files" in left["/b"]
    assert "another file" in left["/c"]
    assert report.arrays == 1
    with pytest.raises(RefbrowserError, match="several files"):
        export(path, tmp_path / "b.dmrpp", arrays=["/b"])
    with refbrowser.open(path) as dataset, pytest.raises(RefbrowserError) as raised:
        refbrowser.export(dataset, tmp_path / "b.dmrpp", format="dmrpp", arrays={"/a": "0:2"})
    assert raised.value.kind is ErrorKind.USAGE


def test_values_that_stand_in_the_document(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path)
    maker.array("a", np.arange(4, dtype=">i4"), (4,), compressors=None)
    maker.array("b", np.arange(4, dtype=">i4"), (2,), compressors=None)
    path = maker.write(inline=("b/0", "b/1"))
    export(path, tmp_path / "data.bin.dmrpp")
    with refbrowser.open(tmp_path / "data.bin.dmrpp") as made:
        assert made.array("/b")[...].tolist() == [0, 1, 2, 3]
    only = maker.write(inline=("a/0", "b/0", "b/1"))
    export(only, tmp_path / "b.dmrpp")
    with refbrowser.open(tmp_path / "b.dmrpp") as made:
        assert made.array("/a")[...].tolist() == [0, 1, 2, 3]


def test_characters_that_xml_has_not(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.arange(3)
        file["v"].attrs["bell"] = "a\x07"
        file["bad\x01"] = np.arange(3)
    report = export(tmp_path / "a.h5", tmp_path / "a.h5.dmrpp")
    told = " ".join(str(loss) for loss in report.losses)
    assert "attribute 'bell' is left out: it holds characters that XML has not" in told
    assert "its name holds characters that XML has not" in told
    assert list(parsed(tmp_path / "a.h5.dmrpp").iter(f"{DAP}Int64"))


def test_a_file_that_exists_stays(source: Path) -> None:
    target = source.with_name("a.h5.dmrpp")
    target.write_text("mine")
    with pytest.raises(RefbrowserError):
        export(source, target)
    assert target.read_text() == "mine"
    export(source, target, force=True)
    assert parsed(target).tag == f"{DAP}Dataset"


def test_a_file_that_is_protected_stays_with_force_too(source: Path) -> None:
    target = source.with_name("a.h5.dmrpp")
    target.write_text("mine")
    target.chmod(0o444)
    with pytest.raises(RefbrowserError, match="write-protected"):
        export(source, target, force=True)
    assert target.read_text() == "mine"


@needs_types_of_zarr
@pytest.mark.parametrize("fill", ["xx", "é", "", "\x07"])
@pytest.mark.parametrize("stored", [True, False])
def test_texts_that_are_not_stored(tmp_path: Path, fill: str, stored: bool) -> None:
    maker = DocumentMaker(tmp_path)
    values = np.array([b"a", b"b"] * 2, "S2")
    maker.array("a", values, (2,), compressors=None, fill_value=fill.encode())
    maker.array("n", np.arange(4), (4,), compressors=None)
    path = maker.write(missing=("a/1",) if stored else ("a/0", "a/1"))
    if fill == "\x07":
        with pytest.raises(RefbrowserError, match="of numbers and texts only"):
            export(path, tmp_path / "a.dmrpp", arrays=["/a"])
        return
    export(path, tmp_path / "a.dmrpp")
    with refbrowser.open(tmp_path / "a.dmrpp") as made, refbrowser.open(path) as ours:
        assert np.array_equal(made.array("/a")[...], ours.array("/a")[...])


def test_structures_that_are_not_stored(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        type = np.dtype([("a", "<i4"), ("b", "<f8")])
        file.create_dataset("zeros", shape=(4,), chunks=(2,), dtype=type)[:2] = np.ones(2, type)
        fill = np.array((7, 8.5), type)
        file.create_dataset("other", shape=(4,), chunks=(2,), dtype=type, fillvalue=fill)[:2] = np.ones(
            2, type
        )
        file.create_dataset("none", shape=(4,), chunks=(2,), dtype=type)
    report = export(tmp_path / "a.h5", tmp_path / "a.h5.dmrpp")
    assert {loss.path for loss in report.losses if "not stored" in loss.what} == {"/other", "/none"}
    with refbrowser.open(tmp_path / "a.h5.dmrpp") as made:
        assert made.array("/zeros")[...].tolist() == [(1, 1.0), (1, 1.0), (0, 0.0), (0, 0.0)]


def test_shards(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path, zarr_format=3)
    maker.array("a", np.arange(8, dtype="<i4"), (2,), shards=(4,), compressors=None)
    with pytest.raises(RefbrowserError, match="lie in shards"):
        export(maker.write(), tmp_path / "a.dmrpp")


def test_structures_of_both_byte_orders(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.zeros(2, [("a", "<i4"), ("b", ">i4")])
    with pytest.raises(RefbrowserError, match="both byte orders"):
        export(tmp_path / "a.h5", tmp_path / "a.dmrpp")


def test_limits(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = type(LIMITS)(inlined_members=1_000)
    monkeypatch.setattr("refbrowser.wings.dmrpp.writing.described_arrays.LIMITS", changed)
    report = export(source, source.with_name("a.dmrpp"))
    left = {loss.path for loss in report.losses if "do not fit into the description" in loss.what}
    assert "/g/large" in left
    assert "/g/lzf" not in left
    changed = type(LIMITS)(write_out_question=3)
    monkeypatch.setattr("refbrowser.wings.dmrpp.writing.dmrpp_target.LIMITS", changed)
    request = ExportRequest(str(source.with_name("b.dmrpp")), "dmrpp")
    with refbrowser.open(source) as dataset, pytest.raises(RefbrowserError, match="write_out_question"):
        run_export(dataset, request)


def test_what_was_written_wrongly_gets_no_name(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refbrowser.wings.dmrpp.writing import dmrpp_target

    def shifted(offsets: list[int], sizes: list[int], positions: Any) -> Any:
        return chunk_lines([each + 1 for each in offsets], sizes, positions)

    monkeypatch.setattr(dmrpp_target, "chunk_lines", shifted)
    target = source.with_name("a.dmrpp")
    with pytest.raises(RefbrowserError) as raised:
        export(source, target)
    assert raised.value.kind is ErrorKind.IO
    assert not target.exists()
