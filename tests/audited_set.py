"""A small set that may be damaged: two arrays over files of their own, and one that a rule makes."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

#: Time steps, columns of a chunk, and bytes of a chunk of the array that a rule makes.
STEPS, WIDE, HEAD = 6, 8, 32
ROW = 2 * WIDE * 4


def _array(compressor: Any = None, wide: int = 2 * WIDE, chunk: int = 2 * WIDE) -> str:
    return json.dumps(
        {
            "zarr_format": 2, "shape": [STEPS, wide], "chunks": [1, chunk], "dtype": "<f4",
            "compressor": compressor, "filters": None, "fill_value": -1.0, "order": "C",
        }
    )  # fmt: skip


class AuditedSet:
    """A document in a folder with its files.

    ``/temp`` has two compressed chunks in each of the files ``data/t0.bin``..., ``/wind`` a chunk in each of
    ``data/w0.bin``... by the template ``w``, ``/salt`` all of its chunks in ``data/salt.bin`` by a rule.
    """

    def __init__(self, folder: Path, base: str = "") -> None:
        self.folder, self.data = folder, folder / "data"
        self.data.mkdir(parents=True)
        chance = np.random.default_rng(5)
        self.refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
        self.refs["temp/.zarray"] = _array({"id": "zlib", "level": 1}, chunk=WIDE)
        self.refs["wind/.zarray"] = self.refs["salt/.zarray"] = _array()
        for name in ("temp", "wind", "salt"):
            self.refs[f"{name}/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["time", "x"]}'
        self.salt = chance.normal(35, 1, (STEPS, 2 * WIDE)).astype("<f4")
        (self.data / "salt.bin").write_bytes(b"S" * HEAD + self.salt.tobytes())
        for step in range(STEPS):
            stored = bytearray(b"H" * HEAD)
            for column in range(2):
                chunk = zlib.compress(chance.normal(size=WIDE).astype("<f4").tobytes())
                self.refs[f"temp/{step}.{column}"] = [f"{base}data/t{step}.bin", len(stored), len(chunk)]
                stored += chunk
            (self.data / f"t{step}.bin").write_bytes(stored)
            (self.data / f"w{step}.bin").write_bytes(chance.normal(size=2 * WIDE).astype("<f4").tobytes())
        self.templates = {"w": f"{base}data/w{{{{t}}}}.bin"}
        self.offset = f"{{{{{HEAD} + t * {ROW}}}}}"
        self._base = base

    def damage(self) -> None:
        """Replace one file, move one, cut one short, edit the template wrongly, shift the rule by a chunk."""
        (self.data / "t1.bin").write_bytes(b"another file, of the same length and more" * 4)
        (self.folder / "kept").mkdir()
        (self.data / "t2.bin").rename(self.folder / "kept/t2.bin")
        (self.data / "t3.bin").write_bytes((self.data / "t3.bin").read_bytes()[:-4])
        self.templates["w"] = self.templates["w"].replace("data/w", "data/wnd")
        self.offset = f"{{{{{HEAD} + (t + 1) * {ROW}}}}}"

    def write(self, name: str = "set.json") -> Path:
        """Write the document."""
        more = {"length": str(ROW), "dimensions": {"t": {"stop": STEPS}}}
        gen = [
            {"key": "wind/{{t}}.0", "url": "{{w(t=t)}}", "offset": "0"},
            {"key": "salt/{{t}}.0", "url": f"{self._base}data/salt.bin", "offset": self.offset},
        ]
        document = {
            "version": 1, "templates": self.templates, "gen": [rule | more for rule in gen],
            "refs": self.refs,
        }  # fmt: skip
        path = self.folder / name
        path.write_text(json.dumps(document, indent=1))
        return path
