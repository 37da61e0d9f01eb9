"""Elements, attributes, texts, links and dimensions of HDF5 of all kinds, as h5py and netCDF4 read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pytest

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.formats.hdf5 import hdf5_arrays
from refbrowser.formats.hdf5.hdf5_filters import Filter
from refbrowser.model.selection import Selection

h5py = pytest.importorskip("h5py")
h5a, h5d, h5p, h5s, h5t = h5py.h5a, h5py.h5d, h5py.h5p, h5py.h5s, h5py.h5t

ROW = h5py.vlen_dtype("<i4")
#: A structure with gaps, and arrays of structures in it.
DEEP = np.dtype([("a", "<i2"), ("s", [("u", "<f4"), ("w", "<i4", (2,))], (2,))], align=True)
TEXTS = [b"Parting", b"is so  ", b"swe\0et ", b" a"]


def array_type(base: Any, *sides: int) -> Any:
    """Return the type of elements that are arrays."""
    return h5t.array_create(base, sides)


def structure_type(size: int, **members: tuple[int, Any]) -> Any:
    """Return the type of structures with members at offsets."""
    kind = h5t.create(h5t.COMPOUND, size)
    for name, (offset, member) in members.items():
        kind.insert(name.encode(), offset, member)
    return kind


def text_type(size: int, padding: int) -> Any:
    kind = h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(padding)
    return kind


def quad_type() -> Any:
    """Return the type of floats of 128 bits, which numpy has not."""
    kind = h5t.IEEE_F64LE.copy()
    kind.set_size(16)
    kind.set_precision(128)
    kind.set_fields(127, 112, 15, 0, 112)
    kind.set_ebias(16383)
    return kind


NESTED = array_type(array_type(h5t.STD_I32LE, 2), 3)


def add(file: Any, name: str, kind: Any, values: Any) -> None:
    """Add an array of a type that h5py does not write by itself; `values` are its elements as they lie."""
    space = h5s.create_simple(values.shape) if values.ndim else h5s.create(h5s.SCALAR)
    array = h5d.create(file.id, name.encode(), kind, space)
    array.write(h5s.ALL, h5s.ALL, values, kind)


def add_attribute(of: Any, name: str, kind: Any, values: Any) -> None:
    space = h5s.create_simple(values.shape) if values.ndim else h5s.create(h5s.SCALAR)
    h5a.create(of.id, name.encode(), kind, space).write(values, kind)


def write_kinds(path: Path) -> None:
    deep = np.zeros(3, DEEP)
    deep["a"], deep["s"]["u"], deep["s"]["w"][..., 1] = [1, 2, 3], 1.5, 7
    numbers = np.arange(12, dtype="<i4")
    with h5py.File(path, "w") as file:
        add(file, "bits", h5t.STD_B8LE, np.arange(6, dtype="u1").reshape(2, 3))
        add(file, "bits_big", h5t.STD_B16BE, np.array([1, 2, 65535], ">u2"))
        add(file, "bits_alone", h5t.STD_B64LE, np.array(5, "<u8"))
        few = structure_type(6, a=(0, h5t.STD_B16LE), b=(2, h5t.STD_I32LE))
        add(file, "bits_within", few, np.array([(1, 2), (3, 4)], [("a", "<u2"), ("b", "<i4")]))
        add(file, "nested", NESTED, numbers.view("V24"))
        add(file, "nested_within", structure_type(28, x=(0, h5t.STD_I32LE), y=(4, NESTED)),
            np.arange(14, dtype="<i4").view("V28"))  # fmt: skip
        file["deep"], file["deep_alone"] = deep, deep[1]
        file.create_dataset("row", (), ROW)[()] = np.array([1, 2, 3], "i4")
        file.create_dataset("no_row", (), ROW)
        within = np.dtype([("k", "<i4"), ("r", ROW)])
        file.create_dataset("row_within", (), within)[()] = np.array((7, np.array([4, 5], "i4")), within)
        rows = file.create_dataset("rows_of_rows", (2,), h5py.vlen_dtype(ROW))
        inner = np.empty(2, object)
        inner[:] = [np.array([1, 2], "i4"), np.array([3], "i4")]
        rows[0] = inner
        file.create_dataset("rows_of_texts", (2,), h5py.vlen_dtype(h5py.string_dtype()))[0] = np.array(
            ["a", "bb"], object
        )
        file["tagged"] = np.array([b"ab", b"cd"], "S2").astype(h5py.opaque_dtype("S2"))
        h5d.create(file.id, b"quad", quad_type(), h5s.create_simple((2,)))
        group = file.create_group("group")
        add_attribute(group, "bits", h5t.STD_B8LE, np.array([1, 2], "u1"))
        add_attribute(group, "nested", NESTED, numbers.view("V24"))
        add_attribute(group, "array", array_type(h5t.STD_I32LE, 3), numbers.view("V12")[:1].reshape(()))
        group.attrs["deep"], group.attrs["empty"], group.attrs["text"] = deep, np.zeros((0, 3)), "hello"
        h5a.create(group.id, b"quad", quad_type(), h5s.create_simple((2,)))


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[refbrowser.Dataset, Any]]:
    path = tmp_path_factory.mktemp("kinds") / "a.h5"
    write_kinds(path)
    with refbrowser.open(str(path)) as dataset, h5py.File(path) as file:
        yield dataset, file


def listed(values: Any) -> Any:
    """Return values as lists that compare."""
    if isinstance(values, np.ndarray | np.void) and values.dtype.names:
        return [listed(values[name]) for name in values.dtype.names]
    if isinstance(values, np.ndarray):
        return [listed(each) for each in values] if values.ndim else listed(values[()])
    return (
        values.decode()
        if isinstance(values, bytes)
        else values.item()
        if isinstance(values, np.generic)
        else values
    )


@pytest.mark.parametrize(
    "name",
    ["bits", "bits_big", "bits_alone", "bits_within", "deep", "deep_alone", "row", "no_row", "row_within",
     "rows_of_rows", "rows_of_texts"],
)  # fmt: skip
def test_values_are_those_of_h5py(name: str, kinds: tuple[refbrowser.Dataset, Any]) -> None:
    dataset, file = kinds
    theirs = file[name][...]
    mine = dataset[f"/{name}"][...]
    assert listed(mine) == listed(theirs[()])
    if not theirs.dtype.hasobject:
        assert mine.dtype == theirs.dtype
        assert not dataset[f"/{name}"].node.not_referencable


def test_arrays_in_arrays_and_tagged_texts_are_read(kinds: tuple[refbrowser.Dataset, Any]) -> None:
    dataset, _ = kinds
    assert dataset["/nested"][...].tolist() == np.arange(12).reshape(2, 3, 2).tolist()
    within = dataset["/nested_within"][...]
    assert (within["x"].tolist(), within["y"][1].tolist()) == ([0, 7], [[8, 9], [10, 11], [12, 13]])
    for path in ("/nested", "/nested_within"):
        node = dataset.document.by_library(dataset[path].node)
        assert node is not None
        whole = Selection.whole(node.shape)
        by_library = dataset.session.read(node, dataset.access, whole)
        assert by_library.tobytes() == dataset[path][...].tobytes()
    assert dataset["/tagged"][...].tolist() == [b"ab", b"cd"]


def test_what_numpy_has_no_type_for_costs_itself_alone(kinds: tuple[refbrowser.Dataset, Any]) -> None:
    dataset, _ = kinds
    with pytest.raises(RefbrowserError, match="floats of 128 bits, which numpy has no type for"):
        dataset["/quad"][...]
    assert any("'quad' is not shown" in each.message for each in dataset.document.notes)


def test_attributes_of_all_kinds_are_kept(kinds: tuple[refbrowser.Dataset, Any]) -> None:
    attributes = dict(kinds[0]["/group"].attrs)
    assert attributes["nested"] == np.arange(12).reshape(2, 3, 2).tolist()
    assert (attributes["bits"], attributes["array"], attributes["empty"]) == ([1, 2], [0, 1, 2], [])
    assert attributes["deep"][1] == {"a": 2, "s": [{"u": 1.5, "w": [0, 7]}] * 2}
    assert attributes["text"] == "hello"


def test_attributes_that_are_lost_are_told_to_the_last_one(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for number in range(30):
            file.attrs[f"sound{number}"] = number
        for number in range(25):
            h5a.create(file.id, b"quad%d" % number, quad_type(), h5s.create_simple((2,)))
    with refbrowser.open(str(tmp_path / "a.h5")) as dataset:
        assert len(dataset.attrs) == 30
        told = [each.message for each in dataset.document.notes]
    assert len([each for each in told if "its attribute 'quad" in each]) == 20
    assert "5 more of its attributes are not shown" in told


# Texts


def write_texts(path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name, padding in {
            "until_nul": h5t.STR_NULLTERM, "nuls": h5t.STR_NULLPAD, "spaces": h5t.STR_SPACEPAD,
        }.items():  # fmt: skip
            kind = text_type(7, padding)
            add(file, name, kind, np.array(TEXTS, "S7"))
            within = structure_type(11, k=(0, h5t.STD_I32LE), t=(4, kind))
            add(file, f"{name}_within", within,
                np.array([(1, b"ab  "), (2, b"a\0b")], [("k", "<i4"), ("t", "S7")]))  # fmt: skip
            add_attribute(file, name, kind, np.array([b"is so  "], "S7"))


def test_texts_end_where_hdf5_says(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    write_texts(path)
    with refbrowser.open(str(path)) as dataset, h5py.File(path) as file:
        for name in ("until_nul", "nuls", "spaces"):
            assert dataset[f"/{name}"][...].tolist() == file[name][...].tolist(), name
            assert dataset[f"/{name}"][1:3].tolist() == file[name][1:3].tolist(), name
            assert dataset.attrs[name] == file.attrs[name][0].decode()
        found = {
            name: dataset[f"/{name}_within"][...]["t"].tolist() for name in ("until_nul", "nuls", "spaces")
        }
        told = [each.message for each in dataset.document.notes]
    assert found == {"until_nul": [b"ab  ", b"a"], "nuls": [b"ab  ", b"a\0b"], "spaces": [b"ab", b"a\0b"]}
    assert told == ["the texts of '/spaces' and 1 more are padded with spaces, which are not shown; "
                    "references keep them"]  # fmt: skip


def test_references_keep_spaces_and_never_what_follows_a_nul(tmp_path: Path) -> None:
    from refbrowser.cli.program import main

    with h5py.File(tmp_path / "spaces.h5", "w") as file:
        add(file, "t", text_type(7, h5t.STR_SPACEPAD), np.array([b"is so  "], "S7"))
    with h5py.File(tmp_path / "nul.h5", "w") as file:
        add(file, "t", text_type(7, h5t.STR_NULLTERM), np.array([b"swe\0et "], "S7"))
    assert main(["make", str(tmp_path / "spaces.h5"), "-o", str(tmp_path / "spaces.json")]) == 0
    with refbrowser.open(str(tmp_path / "spaces.json")) as dataset:
        assert dataset["/t"][...].tolist() == [b"is so  "]
    assert main(["make", str(tmp_path / "nul.h5"), "-o", str(tmp_path / "nul.json")]) != 0


# Fill values


def test_fill_values_of_structures_and_arrays_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    kind = np.dtype([("a", "<f8"), ("b", "<i2", (3,)), ("c", "<f4")], align=True)
    fill = np.array((-9999.9, [1, 2, 3], 5), kind)
    with h5py.File(path, "w") as file:
        file.create_dataset("chunked", (4,), kind, chunks=(2,), fillvalue=fill)[3] = np.zeros((), kind)
        file.create_dataset("whole", (2,), kind, fillvalue=fill)
        made = h5p.create(h5p.DATASET_CREATE)
        made.set_chunk((1,))
        h5d.create(file.id, b"arrays", array_type(h5t.STD_I32LE, 2), h5s.create_simple((3,)), made)
    with refbrowser.open(str(path)) as dataset, h5py.File(path) as file:
        for name in ("chunked", "whole", "arrays"):
            mine, theirs = dataset[f"/{name}"][...], file[name][...]
            assert mine.tolist() == theirs.tolist() if name == "arrays" else (mine == theirs).all(), name


def test_chunks_of_extensible_arrays_are_where_hdf5_reads_them(tmp_path: Path) -> None:
    values = np.arange(6 * 8).reshape(6, 8)
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        file.create_dataset("a", data=values, chunks=(2, 3), maxshape=(10, None))
        grown = file.create_dataset("b", data=values, chunks=(2, 3), maxshape=(10, None), compression=1)
        grown.resize((4, 12))
        part = file.create_dataset("c", (6, 8), "i4", chunks=(2, 3), maxshape=(10, None), fillvalue=5)
        part[4:, :2] = 1
        deep = file.create_dataset("d", (2, 3, 4, 5), "i4", chunks=(1, 1, 2, 2), maxshape=(2, 6, None, 9))
        deep[...] = np.arange(120).reshape(2, 3, 4, 5)
        file.create_dataset("e", data=values[:1], chunks=(1, 3), maxshape=(1, None))
    with refbrowser.open(str(tmp_path / "a.h5")) as dataset, h5py.File(tmp_path / "a.h5") as file:
        for name in "abcde":
            assert (dataset[f"/{name}"][...] == file[name][...]).all(), name
            assert not dataset[f"/{name}"].node.not_referencable


def test_chunks_behind_a_cut_move_no_others(tmp_path: Path) -> None:
    values = np.arange(6 * 80).reshape(6, 80)
    with h5py.File(tmp_path / "a.h5", "w", libver="earliest") as file:
        file.create_dataset("a", data=values, chunks=(2, 8), maxshape=(10, None))
    data = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "a.h5").write_bytes(data[:-100])
    with refbrowser.open(str(tmp_path / "a.h5")) as dataset:
        assert (dataset["/a"][:4] == values[:4]).all()
        with pytest.raises(RefbrowserError):
            dataset["/a"][...]


# Links


def test_arrays_under_second_names_are_shown_and_circles_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["z/deep/values"], file["z/more"] = [1, 2], [3]
        # It comes first by name: the group itself is not lost to it.
        file["a_soft"] = h5py.SoftLink("/z")
        file["b/again"] = file["z/deep"]
        file["z/deep/up"] = file["z"]
        file["z/deep/round"] = h5py.SoftLink("/z/deep")
        file["itself"] = file["/"]
        file["nowhere"] = h5py.SoftLink("/none")
    with refbrowser.open(str(path)) as dataset:
        values = {name: array[...].tolist() for name, array in dataset.arrays.items()}
        told = {(each.place.path, each.message) for each in dataset.document.notes}
    assert values == {
        "/a_soft/deep/values": [1, 2], "/a_soft/more": [3], "/b/again/values": [1, 2],
        "/b/again/up/more": [3], "/z/deep/values": [1, 2], "/z/more": [3],
    }  # fmt: skip
    places = {path for path, message in told if "link back to the group" in message}
    assert {"/itself", "/a_soft/deep/up", "/z/deep/round", "/b/again/up/deep"} <= places
    assert ("/nowhere", "a broken link") in told


@pytest.mark.slow
def test_groups_with_very_many_names_end(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        # Each group holds the next one twice: 2^30 ways lead to the last.
        group = file.create_group("g")
        for _ in range(30):
            below = group.create_group("a")
            group["b"] = below
            group = below
        group["values"], file["z"] = [1], [2]
    with refbrowser.open(str(path)) as dataset:
        assert dataset["/g" + "/a" * 30 + "/values"][...].tolist() == [1]
        assert dataset["/z"][...].tolist() == [2]
        assert any("several names hold too many objects" in each.message for each in dataset.document.notes)


# Dimensions


def write_dimensions(path: Path) -> None:
    """Write arrays without scales, some of types that netCDF does not know, and scales with two names."""
    with h5py.File(path, "w") as file:
        for name, shape in {
            "a": (5, 5),
            "c": (5, 5),
            "d": (5, 3, 5),
            "g/x": (5, 5, 5),
            "g/y": (2, 5),
        }.items():
            file[name] = np.zeros(shape, "f4")
        add(file, "b", h5t.STD_B8LE, np.zeros(9, "u1"))
        add(file, "e", array_type(h5t.STD_I32LE, 2), np.zeros(8, "V8"))
        file["f"] = np.array([file["a"].ref] * 11, h5py.ref_dtype)
        file["s/lat"] = np.arange(4.0)
        file["s/lat"].make_scale("lat")
        file["s/twin"] = file["s/lat"]
        file["s/v"] = np.zeros((4, 5))
        file["s/lon"] = np.arange(5.0)
        file["s/lon"].make_scale("lon")
        file["s/v"].dims[0].attach_scale(file["s/lat"])
        file["s/v"].dims[1].attach_scale(file["s/lon"])
        file["s/nested"] = np.zeros(3, [("p", [("q", "i4")])])


def test_dimensions_have_the_names_of_netcdf4(tmp_path: Path) -> None:
    netcdf4 = pytest.importorskip("netCDF4")
    path = tmp_path / "a.h5"
    write_dimensions(path)
    with refbrowser.open(str(path)) as dataset, netcdf4.Dataset(path) as file:
        compared = 0
        for group in (file, file["g"], file["s"]):
            for name, theirs in group.variables.items():
                mine = dataset[f"{group.path.rstrip('/')}/{name}"].node
                assert mine.dimensions == theirs.dimensions, mine.path
                compared += 1
        assert compared >= 8
        # What netCDF leaves out has names that come after all others.
        assert dataset["/b"].node.dimensions == ("phony_dim_11",)


def test_an_attribute_that_looks_like_a_list_of_scales_costs_nothing(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.zeros((2, 2))
        file["a"].attrs.create("DIMENSION_LIST", np.array([file["a"].ref] * 2, h5py.ref_dtype))
    with refbrowser.open(str(tmp_path / "a.h5")) as dataset:
        assert dataset["/a"][...].tolist() == [[0, 0], [0, 0]]


# Filters


@pytest.fixture
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library have none of the filters that the package hdf5plugin brings."""
    take = hdf5_arrays.Contents.take

    def told(self: Any, answer: dict[str, Any], data: memoryview) -> None:
        if "filters" in answer:
            answer["missing_filters"] = [each[0] for each in answer["filters"] if each[0] > 255]
        take(self, answer, data)

    monkeypatch.setattr(hdf5_arrays.Contents, "take", told)
    monkeypatch.setattr(hdf5_arrays, "refuted", lambda *_: "the library cannot read it")


#: A filter that nothing registers.
STAND_IN = 32009


@pytest.mark.usefixtures("without_plugins")
def test_filters_are_decoded_without_the_library_or_name_the_package(tmp_path: Path) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    values = np.arange(40, dtype="<i4").reshape(10, 4)
    packed = numcodecs.LZ4().encode(values)[4:]
    sizes = ((values.nbytes, 8), (values.nbytes, 4), (len(packed), 4))
    framed = b"".join(number.to_bytes(size, "big") for number, size in sizes) + packed
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, number, data in (
            ("zstd", 32015, numcodecs.Zstd().encode(values)), ("bzip2", 307, numcodecs.BZ2().encode(values)),
            ("lz4", 32004, framed), ("zfp", STAND_IN, b"x"), ("rare", 32010, b"x"),
        ):  # fmt: skip
            made = h5p.create(h5p.DATASET_CREATE)
            made.set_chunk((10, 4))
            made.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1,))
            array = h5d.create(file.id, name.encode(), h5t.STD_I32LE, h5s.create_simple((10, 4)), made)
            array.write_direct_chunk((0, 0), bytes(data))
    # Where a test before loaded hdf5plugin, its filter would refuse these arrays.
    written = (tmp_path / "a.h5").read_bytes()
    assert written.count(pack("<H", STAND_IN)) == 1
    (tmp_path / "a.h5").write_bytes(written.replace(pack("<H", STAND_IN), pack("<H", 32013)))
    with refbrowser.open(str(tmp_path / "a.h5")) as dataset:
        for name in ("zstd", "bzip2", "lz4"):
            assert (dataset[f"/{name}"][...] == values).all()
        for name, title in (("zfp", "zfp"), ("rare", "number 32010")):
            with pytest.raises(RefbrowserError, match=title) as caught:
                dataset[f"/{name}"][...]
            assert (caught.value.advice == "pip install hdf5plugin") == (name != "rare")
            assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("number", "title"), [(32013, "zfp"), (32026, "blosc2"), (32024, "SZ3"), (32028, "SPERR"), (32010, "x")]
)
def test_what_is_to_be_installed_is_one_command(number: int, title: str) -> None:
    told = Filter(number, (), "x")
    assert told.title == title
    assert (told.advice == "pip install hdf5plugin") == (title != "x")
