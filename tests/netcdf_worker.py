"""Reads and writes datasets with netCDF4 in a process of its own, which netcdf-c may crash.

Takes one JSON object a line on standard input, ``{"do": "read" or "write", "path", "mode", "group"}``, and
answers with one: a group as `netcdf_stores` describes it, or ``{"error": text}``.
"""

import ctypes
import json
import sys

import netCDF4
import numpy as np

DTYPES = {
    "byte": "i1",
    "ubyte": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "int64": "i8",
    "uint64": "u8",
    "float": "f4",
    "double": "f8",
    "char": "S1",
    "string": str,
}
NUMBERS = {1: "byte", 2: "char", 3: "short", 4: "int", 5: "float", 6: "double", 7: "ubyte", 8: "ushort"}
NUMBERS |= {9: "uint", 10: "int64", 11: "uint64", 12: "string"}


def library():
    """Return the C library that netCDF4 has loaded: Python's interface tells no types of attributes."""
    with open("/proc/self/maps") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if "libnetcdf" in line))


def type_of(node, name):
    variable = node if isinstance(node, netCDF4.Variable) else None
    found = ctypes.c_int()
    number = -1 if variable is None else variable._varid
    assert LIBRARY.nc_inq_atttype(node._grpid, number, name.encode(), ctypes.byref(found)) == 0
    return NUMBERS[found.value]


def plain(value):
    """Return a value as JSON has it without loss: floats in hexadecimal, bytes as Latin-1."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (float, np.floating)):
        return "nan" if value != value else float(value).hex()
    return value if isinstance(value, str) else int(value)


def values_of(value):
    if isinstance(value, str):
        return [value]
    return [plain(item) for item in np.asarray(value).reshape(-1).tolist()]


def attributes_of(node):
    return {name: [type_of(node, name), values_of(node.getncattr(name))] for name in node.ncattrs()}


def variable_of(variable):
    variable.set_auto_mask(False)
    variable.set_auto_scale(False)
    variable.set_auto_chartostring(False)
    kind = next(
        name for name, dtype in DTYPES.items() if dtype is variable.dtype or same(dtype, variable.dtype)
    )
    fill = variable.get_fill_value()
    if fill is not None and variable.endian() == "big" and "_FillValue" not in variable.ncattrs():
        fill = np.asarray(fill).byteswap()  # Python gives the native bytes the variable's type.
    return {
        "type": kind,
        "dimensions": list(variable.dimensions),
        "shape": list(variable.shape),
        "attributes": attributes_of(variable),
        "fill": None if fill is None else values_of(fill)[0],
        "values": values_of(variable[...]),
    }


def same(dtype, found):
    if dtype is str or found is str:
        return dtype is found
    return np.dtype(dtype) == found.newbyteorder("=")


def described(group):
    return {
        "dimensions": {name: [len(item), item.isunlimited()] for name, item in group.dimensions.items()},
        "attributes": attributes_of(group),
        "variables": {name: variable_of(item) for name, item in group.variables.items()},
        "groups": {name: described(item) for name, item in group.groups.items()},
    }


def set_attributes(node, attributes):
    for name, (kind, values) in attributes.items():
        if kind == "string":
            node.setncattr_string(name, values if len(values) != 1 else values[0])
        elif kind == "char":
            node.setncattr(name, values[0])
        else:
            array = np.array([parsed(value) for value in values], DTYPES[kind])
            node.setncattr(name, array[0] if len(array) == 1 else array)


def parsed(value):
    return float.fromhex(value) if isinstance(value, str) else value


def array_of(item, shape):
    if item["type"] == "string":
        return np.array(item["values"], object).reshape(shape)
    if item["type"] == "char":
        return np.array([value.encode("latin-1") for value in item["values"]], "S1").reshape(shape)
    return np.array([parsed(value) for value in item["values"]], DTYPES[item["type"]]).reshape(shape)


def write(group, described_group):
    for name, (size, unlimited) in described_group.get("dimensions", {}).items():
        group.createDimension(name, None if unlimited else size)
    set_attributes(group, described_group.get("attributes", {}))
    for name, item in described_group.get("variables", {}).items():
        options = dict(item.get("options", {}))
        if "_FillValue" in item.get("attributes", {}):
            kind, values = item["attributes"]["_FillValue"]
            fill = (
                values[0].encode() if kind == "char" else parsed(values[0]) if kind != "string" else values[0]
            )
            options["fill_value"] = fill
        variable = group.createVariable(name, DTYPES[item["type"]], item["dimensions"], **options)
        others = {key: value for key, value in item.get("attributes", {}).items() if key != "_FillValue"}
        set_attributes(variable, others)
        if "values" in item:
            variable.set_auto_mask(False)
            variable.set_auto_chartostring(False)
            array = array_of(item, item["shape"])
            if array.ndim:
                variable[tuple(slice(0, size) for size in item["shape"])] = array
            else:
                variable[...] = array[()]
    for name, below in described_group.get("groups", {}).items():
        write(group.createGroup(name), below)


def answer(question):
    url = f"file://{question['path']}#mode={question['mode']},file"
    if question["do"] == "write":
        with netCDF4.Dataset(url, "w") as dataset:
            write(dataset, question["group"])
        return {}
    with netCDF4.Dataset(url) as dataset:
        return described(dataset)


LIBRARY = library()

for line in sys.stdin:
    try:
        found = answer(json.loads(line))
    except Exception as error:  # noqa: BLE001 - it is told to who asked
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found), flush=True)  # noqa: T201 - the answer
