"""Losses that the source causes: attributes that cannot be read, types that JSON does not tell."""

import json

import pytest

import refbrowser
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import ExportRequest

ZARRAY = {
    "zarr_format": 2,
    "shape": [2],
    "chunks": [2],
    "dtype": "<i2",
    "compressor": None,
    "filters": None,
    "fill_value": 0,
    "order": "C",
}
FORMATS = ("zarr-v2", "zarr-v3", "zarr-v3-draft", "nczarr")


def losses(tmp_path, refs, format):
    document = tmp_path / "source.json"
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in refs.items()}
    document.write_text(json.dumps(texts))
    with refbrowser.open(document) as dataset:
        request = ExportRequest(str(tmp_path / "target"), format, options=StoreOptions())
        told = estimate_export(dataset, request).losses
        assert run_export(dataset, request).losses == told
    return [str(loss) for loss in told]


def attributes(values, types, **members):
    types = types | dict.fromkeys([*members, "_nczarr_attr"], "|J0")
    return {**values, **members, "_nczarr_attr": {"types": types}}


def typed(types):
    """Return an NCZarr dataset whose attributes have these types."""
    values = {"short": 5, "int": 5, "float": 0.5, "double": 0.5, "text": "a", "strings": ["a"], "one": "b"}
    group = {"dimensions": {"x": 2}, "arrays": ["a"], "groups": []}
    array = attributes(
        {**values, "_FillValue": 0},
        {**types, "_FillValue": "<i2"},
        _nczarr_array={"dimension_references": ["/x"], "storage": "chunked"},
    )
    return {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": attributes(values, types, _nczarr_superblock={"version": "2.0.0"}, _nczarr_group=group),
        "a/.zarray": ZARRAY,
        "a/.zattrs": array,
    }


PLAIN = {"int": "<i4", "double": "<f8", "text": ">S1", "strings": "|S1"}
OTHER = {"short": "<i2", "float": "<f4", "one": "|S1"}


@pytest.mark.parametrize("format", FORMATS)
def test_types_of_attributes_that_others_read_as_others_are_one_line_a_node(tmp_path, format):
    told = [line for line in losses(tmp_path, typed(PLAIN | OTHER), format) if "types of" in line]
    if format == "nczarr":
        assert told == []
    else:
        assert told == [
            f"{path}: types of attributes are left out, JSON has none: "
            "'short' (short), 'float' (float), 'one' (string)"
            for path in ("/", "/a")
        ]


@pytest.mark.parametrize("types", [PLAIN, {}])
def test_types_that_are_inferred_are_no_loss(tmp_path, types):
    assert not [line for line in losses(tmp_path, typed(types), "zarr-v3") if "types of" in line]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("broken", ["{", "[1]"])
def test_attributes_that_cannot_be_read_are_a_loss(tmp_path, format, broken):
    refs = {
        ".zgroup": {"zarr_format": 2},
        "g/.zgroup": {"zarr_format": 2},
        "g/.zattrs": broken,
        "g/a/.zarray": ZARRAY,
        "g/a/.zattrs": broken,
        "g/b/.zarray": ZARRAY,
        "g/b/.zattrs": {"units": "m"},
    }
    told = [line for line in losses(tmp_path, refs, format) if "cannot be read" in line]
    assert [line.split(":")[0] for line in told] == ["/g", "/g/a"]
    assert all("its attributes cannot be read and are left out: " in line for line in told)


def test_metadata_of_a_group_that_cannot_be_read_is_a_loss(tmp_path):
    refs = {".zgroup": {"zarr_format": 2}, "g/.zgroup": "{", "g/.zattrs": {"a": 1}, "g/b/.zarray": ZARRAY}
    told = [line for line in losses(tmp_path, refs, "zarr-v2") if "cannot be read" in line]
    assert len(told) == 1
    assert told[0].startswith("/g: the metadata of the group cannot be read: ")
