"""Random datasets through an export to NCZarr: netCDF4 reads what they were made of."""

import base64
import itertools
import json
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from deep import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from netcdf_stores import NUMBERS, difference, plain

import refbrowser
from refbrowser.exporting.exporter import run_export
from refbrowser.exporting.request import ExportRequest

NAMES = st.from_regex(r"[a-zA-Z_0-9äß名][a-zA-Z0-9_äß名 .+@\-\(\)]{0,6}[a-z0-9]", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\n\t"\\/'), max_size=12)
#: netcdf-c hands on texts as C does.
LETTERS = st.sampled_from([bytes([code]) for code in (0, 32, 65, 122, 200, 255)])


def numbers(kind):
    dtype = np.dtype(NUMBERS[kind])
    if dtype.kind == "f":
        return st.floats(width=dtype.itemsize * 8).map(lambda value: float(dtype.type(value)))
    limits = np.iinfo(dtype)
    return st.integers(int(limits.min), int(limits.max))


def values(kind):
    if kind == "char":
        return LETTERS
    return TEXTS if kind == "string" else numbers(kind)


@st.composite
def attributes(draw):
    found = {}
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        kind = draw(st.sampled_from([*NUMBERS, "char", "string"]))
        count = 1 if kind == "char" else draw(st.integers(1, 3))
        one = TEXTS if kind == "char" else values(kind)
        found[name] = (kind, draw(st.lists(one, min_size=count, max_size=count)))
    return found


@st.composite
def variables(draw, dimensions):
    kind = draw(st.sampled_from([*NUMBERS, "char", "string"]))
    references = draw(st.lists(st.sampled_from(sorted(dimensions)), max_size=3)) if dimensions else []
    shape = tuple(dimensions[reference][0] for reference in references)
    count = int(np.prod(shape))
    array = np.empty(count, object)
    array[:] = draw(st.lists(values(kind), min_size=count, max_size=count))
    # A fill value is text in the metadata, so that of char is ASCII.
    fill = draw(st.none() | (st.sampled_from([b" ", b"A", b""]) if kind == "char" else values(kind)))
    texts = [*array, fill or ""] if kind == "string" else [""]
    return {
        "kind": kind,
        "size": max(1, *(len(text.encode()) for text in texts), 1),
        "references": references,
        "array": array.reshape(shape),
        "chunks": tuple(draw(st.integers(1, size + 1)) if size else 1 for size in shape),
        "fill": fill,
        "told": fill is not None and draw(st.booleans()),
        "attributes": draw(attributes()),
        "packed": draw(st.booleans()),
        "gone": draw(st.integers(0, 5)) if fill is not None else 0,
    }


@st.composite
def groups(draw, depth=0, above=(), path=""):
    names = draw(st.lists(NAMES, min_size=3, max_size=6, unique=True))
    count = draw(st.integers(0, 3 - depth))
    below, own = names[:count][:2], names[count:]
    declared = {
        name: (draw(st.integers(0, 4)), draw(st.booleans()))
        for name in draw(st.lists(NAMES, max_size=3, unique=True))
    }
    visible = dict(above) | {f"{path}/{name}": size for name, size in declared.items()}
    return {
        "dimensions": declared,
        "attributes": draw(attributes()),
        "variables": {name: draw(variables(visible)) for name in own},
        "groups": {name: draw(groups(depth + 1, tuple(visible.items()), f"{path}/{name}")) for name in below},
    }


# As netcdf-c 4.9.1 lays it out, within a reference document


def dtype_of(item):
    if item["kind"] == "char":
        return ">S1"
    if item["kind"] == "string":
        return f"|S{item['size']}"
    return np.dtype(NUMBERS[item["kind"]]).newbyteorder("<").str.replace("|", "<")


def stored(kind, value):
    if kind == "char" and isinstance(value, bytes):
        return value.decode("latin-1").rstrip("\0")
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def zattrs(found):
    document, types = {}, {}
    for name, (kind, items) in found.items():
        document[name] = stored(kind, items[0]) if len(items) == 1 else [stored(kind, item) for item in items]
        types[name] = {"char": ">S1", "string": "|S128"}.get(kind) or np.dtype(NUMBERS[kind]).str
    return document | {"_nczarr_attr": {"types": types}}


def elements(item, array):
    """Return values as they are stored; what is missing holds the fill value."""
    array = np.asarray(array, object)
    if item["kind"] == "string":
        array = np.vectorize(str.encode, otypes=[object])(array) if array.size else array
    return array.astype(np.dtype(dtype_of(item).replace(">S", "S")))


def chunks_of(item):
    """Yield the key and bytes of each chunk that is there; the values of the others become the fill value."""
    grid = [range(-(-size // side)) for size, side in zip(item["array"].shape, item["chunks"], strict=True)]
    for number, at in enumerate(itertools.product(*grid)):
        box = tuple(
            slice(place * side, (place + 1) * side) for place, side in zip(at, item["chunks"], strict=True)
        )
        if number < item["gone"]:
            item["array"][(*box, ...)] = item["fill"]
            continue
        whole = np.zeros(item["chunks"], np.dtype(dtype_of(item).replace(">S", "S")))
        part = elements(item, item["array"][(*box, ...)])
        whole[tuple(slice(0, side) for side in part.shape)] = part
        data = whole.tobytes()
        yield ".".join(map(str, at)) or "0", zlib.compress(data) if item["packed"] else data


def keys_of(group, path=""):
    content = {
        "dims": {
            name: {"size": size, "unlimited": 1} if unlimited else size
            for name, (size, unlimited) in group["dimensions"].items()
        },
        "vars": list(group["variables"]),
        "groups": list(group["groups"]),
    }
    yield f"{path}.zgroup", {"zarr_format": 2, "_nczarr_group": content}
    yield f"{path}.zattrs", zattrs(group["attributes"])
    for name, item in group["variables"].items():
        shape = item["array"].shape
        yield (
            f"{path}{name}/.zarray",
            {
                "zarr_format": 2,
                "shape": list(shape) or [1],
                "chunks": list(item["chunks"]) or [1],
                "dtype": dtype_of(item),
                "compressor": {"id": "zlib", "level": 1} if item["packed"] else None,
                "filters": None,
                "order": "C",
                "fill_value": None if item["fill"] is None else stored(item["kind"], item["fill"]),
                "_nczarr_array": {"dimrefs": item["references"], "storage": "chunked" if shape else "scalar"},
            },
        )
        own = {"_FillValue": (item["kind"], [item["fill"]])} if item["told"] else {}
        yield f"{path}{name}/.zattrs", zattrs(own | item["attributes"])
        for key, data in chunks_of(item):
            yield f"{path}{name}/{key}", "base64:" + base64.b64encode(data).decode()
    for name, below in group["groups"].items():
        yield from keys_of(below, f"{path}{name}/")


# What netCDF4 is to read


def told(kind, value):
    if kind == "char" and isinstance(value, bytes):
        return value.decode("latin-1").rstrip("\0")
    return plain(value)


def described(group):
    return {
        "dimensions": {name: list(item) for name, item in group["dimensions"].items()},
        "attributes": plain_attributes(group["attributes"]),
        "variables": {name: variable(item) for name, item in group["variables"].items()},
        "groups": {name: described(below) for name, below in group["groups"].items()},
    }


def plain_attributes(found):
    return {name: [kind, list(map(plain, items))] for name, (kind, items) in found.items()}


def variable(item):
    kind, fill = item["kind"], item["fill"]
    own = {"_FillValue": [kind, [told(kind, fill)]]} if item["told"] else {}
    # netCDF4 tells the fill value of a string variable only where it is an attribute.
    nothing = fill is None or (kind == "string" and not item["told"])
    return {
        "type": kind,
        "dimensions": [reference.rpartition("/")[2] for reference in item["references"]],
        "shape": list(item["array"].shape),
        "attributes": own | plain_attributes(item["attributes"]),
        "fill": None if nothing else told(kind, fill),
        "values": [told(kind, value) for value in item["array"].reshape(-1).tolist()],
    }


def check(netcdf, group):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        refs = dict(keys_of(group))
        (folder / "source.json").write_text(json.dumps({"version": 1, "refs": refs}))
        with refbrowser.open(folder / "source.json") as dataset:
            assert dataset.hierarchy.findings == ()
            report = run_export(dataset, ExportRequest(str(folder / "target"), "nczarr"))
        assert report.losses == ()
        found = netcdf.read(folder / "target")
    assert difference(found, described(group)) is None
    assert list(found["variables"]) == list(group["variables"])


#: A failing dataset is not made smaller: that takes minutes.
PHASES = (Phase.explicit, Phase.generate)


@pytest.mark.long
@settings(max_examples=examples(16), phases=PHASES)
@given(groups())
def test_random_datasets(netcdf, group):
    check(netcdf, group)


@pytest.mark.long
@pytest.mark.timeout(1200)
@settings(max_examples=500, phases=PHASES, derandomize=False)
@given(groups())
def test_many_random_datasets(netcdf, group):
    check(netcdf, group)
