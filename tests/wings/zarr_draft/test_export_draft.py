"""Exports to the draft of 2019: values by another reader, and what it cannot hold."""

import json
import zipfile
from dataclasses import replace

import independent_reader
import numcodecs
import numpy as np
import pytest
import zarr
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_versions import needs_types_of_zarr

import refbrowser
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.options import Sides, StoreOptions
from refbrowser.exporting.request import ArrayChoice, ExportRequest
from refbrowser.formats.store_rules import EARLY_DRAFT
from refbrowser.wings.zarr_draft.reading.draft_keys import is_name
from refbrowser.wings.zarr_draft.writing.draft_layout import DraftNames, legal_name

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
COUNTS = np.arange(35).reshape(5, 7)
CHUNKS = (2, 3)


@pytest.fixture
def source(tmp_path):
    """A group of zarr-python in a new folder."""
    return zarr.open_group(tmp_path / "source", mode="w", zarr_format=2)


def put(group, name, values, chunks=CHUNKS, attributes=None, **options):
    values = np.asarray(values)
    array = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=chunks, **options)
    array.attrs.update(attributes or {})
    array[...] = values
    return array


def exported(tmp_path, *, arrays=None, skip_bad=False, source="source", force=False, **options):
    """Export the source; return the losses by path, and the report."""
    request = ExportRequest(
        str(tmp_path / "target"),
        "zarr-v3-draft",
        arrays=arrays,
        skip_bad=skip_bad,
        force=force,
        options=StoreOptions(**options),
    )
    with refbrowser.open(tmp_path / source) as dataset:
        if arrays is not None:
            arrays = tuple(ArrayChoice.of(dataset, path, index) for path, index in arrays.items())
            request = replace(request, arrays=arrays)
        estimate = estimate_export(dataset, request)
        report = run_export(dataset, request)
    # What is left out is told before, and after among what was skipped.
    left_out = {error.place.path for error in report.skipped}
    assert [loss for loss in estimate.losses if loss.path not in left_out] == list(report.losses)
    assert left_out <= {loss.path for loss in estimate.losses}
    lost = {}
    for loss in report.losses:
        lost.setdefault(loss.path, []).append(loss.what)
    return lost, report


def keys_in(tmp_path):
    target = tmp_path / "target"
    if target.is_file():
        with zipfile.ZipFile(target) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    files = [path for path in target.rglob("*") if path.is_file()]
    return {path.relative_to(target).as_posix(): path.read_bytes() for path in files}


def metadata_of(keys, path):
    return json.loads(keys[f"meta{path}.array.json"])


@pytest.mark.slow
def test_values_types_and_attributes(source, tmp_path):
    source.attrs["title"] = "all"
    values = {"flags": COUNTS % 3 == 0, "times": COUNTS.astype("i8").view("M8[s]")}
    for kind in ("i1", "u1", "<i2", ">i4", "<u2", "<u8", "<f2", ">f8", "<c8"):
        values[kind.replace("<", "l").replace(">", "b")] = COUNTS.astype(kind)
    for name, array in values.items():
        put(source, f"g/{name}", array, attributes={"name": name, "n": 2**60 + 1})
    lost, report = exported(tmp_path)
    assert lost == {}
    assert report.copied > 0
    keys = keys_in(tmp_path)
    assert json.loads(keys["root.group.json"])["attributes"] == {"title": "all"}
    assert independent_reader.nodes(keys)["/g"] == "group"
    for name, wanted in values.items():
        found = independent_reader.read(keys, f"/g/{name}")
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()
        assert metadata_of(keys, f"/g/{name}")["attributes"] == {"name": name, "n": 2**60 + 1}
    with refbrowser.open(tmp_path / "target") as opened:
        assert opened.hierarchy.flavour == EARLY_DRAFT
        assert opened.hierarchy.findings == ()
        assert np.array_equal(opened["/g/bi4"][...], values["bi4"])


CODECS = {
    "none": (None, []),
    "gzip": (numcodecs.GZip(4), [{"codec": "http://purl.org/zarr/spec/codec/gzip", "level": 4}]),
    "zlib": (numcodecs.Zlib(2), [{"codec": "http://purl.org/zarr/spec/codec/zlib", "level": 2}]),
    "bz2": (numcodecs.BZ2(2), [{"codec": "http://purl.org/zarr/spec/codec/bz2", "level": 2}]),
    "lzma": (numcodecs.LZMA(preset=2), [{"codec": "http://purl.org/zarr/spec/codec/lzma", "preset": 2}]),
    "zstd": (numcodecs.Zstd(5), [{"codec": "http://purl.org/zarr/spec/codec/zstd", "level": 5}]),
    "lz4": (numcodecs.LZ4(2), [{"codec": "http://purl.org/zarr/spec/codec/lz4", "acceleration": 2}]),
    "blosc": (
        numcodecs.Blosc("zstd", 3, numcodecs.Blosc.SHUFFLE),
        [
            {
                "codec": "http://purl.org/zarr/spec/codec/blosc",
                "cname": "zstd",
                "clevel": 3,
                "shuffle": 1,
                "blocksize": 0,
            }
        ],
    ),
}


@pytest.mark.parametrize("name", list(CODECS))
def test_known_codecs_are_copied_undecoded(source, tmp_path, name):
    codec, wanted = CODECS[name]
    put(source, "a", COUNTS, compressors=codec, filters=None, order="F")
    lost, report = exported(tmp_path)
    assert lost == {}
    keys = keys_in(tmp_path)
    assert metadata_of(keys, "/a")["chunk_codecs"] == wanted
    assert metadata_of(keys, "/a")["chunk_memory_layout"] == "F"
    assert np.array_equal(independent_reader.read(keys, "/a"), COUNTS)
    assert report.copied == report.chunks == 9


@pytest.mark.parametrize(("kind", "shuffle"), [("<i8", 1), ("u1", 2)])
def test_the_shuffle_that_numcodecs_chooses_by_itself(source, tmp_path, kind, shuffle):
    codec = numcodecs.Blosc("lz4", 5, numcodecs.Blosc.AUTOSHUFFLE)
    put(source, "a", COUNTS.astype(kind), compressors=codec, filters=None)
    exported(tmp_path)
    keys = keys_in(tmp_path)
    assert metadata_of(keys, "/a")["chunk_codecs"][0]["shuffle"] == shuffle
    assert np.array_equal(independent_reader.read(keys, "/a"), COUNTS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"filters": [numcodecs.Delta("<i8")], "compressors": numcodecs.GZip(1)}, "delta"),
        ({"filters": [numcodecs.Delta("<i8")], "compressors": None}, "delta"),
        ({"filters": None, "compressors": numcodecs.LZMA(format=2)}, "lzma"),
        ({"filters": [numcodecs.CRC32(location="end")], "compressors": None}, "crc32"),
        ({"filters": [numcodecs.Fletcher32()], "compressors": numcodecs.Zlib(1)}, "fletcher32"),
    ],
)
def test_other_codecs_are_left_out_and_told(source, tmp_path, options, words):
    put(source, "a", COUNTS, **options)
    lost, report = exported(tmp_path)
    assert len(lost["/a"]) == 1
    assert words in lost["/a"][0]
    keys = keys_in(tmp_path)
    (codec,) = metadata_of(keys, "/a")["chunk_codecs"]
    assert codec["codec"].rpartition("/")[2] in ("gzip", "zlib")
    assert np.array_equal(independent_reader.read(keys, "/a"), COUNTS)
    assert report.copied == 0


def test_big_endian_unsigned_integers_are_turned(source, tmp_path):
    put(source, "a", COUNTS.astype(">u4"), fill_value=2**32 - 1)
    lost, _ = exported(tmp_path)
    assert "little-endian" in lost["/a"][0]
    keys = keys_in(tmp_path)
    assert metadata_of(keys, "/a")["data_type"] == "<u4"
    assert metadata_of(keys, "/a")["fill_value"] == 2**32 - 1
    assert np.array_equal(independent_reader.read(keys, "/a"), COUNTS)


@needs_types_of_zarr
@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "b"], "<U3"),
        np.array([b"a", b"b"], "S3"),
        np.array([(1, 2.0)], [("a", "<i4"), ("b", "<f8")]),
        np.array([1], "M8[10s]"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_types_that_it_has_not(source, tmp_path, values):
    put(source, "bad", values, chunks=(1,))
    with pytest.raises(RefbrowserError) as caught:
        exported(tmp_path)
    assert caught.value.kind is ErrorKind.META
    assert caught.value.place.path == "/bad"
    assert not (tmp_path / "target").exists()
    put(source, "good", COUNTS)
    _, report = exported(tmp_path)
    assert [(loss.path, loss.what.partition(":")[0]) for loss in report.losses] == [("/bad", "left out")]
    assert np.array_equal(independent_reader.read(keys_in(tmp_path), "/good"), COUNTS)


def test_fill_values_and_missing_chunks(source, tmp_path):
    for name, kind, fill in (
        ("nan", "<f4", np.nan),
        ("infinite", ">f8", -np.inf),
        ("complex", "<c16", complex(np.nan, 1)),
        ("flag", "?", True),
        ("time", "<M8[s]", np.datetime64(77, "s")),
        ("large", "<u8", 2**64 - 1),
        ("none", "<i4", None),
    ):
        source.create_array(name, shape=(5,), chunks=(2,), dtype=kind, fill_value=fill)
    source["nan"][0] = 1
    lost, _ = exported(tmp_path)
    assert lost == {}
    keys = keys_in(tmp_path)
    fills = {name: metadata_of(keys, f"/{name}")["fill_value"] for name in source.array_keys()}
    assert fills == {
        "nan": "NaN",
        "infinite": "-Infinity",
        "complex": ["NaN", 1.0],
        "flag": True,
        "time": 77,
        "large": 2**64 - 1,
        "none": None,
    }
    assert {key for key in keys if key.startswith("data/")} == {"data/nan/0"}
    found = independent_reader.read(keys, "/nan")
    assert found[0] == 1
    assert np.isnan(found[2:]).all()


def test_names_that_it_does_not_allow(source, tmp_path):
    for name in ("T", "t", "two words", "größe", "plain", "t-2", "x" * 240, "x" * 239 + "y"):
        put(source, f"G é/{name}", [1, 2], chunks=(2,))
    lost, _ = exported(tmp_path)
    keys = keys_in(tmp_path)
    nodes = independent_reader.nodes(keys)
    names = {path.rpartition("/")[2] for path, kind in nodes.items() if kind == "array"}
    assert len(names) == 8
    assert len({name.lower() for name in names}) == 8
    assert all(map(is_name, names))
    assert {"plain", "two_u20_words", "gr_uf6__udf_e"} <= names
    assert "the name is written as '/G_u20__ue9_'" in lost["/G é"]
    # All below that group change their path; all of it is told.
    assert len(lost) == 9
    with refbrowser.open(tmp_path / "target") as opened:
        assert opened.hierarchy.findings == ()
        assert len(opened.arrays) == 8


@given(st.text(min_size=1, max_size=300))
@settings(max_examples=examples(200))
def test_every_name_becomes_a_name(name):
    found = legal_name(name)
    assert is_name(found)
    assert len(found) <= 230
    assert found == name or not is_name(name) or len(name) > 230


@given(st.lists(st.text("aAbB.é/", min_size=1, max_size=5).map(lambda text: f"/{text}"), max_size=8))
def test_paths_stay_apart(paths):
    paths = ["/" + "/".join(part for part in path.split("/") if part) for path in paths]
    names = DraftNames(lambda name: name)
    found = {path: names.path(path) for path in paths}
    assert len({path.lower() for path in found.values()}) == len(found)
    for path in paths:
        assert names.path(path) == found[path]
        above = path.rpartition("/")[0] or "/"
        assert found[path] == "/" or (found[path].rpartition("/")[0] or "/") == names.path(above)


@needs_types_of_zarr
def test_dimensions_and_attributes_that_are_no_json(source, tmp_path):
    put(
        source, "a", COUNTS, attributes={"_ARRAY_DIMENSIONS": ["y", "x"], "bad": [1.5, float("nan")], "ok": 1}
    )
    source.attrs["worst"] = {"a": float("-inf")}
    lost, _ = exported(tmp_path)
    keys = keys_in(tmp_path)
    attributes = metadata_of(keys, "/a")["attributes"]
    assert attributes == {"_ARRAY_DIMENSIONS": ["y", "x"], "bad": [1.5, "NaN"], "ok": 1}
    assert json.loads(keys["root.group.json"])["attributes"] == {"worst": {"a": "-Infinity"}}
    assert lost == {
        "/": ["attribute 'worst': NaN and infinities are written as text"],
        "/a": ["attribute 'bad': NaN and infinities are written as text"],
    }
    with refbrowser.open(tmp_path / "target") as opened:
        assert opened["/a"].dimensions == ("y", "x")


def test_shapes_selections_and_chunks(source, tmp_path):
    put(source, "a", COUNTS)
    put(source, "scalar", np.array(7), chunks=())
    put(source, "empty", np.zeros((0, 3)), chunks=(1, 2))
    exported(tmp_path, array_chunks={"/a": Sides((4, 2))}, codec="gzip:2")
    keys = keys_in(tmp_path)
    assert metadata_of(keys, "/a")["chunk_grid"] == {"type": "regular", "chunk_shape": [4, 2]}
    assert np.array_equal(independent_reader.read(keys, "/a"), COUNTS)
    assert independent_reader.read(keys, "/scalar") == 7
    assert "data/scalar/0" in keys
    assert independent_reader.read(keys, "/empty").shape == (0, 3)
    exported(tmp_path, arrays={"/a": (slice(1, 5, 2), 3)}, force=True)
    assert np.array_equal(independent_reader.read(keys_in(tmp_path), "/a"), COUNTS[1:5:2, 3])


def test_a_zip_file(source, tmp_path):
    put(source, "g/a", COUNTS)
    exported(tmp_path, container="zip")
    keys = keys_in(tmp_path)
    assert np.array_equal(independent_reader.read(keys, "/g/a"), COUNTS)
    with refbrowser.open(tmp_path / "target") as opened:
        assert np.array_equal(opened["/g/a"][...], COUNTS)


def test_shards_become_chunks(tmp_path):
    group = zarr.open_group(tmp_path / "source", mode="w", zarr_format=3)
    array = group.create_array("a", shape=(8, 6), dtype="<i4", chunks=(2, 3), shards=(4, 6))
    array[...] = np.arange(48).reshape(8, 6)
    lost, _ = exported(tmp_path)
    assert "shards" in lost["/a"][0]
    keys = keys_in(tmp_path)
    assert metadata_of(keys, "/a")["chunk_grid"]["chunk_shape"] == [2, 3]
    assert np.array_equal(independent_reader.read(keys, "/a"), np.arange(48).reshape(8, 6))


def test_a_root_array(tmp_path):
    array = zarr.create_array(tmp_path / "source", shape=(5, 7), dtype="<i4", chunks=CHUNKS, zarr_format=2)
    array[...] = COUNTS
    exported(tmp_path)
    keys = keys_in(tmp_path)
    assert "root.array.json" in keys
    assert "data/2.2" in keys
    assert np.array_equal(independent_reader.read(keys, "/"), COUNTS)


@pytest.mark.slow
def test_from_the_draft_to_every_other_and_back(source, tmp_path):
    put(source, "g/a", COUNTS.astype("<f4"), order="F", attributes={"_ARRAY_DIMENSIONS": ["y", "x"]})
    put(source, "b", COUNTS, compressors=numcodecs.Blosc("lz4", 5, 2), filters=None)
    exported(tmp_path)
    for format in ("zarr-v2", "zarr-v3", "nczarr", "zarr-v3-draft"):
        target = tmp_path / format
        refbrowser.export(tmp_path / "target", target, format=format)
        with refbrowser.open(target) as opened:
            assert np.array_equal(opened["/g/a"][...], COUNTS), format
            assert np.array_equal(opened["/b"][...], COUNTS), format
            assert opened["/g/a"].dimensions == ("y", "x"), format


def test_a_dataset_is_replaced_with_force_and_nothing_else(source, tmp_path):
    put(source, "a", COUNTS)
    exported(tmp_path)
    with pytest.raises(RefbrowserError) as caught:
        exported(tmp_path)
    assert caught.value.kind is ErrorKind.IO
    exported(tmp_path, force=True)
    assert np.array_equal(independent_reader.read(keys_in(tmp_path), "/a"), COUNTS)


@pytest.mark.parametrize("index", [..., slice(2, None)], ids=["whole", "part"])
def test_references_of_one_array_of_a_draft(source, tmp_path, index):
    put(source, "g/a", COUNTS)
    put(source, "g/b", COUNTS)
    source["g"].attrs["kept"] = 1
    exported(tmp_path)
    target = tmp_path / "part.json"
    refbrowser.export(tmp_path / "target", target, format="refs-v1", arrays={"/g/a": index})
    with refbrowser.open(target) as opened:
        assert list(opened.arrays) == ["/g/a"]
        assert opened["/g"].attrs == {"kept": 1}
        assert np.array_equal(opened["/g/a"][...], COUNTS[index])
        assert opened.hierarchy.findings == ()
