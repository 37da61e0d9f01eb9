"""``ncgen`` takes our CDL, and netCDF4 then reads the dataset that it was written from."""

import string

import numpy as np
import pytest
from deep import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ncgen_read import assert_same, bare, composed, dumped, generated, needs_ncgen, opened
from netcdf_nodes import array, group, trees, view

import refbrowser
from refbrowser.formats.cdl.words import KEYWORDS, unwritable
from refbrowser.formats.cdl.writer import RESERVED, cdl_text
from refbrowser.model.netcdf.attributes import HIDDEN_PREFIXES
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.netcdf.names import join
from refbrowser.model.netcdf.types import (
    AtomicType,
    DimensionReference,
    NetcdfAttribute,
    NetcdfDataset,
    NetcdfDimension,
    NetcdfGroup,
    NetcdfVariable,
)

pytestmark = needs_ncgen

#: Names by the seed, those with the characters that need care the likeliest; most can be written.
NAMES = st.text(
    st.sampled_from(string.printable + "é日😀e\u0301\u212b") | st.characters(exclude_categories=["Cs"]),
    min_size=1,
    max_size=8,
)
NASTY = NAMES | st.sampled_from(sorted(KEYWORDS)) | st.sampled_from(["data", "group", "types", "NAME", "a"])
WRITABLE = (
    (NAMES | st.sampled_from(["data", "group", "types", "variables", "dimensions"]))
    .map(composed)
    .filter(lambda name: unwritable(name) is None and name not in RESERVED)
    .filter(lambda name: not name.startswith(HIDDEN_PREFIXES))
)

#: netCDF4 drops NUL from texts.
TEXTS = st.text(
    st.sampled_from("\n\t\\\"'?%") | st.characters(exclude_characters="\0", exclude_categories=["Cs"])
)


def values(type):
    if type is AtomicType.CHAR:
        return st.tuples(TEXTS)
    if type is AtomicType.STRING:
        return st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
    if type.is_float:
        numbers = st.floats(width=8 * type.dtype.itemsize)
    else:
        bounds = np.iinfo(type.dtype)
        numbers = st.integers(int(bounds.min), int(bounds.max))
    return st.lists(numbers, min_size=1, max_size=4).map(tuple)


ATTRIBUTES = st.lists(
    st.sampled_from(list(AtomicType)).flatmap(
        lambda type: st.builds(NetcdfAttribute, WRITABLE, st.just(type), values(type))
    ),
    max_size=12,
    unique_by=lambda attribute: attribute.name,
).map(tuple)


#: Each example takes two processes.
OF_PROCESSES = settings(max_examples=examples(40))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cdl")


def check(dataset, folder):
    text = cdl_text(dataset, "in")
    path = generated(text, folder)
    unlimited = {path for path, each in dataset.dimensions().items() if each.unlimited}
    with opened(path) as nc:
        assert_same(dataset.root, nc, unlimited)
    return text, path


@pytest.mark.slow
@OF_PROCESSES
@given(ATTRIBUTES, ATTRIBUTES, st.sampled_from(list(AtomicType)))
def test_attributes_are_read_back(folder, of_group, of_variable, type):
    variable = NetcdfVariable(name="v", type=type, attributes=of_variable)
    check(NetcdfDataset(root=NetcdfGroup(variables=(variable,), attributes=of_group)), folder)


@pytest.mark.slow
@OF_PROCESSES
@given(st.lists(WRITABLE, min_size=11, max_size=11, unique=True))
def test_names_are_read_back(folder, names):
    outer = tuple(NetcdfDimension(name, size) for size, name in enumerate(names[:3], 1))
    # netCDF4 mistakes a dimension of the root for one that hides it, so none does.
    inner = tuple(NetcdfDimension(name, size) for size, name in enumerate(names[3:6], 4))
    of_root = [DimensionReference(join((each.name,)), each.size) for each in outer]
    of_group = [DimensionReference(join((names[6], each.name)), each.size) for each in inner]
    root = NetcdfGroup(
        dimensions=outer,
        variables=tuple(
            NetcdfVariable(name=name, type=AtomicType.INT, dimensions=tuple(of_root)) for name in names[7:]
        ),
        groups=(
            NetcdfGroup(
                name=names[6],
                dimensions=inner,
                variables=tuple(
                    NetcdfVariable(name=name, type=AtomicType.CHAR, dimensions=(reference, *of_root))
                    for name, reference in zip(names[7:], of_group, strict=False)
                ),
                groups=(NetcdfGroup(name=names[10]),),
            ),
        ),
    )
    check(NetcdfDataset(root=root), folder)


@pytest.mark.slow
@OF_PROCESSES
@given(trees(NASTY))
def test_cdl_of_any_hierarchy_is_accepted(folder, root):
    generated(cdl_text(view(root), "in"), folder)


@pytest.mark.slow
@OF_PROCESSES
@given(trees(st.sampled_from(["a", "b", "c", "d e", "1", "é"])))
def test_what_is_written_is_what_ncdump_writes_of_it(folder, root):
    text = cdl_text(view(root), "in")
    assert bare(text) == bare(dumped(generated(text, folder)))


def test_dimensions_that_others_hide_are_found(folder):
    def node(path, *dimensions):
        sizes = {"/x": 2, "/g/x": 3, "/g/h/x": 4, "/s p/x": 5}
        return array(path, tuple(sizes[each] for each in dimensions), dimension_paths=dimensions)

    beside = group("/s p", node("/s p/d", "/s p/x", "/g/x"), dimensions=[("x", 5)])
    inner = group("/g/h", node("/g/h/c", "/g/x", "/x", "/g/h/x"), dimensions=[("x", 4)])
    outer = group("/g", node("/g/b", "/x", "/g/x"), inner, dimensions=[("x", 3)])
    text = cdl_text(view(group("/", node("/a", "/x"), outer, beside, dimensions=[("x", 2)])), "in")
    assert "int c(/g/x, /x, x) ;" in text
    assert "int d(x, /g/x) ;" in text
    h5py = pytest.importorskip("h5py")
    with h5py.File(generated(text, folder)) as file:
        assert file["/g/b"].shape == (2, 3)
        assert file["/g/h/c"].shape == (3, 2, 4)
        assert file["/s p/d"].shape == (5, 3)


def test_names_that_netcdf_keeps_for_itself_do_no_harm(folder):
    of_hdf5 = ["CLASS", "DIMENSION_LIST", "NAME", "REFERENCE_LIST", "_ARRAY_DIMENSIONS"]
    of_netcdf = ["_Netcdf4Coordinates", "_Netcdf4Dimid", "_nc3_strict"]
    names = sorted({*KEYWORDS, *of_hdf5, *of_netcdf})
    attributes = tuple(NetcdfAttribute(name, AtomicType.INT, (1,)) for name in ["first", *names, "last"])
    variables = tuple(NetcdfVariable(name=name, type=AtomicType.INT) for name in names)
    of_int = NetcdfVariable(name="v", type=AtomicType.INT, attributes=attributes)
    root = NetcdfGroup(variables=(*variables, of_int), attributes=attributes)
    with opened(generated(cdl_text(NetcdfDataset(root=root), "in"), folder)) as nc:
        assert nc.ncattrs() == ["first", "last"]
        assert nc["v"].ncattrs() == ["first", "_FillValue", "last"]
        assert len(nc.variables) == len(names) + 1


REAL = ["basin_mask", "crm", "cth", "eraint_uvz"]


@pytest.mark.parametrize("name", REAL)
def test_real_files_are_read_back(folder, shared_data, name):
    with refbrowser.open(shared_data / "real" / f"{name}.refs.json") as dataset:
        text, _ = check(netcdf_view(dataset.hierarchy), folder)
        assert text.splitlines()[1:] == dataset.cdl().splitlines()[1:]


@pytest.mark.parametrize("name", REAL)
def test_real_files_have_the_names_and_sizes_of_the_netcdf_files_they_describe(folder, shared_data, name):
    path = shared_data / "real" / name
    with refbrowser.open(f"{path}.refs.json") as dataset:
        made = opened(generated(dataset.cdl(), folder))
    with made, opened(f"{path}.nc") as original:
        # A dimension that no variable has is not in the references.
        sizes = {each: len(original.dimensions[each]) for each in made.dimensions}
        assert {each: len(dimension) for each, dimension in made.dimensions.items()} == sizes
        assert set(made.ncattrs()) == set(original.ncattrs())
        assert set(made.variables) == set(original.variables)
        for each, variable in original.variables.items():
            read = made.variables[each]
            assert (read.dtype, read.dimensions) == (variable.dtype, variable.dimensions)
            for attribute in set(variable.ncattrs()) - {"_FillValue"}:
                np.testing.assert_array_equal(read.getncattr(attribute), variable.getncattr(attribute))


DOCUMENTS = [
    "cmip6_two_templates.json",
    "cru_gen_rule.json",
    "gdal_v0_min.json",
    "hrrr_grib_combined.json",
    "its_live_catalog.json",
    "pangeo_forge_http.json",
]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_real_documents_are_read_back(folder, shared_data, name):
    with refbrowser.open(shared_data / "references" / name) as dataset:
        check(netcdf_view(dataset.hierarchy), folder)


def test_nczarr_of_netcdf4_is_the_same_as_a_file_from_its_cdl(folder):
    import netCDF4

    url = f"file://{folder}/store.zarr#mode=nczarr,file"
    try:
        made = netCDF4.Dataset(url, "w")
    except OSError:
        pytest.skip("this netCDF4 has no NCZarr")
    with made:
        for name, size in (("x", 3), ("t", None), ("sp ace", 2)):
            made.createDimension(name, size)
        variable = made.createVariable("v", "f4", ("t", "x"), fill_value=-1.0)
        variable[0:2] = 1
        variable.setncatts({"units": "m", "two": np.array([1, 2], "i2"), "half": np.float32(0.5)})
        for name, dtype in (("c", "S1"), ("s", str), ("u", "u8"), ("b", "i1")):
            made.createVariable(name, dtype, ("sp ace",))
        made.createVariable("scalar", "i8", ()).large = np.uint64(2**63)
        inner = made.createGroup("g").createGroup("h")
        inner.createDimension("y", 4)
        inner.createVariable("w", "u1", ("y", "x")).setncattr_string("st", ["a", "é"])
        inner.title = "two\nlines"
    with refbrowser.open(folder / "store.zarr") as dataset, opened(url) as read:
        shown = netcdf_view(dataset.hierarchy)
        unlimited = {path for path, each in shown.dimensions().items() if each.unlimited}
        assert_same(shown.root, read, unlimited)
        check(shown, folder)
        assert dataset.hierarchy.root.dimensions["t"].size == 2
