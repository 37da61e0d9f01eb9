"""Writes and reads files with awkward0 in an interpreter of its own, whose packages are those of its time.

Takes one JSON object a line on standard input, answers with one (`awkward0_environment.Awkward0Process`).
"""

# ruff: noqa: B905 - interpreters this old know no `strict`.

import contextlib
import json
import lzma
import sys
import zlib

import awkward0
import lz4.block
import numpy as np
from awkward0_corpus import CASES, CYCLIC, DEFECTS

PAIRS = {
    "zlib": (zlib.compress, ("zlib", "decompress")),
    "lzma": (lzma.compress, ("lzma", "decompress")),
    "lz4": (lz4.block.compress, ("lz4.block", "decompress")),
}
#: Fields of vectors: as they are stored.
CARTESIAN, POLAR = ("fX", "fY", "fZ", "fE"), ("fPt", "fEta", "fPhi", "fMass")
NAMES = dict(zip(CARTESIAN + POLAR, ("x", "y", "z", "t", "pt", "eta", "phi", "mass")))


def plain(value, depth=12):
    """Return a value as JSON: lists, objects and numbers; what JSON lacks as an object of one marked name."""
    if depth == 0:
        return "..."
    if value is None or value is np.ma.masked or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, (bytes, np.bytes_)):
        return {"#bytes": bytes(value).decode("latin-1")}
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return {"#time": str(value)}
    if isinstance(value, (complex, np.complexfloating)):
        return {"#complex": [value.real, value.imag]}
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, np.void):
        return {name: plain(value[name], depth - 1) for name in value.dtype.names}
    if isinstance(value, awkward0.Table.Row):
        return {str(name): plain(value[name], depth - 1) for name in value._table.columns}
    if isinstance(value, dict):
        return {name: plain(each, depth - 1) for name, each in value.items()}
    return rows(value, depth)


def rows(array, depth):
    """Return the values of an array, or of a list; of vectors and objects what they are made from."""
    if isinstance(array, awkward0.StringArray):
        return [plain(each) for each in array]
    if isinstance(array, awkward0.ObjectArray):
        return vectors(array, depth)
    if isinstance(array, awkward0.SparseArray):
        return [plain(array[index], depth - 1) for index in range(len(array))]
    return [plain(each, depth - 1) for each in array]


def vectors(array, depth):
    """Return the stored fields of vectors under the names that their constructors have, else the content."""
    content = array.content
    names = [name for name in getattr(content, "columns", ()) if name in NAMES]
    if not names:
        return rows(content, depth)
    columns = [[plain(each, depth - 1) for each in content[name]] for name in names]
    return [dict(zip((NAMES[name] for name in names), row)) for row in zip(*columns)]


def lists_of_vectors(array):
    """Return jagged vectors, whose content is an array of vectors; None for other arrays."""
    if not isinstance(array, awkward0.JaggedArray) or not hasattr(array.content, "_initObjectArray"):
        return None
    values = vectors(array.content, 12)
    return [values[start:stop] for start, stop in zip(array.starts.tolist(), array.stops.tolist())]


def told(array):
    """Return what an answer says of an array."""
    found = lists_of_vectors(array)
    return plain(array) if found is None else found


def policy_of(names):
    if names is None:
        return awkward0.persist.compression
    return [{"minsize": 0, "types": object, "contexts": "*", "pair": PAIRS[name]} for name in names]


def made(name):
    return {**CASES, **CYCLIC, **DEFECTS}[name]()


def write(question):
    """Save corpus arrays: ``{"path", "cases": {name: case}, "compression"?, "options"?}``; tell values."""
    arrays = {name: made(each) for name, each in question["cases"].items()}
    options = dict(question.get("options", {}), compression=policy_of(question.get("compression")))
    if question["path"].endswith((".h5", ".hdf5")):
        with opened(question["path"], "a") as file:
            target = awkward0.hdf5(file, **options)
            for name, array in arrays.items():
                target[name] = array
    else:
        awkward0.save(question["path"], arrays, mode=question.get("mode", "a"), **options)
    return {name: told(array) for name, array in arrays.items()}


def read(question):
    """Read arrays: ``{"path", "names"?, "options"?}``; those of all names unless told which."""
    options = question.get("options", {})
    if question["path"].endswith((".h5", ".hdf5")):
        with opened(question["path"], "r") as file:
            return some(awkward0.hdf5(file, **options), question.get("names"))
    with contextlib.closing(awkward0.persist.Load(question["path"], **options)) as file:
        return some(file, question.get("names"))


def some(arrays, names):
    return {name: told(arrays[name]) for name in (list(arrays) if names is None else names)}


def opened(path, mode):
    import h5py

    return h5py.File(path, mode)


def answer(question):
    return {"write": write, "read": read}[question["do"]](question)


for line in sys.stdin:
    try:
        found = {"done": answer(json.loads(line))}
    except Exception as error:  # noqa: BLE001 - it is told to who asked
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found), flush=True)  # noqa: T201 - the answer
