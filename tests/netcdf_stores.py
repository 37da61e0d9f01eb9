"""Datasets as plain values, and netCDF4 (netcdf-c) in another process as their independent reader and writer.

A group is ``{"dimensions": {name: [size, unlimited]}, "attributes": {name: [type, [value...]]}, "variables":
{name: {"type", "dimensions", "shape", "attributes", "fill", "values"}}, "groups": {name: group}}`` with the
netCDF names of types, floats in hexadecimal and chars as text.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from refbrowser.model.netcdf.dataset import netcdf_view
from refbrowser.model.netcdf.types import AtomicType

#: numpy's name of each netCDF type of numbers.
NUMBERS = {
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
}


class NetcdfError(Exception):
    """netCDF4 cannot do what it was asked for."""


class NetcdfProcess:
    """netCDF4 in a process that is started when it is needed, and again when it has crashed."""

    def __init__(self):
        self._process = None

    def read(self, path, mode="nczarr"):
        """Return the dataset in a folder."""
        return self._ask({"do": "read", "path": str(path), "mode": mode})

    def write(self, path, group, mode="nczarr"):
        """Make a dataset in a folder."""
        self._ask({"do": "write", "path": str(path), "mode": mode, "group": group})

    def close(self):
        """End the process."""
        if self._process is not None:
            self._process.stdin.close()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                # Its end is no matter of the test that happens to be the last one.
                self._process.kill()
                self._process.wait()
            self._process.stdout.close()

    def _ask(self, question):
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("netcdf_worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise NetcdfError(f"netcdf-c crashed: {self._process.wait(30)}")
        found = json.loads(line)
        if "error" in found:
            raise NetcdfError(found["error"])
        return found


def plain(value):
    """Return a value as it stands in a description."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float | np.floating):
        return "nan" if value != value else float(value).hex()
    return value if isinstance(value, str) else int(value)


def described(dataset):
    """Return what refbrowser reads of a dataset, with all values."""
    return _group(dataset, netcdf_view(dataset.hierarchy).root)


def _group(dataset, group):
    return {
        "dimensions": {item.name: [item.size, item.unlimited] for item in group.dimensions},
        "attributes": _attributes(group.attributes, group.node),
        "variables": {item.name: _variable(dataset, item) for item in group.variables},
        "groups": {item.name: _group(dataset, item) for item in group.groups},
    }


def _attributes(attributes, node):
    """Return the attributes that are there; the model makes one of each fill value too."""
    return {
        item.name: [str(item.type), [plain(value) for value in item.values]]
        for item in attributes
        if item.name in node.attributes
    }


def _variable(dataset, variable):
    node = variable.node
    values = np.asarray(dataset[node.path][...])
    attributes = _attributes(variable.attributes, node)
    # netCDF4 tells of the attribute first.
    own = attributes.get("_FillValue", (None, [None]))[1][0]
    return {
        "type": str(variable.type),
        "dimensions": [reference.name for reference in variable.dimensions],
        "shape": list(node.shape),
        "attributes": attributes,
        "fill": own if own is not None else _fill(variable.type, node.fill_value),
        "values": [_element(variable.type, value) for value in values.reshape(-1).tolist()],
    }


def _fill(type, value):
    """Return a fill value; netCDF4 tells that of strings only where it is an attribute."""
    if value is None or type is AtomicType.STRING:
        return None
    return _element(type, value)


def _element(type, value):
    if type is AtomicType.STRING:
        return value.decode() if isinstance(value, bytes) else str(value)
    return plain(value)


def difference(one, other, path=""):
    """Return where two descriptions differ first, with what stands there; None where they do not."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return None if one == other else (path, one, other)
    for name in {**one, **other}:
        found = difference(one.get(name), other.get(name), f"{path}/{name}")
        if found is not None:
            return found
    return None
