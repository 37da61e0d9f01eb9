"""A package that is not installed, with codecs of its own: it stands in a folder, as pip leaves packages."""

from __future__ import annotations

from pathlib import Path

PACKAGE, VERSION = "madecodecs", "1.2"
_ENTRIES = """
[zarr.codecs]
made.flip = madecodecs:Flip
made.negated = madecodecs:Negated
made.backwards = madecodecs:Backwards
made.hungry = madecodecs:Hungry
[numcodecs.codecs]
made_flip = madecodecs:FlipV2
made_endless = madecodecs:Endless
"""
_CODE = """
import pathlib, time
from dataclasses import dataclass
import numcodecs.abc
import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec

with open(pathlib.Path(__file__).with_name("loaded_here"), "rb") as told:
    told.read()

class _Plain:
    is_fixed_size = True
    @classmethod
    def from_dict(cls, data):
        return cls(**data.get("configuration", {}))
    def to_dict(self):
        return {"name": "made", "configuration": {}}
    def compute_encoded_size(self, size, spec):
        return size

@dataclass(frozen=True)
class Flip(_Plain, BytesBytesCodec):
    key: int = 255
    async def _decode_single(self, data, spec):
        return data.from_bytes((np.frombuffer(data.to_bytes(), "u1") ^ self.key).tobytes())

@dataclass(frozen=True)
class Negated(_Plain, ArrayArrayCodec):
    async def _decode_single(self, values, spec):
        return values.__class__(-values.as_numpy_array())

@dataclass(frozen=True)
class Backwards(_Plain, ArrayBytesCodec):
    async def _decode_single(self, data, spec):
        values = np.frombuffer(data.to_bytes(), spec.dtype.to_native_dtype())[::-1]
        return spec.prototype.nd_buffer.from_numpy_array(values.reshape(spec.shape))

@dataclass(frozen=True)
class Hungry(_Plain, BytesBytesCodec):
    async def _decode_single(self, data, spec):
        return data.from_bytes(bytes(8 << 30))

class FlipV2(numcodecs.abc.Codec):
    codec_id = "made_flip"
    def __init__(self, key=255):
        self.key = key
    def encode(self, data):
        return self.decode(data)
    def decode(self, data, out=None):
        return (np.frombuffer(data, "u1") ^ self.key).tobytes()

class Endless(numcodecs.abc.Codec):
    codec_id = "made_endless"
    def encode(self, data):
        return data
    def decode(self, data, out=None):
        time.sleep(60)
"""


def write_package(folder: Path) -> None:
    """Write the package, as it is installed, into a folder."""
    described = folder / f"{PACKAGE}-{VERSION}.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {VERSION}\n")
    (described / "entry_points.txt").write_text(_ENTRIES)
    (folder / f"{PACKAGE}.py").write_text(_CODE)
    (folder / "loaded_here").write_bytes(b"")
