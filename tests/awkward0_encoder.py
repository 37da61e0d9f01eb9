"""Schemas and blobs of Awkward Array 0.x, made by hand: independent of the product and of awkward0.

Every expression is plain JSON, so that each spelling of old and new writers, and each wrong one, can be made.
The shapes are those of the serialization text and of the persistence notes, sections 1 to 3 and 5.

>>> e = Encoder("one")
>>> members = e.members(e.make("JaggedArray.fromcounts", e.basic([2, 0, 1]), e.basic([1.5, 2.5, 3.5])))
>>> sorted(members)
['one-0.raw', 'one-2.raw', 'one.json']
>>> archive = zipped(members)
"""

from __future__ import annotations

import base64
import bz2
import io
import json
import lzma
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Expression = dict[str, Any]

#: How each age of writers spells the function that makes basic arrays.
FROMBUFFER = {
    "0.6": ["numpy", "frombuffer"],
    "0.7": ["awkward.util", "frombuffer"],
    "0.8": ["awkward", "numpy", "frombuffer"],
    "0.15": ["awkward0", "numpy", "frombuffer"],
}
#: Modules of the vector classes.
VECTORS = {
    "TVector2Array": "uproot3_methods.classes.TVector2",
    "TVector3Array": "uproot3_methods.classes.TVector3",
    "TLorentzVectorArray": "uproot3_methods.classes.TLorentzVector",
}
IDENTIFYING = (
    "call",
    "read",
    "list",
    "tuple",
    "dict",
    "pairs",
    "dtype",
    "function",
    "json",
    "python",
    "ref",
)


# -- bytes that a decompressor takes -----------------------------------------------------------------------


def lz4_block(data: bytes, size: int | None = None) -> bytes:
    """Return what ``lz4.block.decompress`` takes: literals only. `size` is announced instead."""
    length = len(data)
    token = struct.pack("B", min(length, 15) << 4)
    longer = b""
    if length >= 15:
        longer = b"\xff" * ((length - 15) // 255) + struct.pack("B", (length - 15) % 255)
    return struct.pack("<I", length if size is None else size) + token + longer + data


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "zlib.decompress": zlib.compress,
    "lzma.decompress": lzma.compress,
    "backports.lzma.decompress": lzma.compress,
    "lz4.block.decompress": lz4_block,
    "bz2.decompress": bz2.compress,
}


# -- expressions that need no number -----------------------------------------------------------------------


def specification(name: str) -> list[str]:
    """Return a function specification: ``lz4.block.decompress`` is a module and a function."""
    module, _, function = name.rpartition(".")
    return [module, function]


def json_of_dtype(dtype: Any) -> Any:
    """Return a dtype as schemas write it: text, ``[dtype, shape]``, ``[[name, dtype], ...]``."""
    dtype = np.dtype(dtype)
    if dtype.subdtype is not None:
        return [json_of_dtype(dtype.subdtype[0]), list(dtype.subdtype[1])]
    if dtype.names is not None:
        return [[name, json_of_dtype(dtype[name])] for name in dtype.names]
    return str(dtype)


def dtype_node(of: Any) -> Expression:
    """Return a ``dtype`` node; text and lists as they are given, so that wrong ones can be made."""
    return {"dtype": json_of_dtype(of) if isinstance(of, np.dtype) else of}


def pickled(value: Any, protocol: int = 4) -> Expression:
    """Return a ``python`` node of a value; bytes are taken for the pickle itself if they end as one does."""
    data = value if isinstance(value, bytes) and value.endswith(b".") else pickle.dumps(value, protocol)
    return {"python": base64.b64encode(data).decode("ascii")}


def function(*parts: str) -> Expression:
    """Return a ``function`` node."""
    return {"function": list(parts)}


def reference(number: int) -> Expression:
    """Return a ``ref`` node."""
    return {"ref": number}


class Encoder:
    """Makes the schema and the blobs of one array.

    Parameters
    ----------
    name
        Of the array.
    delimiter, suffix, schema_suffix
        What names of members are made with; those of ``save`` unless told.
    signature, version
        The field that makes a schema one, and what it says.
    library
        Module that classes are looked up in: ``awkward0`` or ``awkward``.
    frombuffer
        How basic arrays are spelled: one of `FROMBUFFER`.
    """

    def __init__(
        self,
        name: str = "",
        *,
        delimiter: str = "-",
        suffix: str = ".raw",
        schema_suffix: str = ".json",
        signature: str = "awkward0",
        version: str = "0.15.5",
        library: str = "awkward0",
        frombuffer: str = "0.15",
    ) -> None:
        self.name = name
        self.prefix = name + delimiter if name else ""
        self.suffix = suffix
        self.schema_suffix = schema_suffix
        self.signature = signature
        self.version = version
        self.library = library
        self.frombuffer = FROMBUFFER[frombuffer]
        #: Whole names of blobs and their bytes.
        self.blobs: dict[str, bytes] = {}
        self._next = 0

    # -- numbers and blobs ---------------------------------------------------------------------------------

    def number(self) -> int:
        """Return the next id."""
        self._next += 1
        return self._next - 1

    def blob(self, data: bytes, name: str | None = None) -> Expression:
        """Keep bytes; return the node that reads them. `name` is without the prefix."""
        if name is None:
            name = f"{self.number()}{self.suffix}"
        self.blobs[self.prefix + name] = bytes(data)
        return {"read": name}

    # -- basic arrays --------------------------------------------------------------------------------------

    def basic(
        self,
        values: Any,
        dtype: Any = None,
        *,
        codecs: Sequence[str] = (),
        offset: int = 0,
        count: int | Expression | None = None,
        data: bytes | None = None,
    ) -> Expression:
        """Return the node of a basic array and keep its bytes.

        Parameters
        ----------
        values, dtype
            What `numpy.asarray` takes; more dimensions go into the dtype as writers do.
        codecs
            Decompressors in the order of decoding (`COMPRESS`).
        offset
            Bytes of nothing before the first element; given as the fourth argument if there are any.
        count
            The third argument, instead of the true one: -1 for the rest, or an expression.
        data
            The bytes of the blob, instead of those of `values`.
        """
        array = np.asarray(values, dtype)
        id = self.number()
        inner = array.dtype if array.ndim < 2 else np.dtype((array.dtype, array.shape[1:]))
        data = b"\x55" * offset + array.tobytes() if data is None else data
        for codec in reversed(codecs):
            data = COMPRESS[codec](data)
        buffer = self.blob(data, f"{id}{self.suffix}")
        for codec in codecs:
            buffer = self.call(specification(codec), buffer, id=None)
        length = len(array) if array.ndim else 1
        arguments = [buffer, dtype_node(inner), self.value(length if count is None else count)]
        if offset:
            arguments.append(self.value(offset))
        return {"call": list(self.frombuffer), "args": arguments, "id": id}

    # -- calls ---------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Expression:
        """Return an expression of an argument: what is one stays, arrays and dtypes become nodes."""
        if isinstance(value, dict) and any(key in value for key in IDENTIFYING):
            return value
        if isinstance(value, np.dtype):
            return dtype_node(value)
        if isinstance(value, np.ndarray):
            return self.basic(value)
        if isinstance(value, tuple):
            return {"tuple": [self.value(each) for each in value]}
        if isinstance(value, list) and any(isinstance(each, dict | np.ndarray) for each in value):
            return {"list": [self.value(each) for each in value]}
        return {"json": value, "id": self.number()}

    def call(
        self, specification: Sequence[str], *arguments: Any, id: int | None = -1, **named: Any
    ) -> Expression:
        """Return a call of any function; `id` -1 is the next one, None none at all."""
        made: Expression = {"call": list(specification)}
        if arguments:
            made["args"] = [self.value(each) for each in arguments]
        if named:
            made["kwargs"] = {name: self.value(each) for name, each in named.items()}
        if id is not None:
            made["id"] = self.number() if id == -1 else id
        return made

    def make(self, constructor: str, *arguments: Any, id: int | None = -1, **named: Any) -> Expression:
        """Return a call of a constructor of the library or a vector class: ``JaggedArray.fromcounts``."""
        parts = constructor.split(".")
        module = VECTORS.get(parts[0], self.library)
        if self.library == "awkward":
            module = module.replace("uproot3_methods", "uproot_methods")
        return self.call([module, *parts], *arguments, id=id, **named)

    # -- what is made most often ---------------------------------------------------------------------------

    def jagged(self, counts: Any, content: Any, dtype: Any = None, **more: Any) -> Expression:
        """Return lists by counts; what is no expression becomes a basic array."""
        return self.make(
            "JaggedArray.fromcounts", self._basic(counts, "i8", **more), self._basic(content, dtype)
        )

    def table(self, **columns: Any) -> Expression:
        """Return a table as writers have it: pairs and the row to begin with."""
        pairs = [[name, self._basic(column)] for name, column in columns.items()]
        return self.make("Table.frompairs", {"pairs": pairs}, 0)

    def strings(self, texts: Sequence[str | bytes], encoding: str | None = "utf-8") -> Expression:
        """Return texts by counts; bytes for encoding None."""
        coded = [text if isinstance(text, bytes) else text.encode(encoding or "utf-8") for text in texts]
        counts = self.basic([len(each) for each in coded], "i8")
        content = self.basic(np.frombuffer(b"".join(coded), "u1"))
        return self.make("StringArray.fromcounts", counts, content, {"json": encoding, "id": self.number()})

    def _basic(self, values: Any, dtype: Any = None, **more: Any) -> Expression:
        return values if isinstance(values, dict) else self.basic(values, dtype, **more)

    # -- the document --------------------------------------------------------------------------------------

    def document(self, root: Expression, **fields: Any) -> Expression:
        """Return the top-level object; fields of None are left out, others are put in or replaced."""
        made = {self.signature: self.version, "schema": root}
        if self.prefix:
            made["prefix"] = self.prefix
        return {name: value for name, value in {**made, **fields}.items() if value is not None}

    def members(self, root: Expression, **fields: Any) -> dict[str, bytes]:
        """Return all members by name: the blobs, and the schema as the last one."""
        schema = json.dumps(self.document(root, **fields)).encode("ascii")
        return {**self.blobs, self.name + self.schema_suffix: schema}


def for_hdf5(name: str, **more: Any) -> Encoder:
    """Return an encoder whose members are named as the paths of an HDF5 file's datasets (`hdf5_written`)."""
    return Encoder(name, delimiter="/", suffix="", schema_suffix="/schema.json", **more)


# -- containers ----------------------------------------------------------------------------------------------

STORED, DEFLATED, BZIP2, LZMA = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA


class _Unseekable(io.RawIOBase):
    """A target that cannot go back: sizes then follow the data (data descriptors)."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += data
        return len(data)


def zipped(
    members: Mapping[str, bytes],
    *,
    methods: int | Mapping[str, int] = STORED,
    folder: str = "",
    comment: bytes = b"",
    streamed: bool = False,
) -> bytes:
    """Return a ZIP archive.

    Parameters
    ----------
    methods
        ZIP method of all members, or of single ones by name.
    folder
        What goes before every name (``sub/``); the prefix in the schemas does not change.
    streamed
        Whether sizes follow the data, as for a target that cannot go back.
    """
    target: Any = _Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.comment = comment
        for name, data in members.items():
            info = zipfile.ZipInfo(folder + name)
            info.compress_type = methods if isinstance(methods, int) else methods.get(name, STORED)
            archive.writestr(info, data)
    return bytes(target.data if streamed else target.getvalue())


def raw_zip(
    members: Sequence[tuple[str, bytes]],
    *,
    local_extra: bytes = b"",
    local_names: Mapping[str, str] | None = None,
    sizes: Mapping[str, tuple[int, int]] | None = None,
    offsets: Mapping[str, int] | None = None,
    methods: Mapping[str, int] | None = None,
    directory: bool = True,
) -> bytes:
    """Return a ZIP archive of stored members by hand, with whatever lies are asked for.

    Parameters
    ----------
    members
        Names (any: absolute, ``..``, twice) and bytes as they are stored.
    local_extra
        Extra field of local headers, which the central directory does not have.
    local_names
        Names that local headers have instead.
    sizes
        Stored and unpacked sizes that the directory announces instead.
    offsets
        Where the directory says that local headers are.
    methods
        ZIP methods that are announced; the bytes are taken for packed already.
    directory
        Whether there is a central directory at all.
    """
    body, central = b"", b""
    for name, data in members:
        stored, size = (sizes or {}).get(name, (len(data), len(data)))
        method = (methods or {}).get(name, 0)
        facts = struct.pack("<HHHHHIII", 20, 0, method, 0, 33, zlib.crc32(data), stored, size)
        offset = (offsets or {}).get(name, len(body))
        local = (local_names or {}).get(name, name).encode()
        body += b"PK\x03\x04" + facts + struct.pack("<HH", len(local), len(local_extra))
        body += local + local_extra + data
        coded = name.encode()
        central += b"PK\x01\x02" + struct.pack("<H", 20) + facts
        central += struct.pack("<HHHHHII", len(coded), 0, 0, 0, 0, 0, offset) + coded
    if not directory:
        return body
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(central), len(body), 0)
    return body + central + b"PK\x05\x06" + end


def write_folder(folder: Path, members: Mapping[str, bytes]) -> Path:
    """Write members as files below a folder; a ``/`` in names makes folders."""
    for name, data in members.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def write_hdf5(path: Path, members: Mapping[str, bytes], **options: Any) -> Path:
    """Write members as one-dimensional datasets of bytes, as the ``hdf5`` object does (`for_hdf5`).

    Options are those of ``create_dataset``: chunks, compression.
    """
    import h5py

    with h5py.File(path, "a") as file:
        for name, data in members.items():
            array = np.frombuffer(data, "u1")
            file.create_dataset(name, data=array, **(options if len(array) else {}))
    return path
