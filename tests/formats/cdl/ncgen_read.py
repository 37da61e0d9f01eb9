"""What ``ncgen`` and netCDF4 make of CDL, to compare with the dataset that it was written from."""

import re
import shutil
import subprocess
import unicodedata
from decimal import Decimal

import numpy as np
import pytest

from refbrowser.model.netcdf.types import AtomicType, CompoundType, NetcdfAttribute, OpaqueType

needs_ncgen = pytest.mark.skipif(
    shutil.which("ncgen") is None or shutil.which("ncdump") is None, reason="ncgen (netcdf-bin) is not there"
)


def generated(text, folder):
    """Return the path of the netCDF-4 file that ``ncgen`` makes of CDL; fail with what it says."""
    source = folder / "in.cdl"
    source.write_text(text, "utf-8")
    target = folder / "out.nc"
    done = subprocess.run(["ncgen", "-4", "-o", target, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return target


def dumped(path):
    """Return what ``ncdump -h`` writes of a file."""
    done = subprocess.run(["ncdump", "-h", path], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def bare(text):
    """Return the lines of CDL, sorted, without what may differ.

    That is: comments, heads of sections, digits of fractions, and the groups before the name of a dimension
    or type, which ncdump 4.9.0 confuses.
    """
    lines = []
    for line in text.splitlines()[1:]:
        line = re.sub(r"(?<=[;{]) // [^\"]*$", "", line).rstrip()
        if line.strip() and not line.lstrip().startswith("// ") and not line.endswith("s:"):
            line = _OF_TYPES.sub(r"\1", line)
            line = line if " = " in line else _OF_DIMENSIONS.sub("", line)
            lines.append(_FRACTION.sub(lambda match: f"{Decimal(match[0]):.6g}", line))
    return sorted(lines)


_OF_TYPES = re.compile(r"^(\s*)/(?:[^/()]+/)*")
_OF_DIMENSIONS = re.compile(r"(?<=[( ])/(?:[^,/()]+/)*(?=[^,/()]+[,)])")
_FRACTION = re.compile(r"-?[0-9]+\.[0-9]*(?:e[+-][0-9]+)?")


def opened(path):
    import netCDF4

    dataset = netCDF4.Dataset(path)
    dataset.set_auto_mask(False)
    return dataset


def assert_same(group, nc, unlimited=()):
    """Compare a group of the data model, with all below it, with what netCDF4 reads.

    The sizes along dimensions whose FQN is in `unlimited` are not compared: without data they are 0.
    """
    assert {each.name: (each.size, each.unlimited) for each in group.dimensions} == {
        # Without data an unlimited dimension has no size yet.
        name: (next(each.size for each in group.dimensions if each.name == name), True)
        if dimension.isunlimited()
        else (dimension.size, False)
        for name, dimension in nc.dimensions.items()
    }
    assert_same_attributes(group.attributes, nc)
    assert [variable.name for variable in group.variables] == list(nc.variables)
    for variable in group.variables:
        read = nc.variables[variable.name]
        assert [reference.name for reference in variable.dimensions] == list(read.dimensions)
        assert [reference.size for reference in variable.dimensions if reference.path not in unlimited] == [
            size
            for reference, size in zip(variable.dimensions, read.shape, strict=True)
            if reference.path not in unlimited
        ]
        assert_same_type(variable.type, read)
        assert_same_attributes(variable.attributes, read)
    assert [below.name for below in group.groups] == list(nc.groups)
    for below in group.groups:
        assert_same(below, nc.groups[below.name], unlimited)


def assert_same_type(type, read):
    if isinstance(type, CompoundType):
        assert read.datatype.name == type.name
        assert_same_structure(type, read.datatype.dtype)
    elif type is AtomicType.STRING:
        assert read.dtype is str
    elif type is AtomicType.CHAR:
        assert read.dtype == np.dtype("S1")
    else:
        assert read.dtype == type.dtype


def assert_same_structure(type, dtype):
    assert [field.name for field in type.fields] == list(dtype.names)
    for field in type.fields:
        part = dtype[field.name]
        assert part.shape == field.shape
        if isinstance(field.type, CompoundType):
            assert_same_structure(field.type, part.base)
        elif not isinstance(field.type, OpaqueType):
            assert part.base == (field.type.dtype or np.dtype("S1"))


def assert_same_attributes(attributes, read):
    assert [attribute.name for attribute in attributes] == read.ncattrs()
    for attribute in attributes:
        assert_same_attribute(attribute, read.getncattr(attribute.name))


def assert_same_attribute(attribute: NetcdfAttribute, value):
    if attribute.type in (AtomicType.CHAR, AtomicType.STRING):
        texts = [value] if isinstance(value, str) else value
        assert texts == list(attribute.values), attribute
        return
    found = np.atleast_1d(value)
    assert found.dtype == attribute.type.dtype, attribute
    np.testing.assert_array_equal(found, np.array(attribute.values, attribute.type.dtype))
    # Equal, to the sign of a zero.
    assert (np.signbit(found) == np.signbit(np.array(attribute.values, found.dtype))).all() or (
        np.isnan(found).any()
    )


def composed(name):
    """Return a name as netCDF keeps it."""
    return unicodedata.normalize("NFC", name)
