"""Hierarchies made in memory, and their parts in the data model."""

import numpy as np

from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.nodes import ArrayNode, Dimension, Flavour, GroupNode, Hierarchy


def array(path, shape=(), dtype="<i4", **fields):
    dtype = None if dtype is None else np.dtype(dtype)
    type_name = fields.pop("type_name", "" if dtype is None else dtype.str)
    return ArrayNode(path=path, shape=shape, dtype=dtype, type_name=type_name, **fields)


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
