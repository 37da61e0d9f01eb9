"""What an exporter leaves out or changes stands in its report, before it runs and after.

Sources are described here by hand. What became of them is found by plain JSON, siphon and pyarrow; no reader
nor writer of ours is asked. Each difference needs a line of the report at the path where it is.
"""

import base64
import json
import math
import re
import struct
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import netCDF4
import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
import stream_encoder as enc
import zarr
from exported_streams import inline_document, opened, read_by_siphon

import refbrowser
from refbrowser.exporting.exporter import estimate_export, run_export
from refbrowser.exporting.options import StoreOptions
from refbrowser.exporting.request import ExportRequest
from refbrowser.wings.ncstream.writing.stream_options import StreamOptions

#: A fact that a target has no words for, and that its readers need none for.
ANY = object()
#: Numbers and times, whose types are compared; texts and bytes have other types in other formats.
KINDS = "biufcmM"


class Fact(NamedTuple):
    """What is known of a node: `aspect` names it, and is what a line of the report must hold."""

    path: str
    aspect: str


# -- sources ---------------------------------------------------------------------------------------------


def node(path, attributes=None, types=None, **facts):
    """Return the facts of a group, or of an array: `dtype`, `shape`, `dimensions`, `fill`, `members`."""
    found = {Fact(path, "node"): True}
    found |= {Fact(path, repr(name)): value for name, value in (attributes or {}).items()}
    found |= {Fact(path, f"{name!r} ({kind})"): kind for name, kind in (types or {}).items()}
    for member, own in facts.pop("members", {}).items():
        found |= {Fact(path, f"{name!r} of {member!r}"): value for name, value in own.items()}
    return found | {Fact(path, name): value for name, value in facts.items()}


def zarr_document(folder: Path):
    """Write arrays of the types of Zarr v2, inline in a document, and return what they hold."""
    rec = np.array([(1, 0.5), (-1, 2.5)], [("a", "<i2"), ("b", "<f4")])
    two = np.arange(2)
    arrays: dict[str, Any] = {
        # Values, the fill value as it is stored, and as it is, dimensions, attributes.
        "temp": (np.arange(6, dtype="<i2").reshape(2, 3), -1, -1, "yx", {"units": "K", "valid": [1, 2]}),
        "own": (two.astype("<f4"), 5.0, 5.0, "y", {"_FillValue": 5.0, "unknown": None}),
        "none": (two.astype("<f8"), None, None, "y", {"deep": {"a": [1, {}]}, "nothing": []}),
        "usual": (two.astype("<i4"), -2147483647, -2147483647, "y", {"mixed": [1, "a"]}),
        "small": (two.astype("<f2"), "NaN", math.nan, "y", {"truth": True}),
        "flag": (np.array([True, False]), False, False, "y", {}),
        "pair": (two.astype("<c8"), [0.0, 1.0], 1j, "y", {"large": 2**40}),
        "nan": (two.astype("<c16"), ["NaN", "NaN"], complex(math.nan, math.nan), "y", {}),
        "when": (two.astype("<M8[s]"), 0, np.datetime64(0, "s"), "y", {}),
        "rec": (rec, "//8AACBA", (-1, 2.5), "y", {"_FillValue": 1, "units": "m"}),
        "raw": (np.frombuffer(b"abcdef", "V3"), "eHl6", b"xyz", "y", {}),
        "name": (np.array([b"ab", b"c"]), "eHk=", b"xy", "y", {}),
        "word": (np.array(["ab", "c"]), "xy", "xy", "y", {}),
        "one": (np.array(7, "<i8"), 3, 3, "", {"units": "m"}),
        "in/inner": (np.arange(3, dtype=">u2"), 9, 9, "x", {"text": "\u00e4"}),
    }
    written = {
        name: {"values": each[0], "fill_value": each[1], "dimensions": each[3], "attributes": each[4]}
        for name, each in arrays.items()
    }
    document = json.loads(inline_document(written, ("in", "empty")))
    groups = {"": {"title": "t"}, "in": {"about": "in", "count": 5}, "empty": {"about": "empty"}}
    document["refs"] |= {f"{name}/.zattrs".strip("/"): json.dumps(own) for name, own in groups.items()}
    path = folder / "source.json"
    path.write_text(json.dumps(document))
    facts = {}
    for name, own in groups.items():
        facts |= node(f"/{name}", own)
    for name, (values, _, fill, dimensions, own) in arrays.items():
        shown = {"dtype": values.dtype, "shape": values.shape, "dimensions": list(dimensions)}
        facts |= node(f"/{name}", own, **shown, fill=fill)
    return path, facts


def stream(folder: Path):
    """Write a stream with what only streams have, and return what it holds."""
    n, free = enc.dimension("n", 2, unlimited=True), enc.dimension("free", 7)
    numbers = [enc.typed_attribute("small", enc.SHORT, 1), enc.typed_attribute("floats", enc.FLOAT, 0.5, 1.5)]
    of_day = [enc.typed_attribute("_FillValue", enc.BYTE, -99), enc.text_attribute("units", "d")]
    members = [
        enc.variable("day", enc.BYTE, [], of_day),
        enc.variable("lat", enc.FLOAT, [], [enc.text_attribute("units", "degrees_north")]),
    ]
    root = enc.group(
        dimensions=[n, free],
        enums=[enc.enumeration("kinds", {0: "a", 1: "b"})],
        variables=[
            enc.variable("short", enc.SHORT, [n], numbers),
            enc.variable("kind", enc.ENUM1, [n], enum="kinds"),
            enc.variable("rows", enc.INT, [n, enc.VLEN], [enc.text_attribute("units", "m")]),
            enc.variable("text", enc.STRING, [n]),
            enc.variable("blob", enc.OPAQUE, [n]),
            enc.variable("strange", 99, [n]),
        ],
        structures=[enc.structure("obs", enc.STRUCTURE, [n], variables=members)],
        attributes=[
            enc.typed_attribute("level", enc.BYTE, 3),
            enc.attribute("odd", length=1, data=b"a", data_type=88),
        ],
        groups=[enc.group("g", attributes=[enc.typed_attribute("level", enc.UBYTE, 200)])],
    )
    obs = enc.structure_body(struct.pack(">bfbf", 15, 1.5, -99, 2.5), count=2, row_length=5)
    two = enc.whole([2])
    path = folder / "source.ncs"
    messages = [
        enc.data(enc.data_body("short", enc.SHORT, two, bigend=True), enc.regular(enc.numbers("h", [1, 2]))),
        enc.data(enc.data_body("kind", enc.ENUM1, two, bigend=True), enc.regular(bytes([0, 1]))),
        enc.data(enc.data_body("obs", enc.STRUCTURE, two, bigend=True), enc.regular(obs)),
    ]
    path.write_bytes(enc.stream(enc.header(root), *messages))
    facts = node("/", {"level": 3, "odd": ANY}, {"level": "byte"}, dimension_free=7, unlimited_n=True)
    facts |= node("/g", {"level": 200}, {"level": "ubyte"})
    short = {"small": "short", "floats": "float"}
    plain = {"shape": (2,), "dimensions": ["n"]}
    facts |= node("/short", {"small": 1, "floats": [0.5, 1.5]}, short, dtype=np.dtype("i2"), **plain)
    facts |= node("/kind", dtype=np.dtype("u1"), enumeration={0: "a", 1: "b"}, **plain)
    facts |= node("/rows", {"units": "m"}, **plain)
    facts |= node("/text", **plain) | node("/blob", **plain) | node("/strange")
    of_members = {"day": {"_FillValue": -99, "units": "d"}, "lat": {"units": "degrees_north"}}
    facts |= node("/obs", members=of_members, **plain)
    return path, facts


def nczarr(folder: Path):
    """Write references to NCZarr with typed attributes, and return what they hold."""
    metadata = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i2", "order": "C"}
    metadata |= {"compressor": None, "filters": None, "fill_value": 4}
    group = {"dimensions": {"x": {"size": 2, "unlimited": 1}, "free": 7}, "arrays": ["a"], "groups": []}
    types = {
        "n": "<i2",
        "s": "|S1",
        "_nczarr_superblock": "|J0",
        "_nczarr_group": "|J0",
        "_nczarr_attr": "|J0",
    }
    own = {"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}}
    own |= {"n": 5, "_nczarr_attr": {"types": {"n": "<i2", "_nczarr_array": "|J0", "_nczarr_attr": "|J0"}}}
    root = {"n": 5, "s": ["a"], "_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": group}
    refs = {
        ".zgroup": {"zarr_format": 2},
        ".zattrs": root | {"_nczarr_attr": {"types": types}},
        "a/.zarray": metadata,
        "a/.zattrs": own,
        "a/0": "\x01\x00\x04\x00",
    }
    path = folder / "source.json"
    path.write_text(
        json.dumps({key: each if isinstance(each, str) else json.dumps(each) for key, each in refs.items()})
    )
    facts = node("/", {"n": 5, "s": ["a"]}, {"n": "short"}, dimension_free=7, unlimited_x=True)
    plain = {"dtype": np.dtype("i2"), "shape": (2,), "dimensions": ["x"], "fill": 4}
    return path, facts | node("/a", {"n": 5}, {"n": "short"}, **plain)


# -- what became of them -----------------------------------------------------------------------------------


def described(path, own, shape=None, names=None, dtype=None, fill=ANY, types=None):
    """Return the facts of a node as its description has them; of an array where it has a shape."""
    names = names if names is not None else own.pop("_ARRAY_DIMENSIONS", None)
    own = {name: value for name, value in own.items() if not name.startswith("_nczarr")}
    if shape is None:
        return node(path, own, types)
    dimensions = names or [None] * len(shape)
    return node(path, own, types, shape=tuple(shape), dimensions=dimensions, dtype=dtype, fill=fill)


def documents(target: Path, format: str):
    """Return the metadata documents of a store or of references, by key."""
    if format == "refs-parquet":
        return json.loads((target / ".zmetadata").read_text())["metadata"]
    if format.startswith("refs"):
        document = json.loads(target.read_text())
        found = document.get("refs", document).items()
        return {key: json.loads(value) for key, value in found if key.rpartition("/")[2].startswith(".z")}
    files = (each for each in target.rglob("*") if each.name.startswith(".z") or each.suffix == ".json")
    return {str(each.relative_to(target)): json.loads(each.read_text()) for each in files}


def in_v2(target: Path, format: str):
    found, facts = documents(target, format), {}
    for key, about in found.items():
        folder, _, name = key.rpartition("/")
        own = dict(found.get(f"{folder}/.zattrs".strip("/"), {}))
        types = {}
        if "_nczarr_attr" in own:
            recorded = own.get("_nczarr_attr", {}).get("types", {})
            words = {"<i2": "short", "<i1": "byte", "<u1": "ubyte", "<f4": "float"}
            types = {each: words.get(kind, kind) for each, kind in recorded.items()}
            for dimension, size in own.get("_nczarr_group", {}).get("dimensions", {}).items():
                is_open = isinstance(size, dict) and size["unlimited"]
                facts[Fact(f"/{folder}", f"dimension_{dimension}")] = (
                    size["size"] if isinstance(size, dict) else size
                )
                facts[Fact(f"/{folder}", f"unlimited_{dimension}")] = bool(is_open)
            paths = own.get("_nczarr_array", {}).get("dimension_references", ())
            if name == ".zarray":
                scalar = own.get("_nczarr_array", {}).get("scalar")
                own["_ARRAY_DIMENSIONS"] = [] if scalar else [path.rpartition("/")[2] for path in paths]
                about = {**about, "shape": []} if scalar else about
        if name == ".zgroup":
            facts |= described(f"/{folder}", own, types=types)
        elif name == ".zarray":
            dtype = about["dtype"]
            shown = np.dtype(dtype if isinstance(dtype, str) else list(map(tuple, dtype)))
            filters = [each["id"] for each in about["filters"] or ()]
            shown = None if shown.kind == "O" and filters else shown
            facts |= described(f"/{folder}", own, about["shape"], None, shown, about["fill_value"], types)
    return facts


def in_v3(target: Path, format: str):
    facts = {}
    for key, about in documents(target, format).items():
        path = f"/{key.rpartition('/')[0]}"
        own, dtype = about.get("attributes", {}), about.get("data_type")
        names = about.get("dimension_names") or [None] * len(about.get("shape", ()))
        shown = np.dtype(dtype) if isinstance(dtype, str) and hasattr(np, dtype) else None
        if isinstance(dtype, dict) and dtype["name"] == "numpy.datetime64":
            shown = np.dtype(f"M8[{dtype['configuration']['unit']}]")
        said = own.get("_FillValue")
        if isinstance(said, str) and shown is not None and shown.kind == "f":
            # As xarray spells it.
            own = {**own, "_FillValue": struct.unpack("<d", base64.b64decode(said))[0]}
        facts |= described(path, own, about.get("shape"), names, shown, about.get("fill_value"))
    return facts


def in_draft(target: Path, format: str):
    facts = {}
    for key, about in documents(target, format).items():
        found = re.fullmatch(r"(meta|root)(?P<path>/.*|)\.(group|array)\.json", key)
        if found is None:
            continue
        dtype = about.get("data_type", "")
        shown = np.dtype(dtype if isinstance(dtype, str) else dtype["type"]) if dtype else None
        own = about.get("attributes", {})
        facts |= described(
            found["path"] or "/", own, about.get("shape"), None, shown, about.get("fill_value")
        )
    return facts


def in_stream(target: Path, format: str):
    """Return what the header says by the protobuf classes of siphon."""
    from siphon.cdmr import ncstream, ncStream_pb2

    data, at = target.read_bytes(), 4
    facts: dict[Fact, Any] = {}
    words = {1: "byte", 2: "short", 5: "float", 14: "ubyte"}

    def attributes(path, held, form="{0!r}"):
        for attribute in held.atts:
            name, value = ncstream.unpack_attribute(attribute)
            plain = value.tolist() if hasattr(value, "tolist") else value
            facts[Fact(path, form.format(name))] = plain
            facts[Fact(path, f"{name!r} ({words.get(attribute.dataType)})")] = words.get(attribute.dataType)

    def walk(group, path):
        facts.update(node(path))
        attributes(path, group)
        for each in group.dims:
            facts[Fact(path, f"dimension_{each.name}")] = each.length
            facts[Fact(path, f"unlimited_{each.name}")] = each.isUnlimited
        for each in (*group.vars, *group.structs):
            inside = f"{path.rstrip('/')}/{each.name}"
            letters = {1: "i1", 2: "i2", 3: "i4", 4: "i8", 5: "f4", 6: "f8", 10: "u1", 15: "u2"}
            dtype = np.dtype(letters[each.dataType]) if each.dataType in letters else None
            shape = [one for one in each.shape if not one.isVlen]
            sizes, names = tuple(one.length for one in shape), [one.name or None for one in shape]
            fills = [one for one in each.atts if one.name == "_FillValue"]
            usual = netCDF4.default_fillvals.get(dtype.str[1:], ANY) if dtype is not None else ANY
            fill = ncstream.unpack_attribute(fills[0])[1] if fills else usual
            facts.update(node(inside, shape=sizes, dimensions=names, dtype=dtype, fill=fill))
            attributes(inside, each)
            # Siphon does not know the field that names the enumeration of a variable.
            facts[Fact(inside, "enumeration")] = ANY
            for member in each.vars if each.dataType == 8 else ():
                attributes(inside, member, f"{{0!r}} of {member.name!r}")
        for below in group.groups:
            walk(below, f"{path.rstrip('/')}/{below.name}")

    while data[at : at + 4] == enc.MAGIC_HEADER:
        size, start, shift = 0, at + 4, 0
        while True:
            size |= (data[start] & 127) << shift
            start, shift = start + 1, shift + 7
            if data[start - 1] < 128:
                break
        walk(ncStream_pb2.Header.FromString(data[start : start + size]).root, "/")
        at = start + size
    return facts


def arrow_dtype(type):
    """Return the numpy type of the elements of a column, None where that is none of numbers or times."""
    while True:
        if isinstance(type, pyarrow.BaseExtensionType):
            type = type.storage_type
        elif pyarrow.types.is_fixed_size_list(type) or pyarrow.types.is_list(type):
            type = type.value_type
        elif pyarrow.types.is_timestamp(type):
            return np.dtype(f"M8[{type.unit}]")
        else:
            is_number = pyarrow.types.is_primitive(type) or pyarrow.types.is_boolean(type)
            return np.dtype(type.to_pandas_dtype()) if is_number else None


def in_tables(target: Path, format: str):
    files = (
        [target] if target.is_file() else [each for each in target.rglob("*") if each.suffix == f".{format}"]
    )
    read = (
        pyarrow.parquet.read_schema
        if format == "parquet"
        else lambda path: pyarrow.feather.read_table(path).schema
    )
    facts: dict[Fact, Any] = {}
    for path in files:
        schema = read(path)
        told = json.loads(schema.metadata[b"refbrowser"])
        facts |= node("/", told.get("attributes"))
        for group, own in told.get("groups", {}).items():
            facts |= node(group, own)
        for name, about in told["arrays"].items():
            dtype = arrow_dtype(schema.field(name).type) if name in schema.names else None
            names = about.get("dimensions")
            own = about.get("attributes", {})
            facts |= node(
                about["path"], own, dimensions=names or ANY, dtype=dtype, fill=about.get("fill_value", ANY)
            )
    if target.is_dir():
        for group, own in json.loads((target / "_tables.json").read_text())["groups"].items():
            facts |= node(group, own)
    return facts


def in_awkward0(target: Path, format: str):
    facts = {}
    with zipfile.ZipFile(target) as archive:
        for name in archive.namelist():
            if not name.endswith(".json"):
                continue
            about = json.loads(archive.read(name)).get("metadata", {})
            own = about.get("attributes", {})
            facts |= node(
                f"/{name.removesuffix('.json').rstrip('-')}",
                own,
                dimensions=about.get("dimensions", ANY),
                fill=about.get("fill_value", ANY),
            )
    return facts


# -- what differs, and what is told ----------------------------------------------------------------------


def same(expected, found, aspect):
    """Tell whether a target has a fact; numbers without an order of bytes, texts of whatever type."""
    if expected is ANY or found is ANY:
        return aspect not in ("fill", "dtype") or expected in (ANY, None)
    if aspect == "dtype":
        if found is None or expected.kind not in KINDS:
            return expected.kind not in KINDS
        return expected.newbyteorder("=") == found.newbyteorder("=")
    if aspect == "fill":
        return same_fill(expected, found)
    if isinstance(expected, list) and not isinstance(found, list) and len(expected) == 1:
        expected = expected[0]
    return expected == found


def same_fill(expected, found):
    if expected is None:
        return True
    if isinstance(expected, np.datetime64):
        return found in (str(expected), int(expected.astype("i8")))
    if isinstance(expected, bytes | tuple):
        # Spelled in too many ways: by base64, by lists.
        return found is not None
    if isinstance(expected, complex) and isinstance(found, list):
        found = complex(*(math.nan if part == "NaN" else part for part in found))
    return found == expected or (expected != expected and (found == "NaN" or found != found))


def differences(source, target, format):
    """Yield the facts of a source that a target has not."""
    gone = {fact.path for fact in source if fact.aspect == "node" and fact not in target}
    # Awkward 0 tells no shapes nor types beside the values.
    silent = (
        ("dtype", "shape") if format == "awkward0" else ("shape",) if format in ("parquet", "feather") else ()
    )
    for fact, expected in source.items():
        if fact.path in gone:
            if fact.aspect == "node":
                yield fact
        elif fact.aspect in silent or (expected is None and fact not in target):
            continue
        elif not same(expected, target.get(fact), fact.aspect):
            yield fact


#: What must stand in a line of the report where something differs; else the name of what does.
WORDS = {
    "node": "",
    "fill": "fill|_FillValue",
    "dtype": "written as|stored as|shown as|records of|variables",
    "shape": "variables|dimension",
    "dimensions": "dimension",
    "enumeration": "enumeration",
}


def is_told(fact, lines):
    """Tell whether a line of a report, with its path, tells of a fact."""
    word = fact.aspect
    if word.startswith(("dimension_", "unlimited_")):
        word = f"dimension {word.partition('_')[2]!r}"
    pattern = WORDS.get(word, re.escape(word).replace("'_FillValue'", "'?_FillValue'?"))
    return any(path == fact.path and re.search(pattern, what) for path, what in lines)


SOURCES = {"zarr": zarr_document, "stream": stream, "nczarr": nczarr}
READERS = {
    "zarr-v2": in_v2,
    "nczarr": in_v2,
    "zarr-v3": in_v3,
    "zarr-v3-draft": in_draft,
    "refs-v0": in_v2,
    "refs-v1": in_v2,
    "refs-parquet": in_v2,
    "ncstream": in_stream,
    "parquet": in_tables,
    "feather": in_tables,
    "awkward0": in_awkward0,
}
EXPORTS = [
    *((format, {}) for format in READERS),
    ("nczarr", {"options": StoreOptions(split_compounds=True)}),
    ("ncstream", {"options": StreamOptions(profile="compatible")}),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_what_a_target_has_not_is_in_its_report(tmp_path, name):
    path, source = SOURCES[name](tmp_path)
    with refbrowser.open(path) as dataset:
        for number, (format, options) in enumerate(EXPORTS):
            target = tmp_path / f"target{number}{'.awkd' if format == 'awkward0' else ''}"
            request = ExportRequest(str(target), format, skip_bad=True, **options)
            before = estimate_export(dataset, request).losses
            report = run_export(dataset, request)
            told = [(loss.path, loss.what) for loss in report.losses]
            told += [(error.place.path, error.message) for error in report.skipped]
            first = [(loss.path, loss.what) for loss in before]
            for fact in differences(source, READERS[format](target, format), format):
                assert is_told(fact, told), (format, options, fact, source[fact])
                assert is_told(fact, first), ("not told before", format, options, fact)


def values_of(target, format, name):
    """Return the values of an array as zarr-python, pyarrow and siphon read them."""
    if format == "ncstream":
        return read_by_siphon(target)[1][name]
    if format in ("parquet", "feather"):
        path = target / f"{name}.{format}"
        read = pyarrow.parquet.read_table if format == "parquet" else pyarrow.feather.read_table
        return np.array(read(path).column(0).to_pylist())
    return zarr.open_group(target, mode="r")[name][...]


def test_missing_values_are_those_of_the_source_everywhere(tmp_path):
    values = np.arange(6, dtype="<i2").reshape(2, 3)
    facts = {"values": values, "chunks": (1, 3), "missing": [(1, 0)], "fill_value": -1, "dimensions": "yx"}
    other = {"values": np.arange(3.0), "fill_value": 7.0}
    expected = np.array([[0, 1, 2], [-1, -1, -1]])
    with opened(tmp_path, {"temp": facts, "other": other}) as dataset:
        for format in ("zarr-v2", "zarr-v3", "nczarr", "ncstream", "parquet", "feather"):
            target = tmp_path / format
            profile = StreamOptions(profile="compatible") if format == "ncstream" else None
            run_export(dataset, ExportRequest(str(target), format, options=profile))
            np.testing.assert_array_equal(values_of(target, format, "temp"), expected, format)
            np.testing.assert_array_equal(values_of(target, format, "other"), np.arange(3.0), format)


@pytest.mark.parametrize("profile", ["full", "compatible"])
@pytest.mark.parametrize(("document", "count"), [("cth", 13), ("basin_mask", 3)])
def test_fill_values_of_real_documents_are_those_of_their_streams(
    tmp_path, shared_data, document, count, profile
):
    path = shared_data / "real" / f"{document}.refs.json"
    stored = in_v2(path, "refs-v1")
    target = tmp_path / "target.ncs"
    with refbrowser.open(path) as dataset:
        request = ExportRequest(str(target), "ncstream", options=StreamOptions(profile=profile))
        told = [(loss.path, loss.what) for loss in run_export(dataset, request).losses]
    found = in_stream(target, "ncstream")
    fills = {fact: value for fact, value in stored.items() if fact.aspect == "fill" and value is not None}
    for fact, value in fills.items():
        assert found[fact] == pytest.approx(float(value), nan_ok=True), fact
    named = {fact.path for fact in found if fact.aspect == "'_FillValue'"}
    assert len(named) == count
    assert all(is_told(Fact(path, "fill"), told) for path in named)
