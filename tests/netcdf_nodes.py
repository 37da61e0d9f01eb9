"""Hierarchies made in memory, and their parts in the data model."""

import numpy as np
from hypothesis import strategies as st

from refbrowser.model.data_type import UNKNOWN, DataType
from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.nodes import ArrayNode, Dimension, Flavour, GroupNode, Hierarchy


def array(path, shape=(), dtype="<i4", **fields):
    dtype = None if dtype is None else np.dtype(dtype)
    name = fields.pop("type_name", "" if dtype is None else dtype.str)
    type = fields.pop("type", UNKNOWN if dtype is None else DataType.of(dtype, name))
    return ArrayNode(path=path, shape=shape, type=type, **fields)


def group(path, *nodes, dimensions=(), **fields):
    """Return a group of arrays and groups; dimensions are (name, size) or (name, size, unlimited)."""
    return GroupNode(
        path=path,
        dimensions={item[0]: Dimension(*item) for item in dimensions},
        groups={node.name: node for node in nodes if isinstance(node, GroupNode)},
        arrays={node.name: node for node in nodes if isinstance(node, ArrayNode)},
        **fields,
    )


def view(root, flavour=Flavour.ZARR_V2):
    return netcdf_view(Hierarchy(root=root, format=str(flavour), flavour=flavour))


def variable(path, shape=(), dtype="<i4", flavour=Flavour.ZARR_V2, **fields):
    """Return the variable that one array of the root becomes."""
    return view(group("/", array(path, shape, dtype, **fields)), flavour).root.variables[0]


def attribute(value, recorded=None):
    """Return type and values of an attribute of the root, and the messages about it."""
    types = {} if recorded is None else {"a": recorded}
    root = view(group("/", attributes={"a": value}, attribute_types=types)).root
    found = root.attributes[0]
    return found.type, found.values, [note.message for note in root.notes]


SCALARS = [
    "?",
    "i1",
    ">u2",
    "<i4",
    "u8",
    "f2",
    "<f4",
    ">f8",
    "c8",
    "c16",
    "M8[ns]",
    "m8",
    "S1",
    "S3",
    "U2",
    "V5",
]
PAIRS = [[("a", scalar), ("b", "i4", (2,))] for scalar in SCALARS]
DTYPES = st.sampled_from([*SCALARS, "O", "g", "S", "U", "V", *PAIRS, [("in", PAIRS[0], (2, 2)), ("n", "V0")]])
NAMES = st.sampled_from(["a", "b", "a b", "a\\", "x_2", "é"])
REFERENCES = st.sampled_from([None, "/a", "/a/b", "/é", "/nothing"])
TEXTS = st.text(st.sampled_from("ab \"'\\\n\té日?%/"), max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXTS,
    lambda items: st.lists(items, max_size=3) | st.dictionaries(NAMES, items, max_size=2),
    max_leaves=5,
)


@st.composite
def trees(draw, names=NAMES, references=REFERENCES, path="", depth=0):
    """Draw a group with arrays and groups of any kind."""
    nodes = [
        draw(arrays(names, references, f"{path}/{name}"))
        for name in draw(st.lists(names, max_size=3, unique=True))
    ]
    if depth < 2:
        for name in draw(st.lists(names, max_size=2, unique=True)):
            nodes.append(draw(trees(names, references, f"{path}/{name}", depth + 1)))
    dimensions = [(name, draw(st.integers(0, 3)), draw(st.booleans())) for name in draw(st.sets(names))]
    attributes = draw(st.dictionaries(names, JSON, max_size=2))
    return group(path or "/", *nodes, dimensions=dimensions, attributes=attributes)


@st.composite
def arrays(draw, names, references, path):
    """Draw an array; its dimensions are named, named in full, both or not."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    dtype = np.dtype(draw(DTYPES))
    return array(
        path,
        shape,
        dtype,
        fill_value=fill_of(dtype) if draw(st.booleans()) else None,
        dimensions=tuple(draw(st.none() | names) for _ in shape),
        dimension_paths=tuple(draw(references) for _ in shape),
        attributes=draw(st.dictionaries(names | st.just("_FillValue"), JSON, max_size=2)),
        attribute_types=draw(st.dictionaries(names, st.sampled_from(["char", "int", "float", "json"]))),
    )


def fill_of(dtype):
    """Return an element that is not zero."""
    if dtype.kind in "OSU":
        return np.array(["x"]).astype(dtype)[0]
    return np.frombuffer(b"\1" * dtype.itemsize, dtype, count=1)[0] if dtype.itemsize else None
