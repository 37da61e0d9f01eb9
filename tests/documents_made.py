"""Reference documents made for tests: arrays in files beside them, written by zarr-python."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.storage import MemoryStore


class DocumentMaker:
    """Gathers arrays that zarr-python writes, and points references at their chunks."""

    def __init__(self, folder: Path, zarr_format: int = 2) -> None:
        self.folder = folder
        self.store: dict[str, Any] = {}
        self.memory = MemoryStore(self.store)
        self.zarr_format = zarr_format
        zarr.create_group(
            self.memory, zarr_format=zarr_format, attributes={"title": "made", "nan": [1.5, None]}
        )

    def group(self, path: str, **attributes: Any) -> None:
        zarr.create_group(self.memory, path=path, zarr_format=self.zarr_format, attributes=attributes)

    def array(self, name: str, values: np.ndarray, chunks: tuple[int, ...], **options: Any) -> None:
        array = zarr.create_array(
            self.memory,
            name=name,
            shape=values.shape,
            chunks=chunks,
            dtype=options.pop("dtype", values.dtype),
            zarr_format=self.zarr_format,
            config={"write_empty_chunks": True},
            **options,
        )
        array[...] = values

    def write(self, *, missing: tuple[str, ...] = (), inline: tuple[str, ...] = (), base: str = "") -> Path:
        """Write ``data.bin`` and ``document.json``; returns the document's path."""
        refs: dict[str, Any] = {}
        with (self.folder / "data.bin").open("wb") as stream:
            stream.write(b"not data")
            for key, value in self.store.items():
                data = value.to_bytes()
                if key.rpartition("/")[2] in (".zgroup", ".zarray", ".zattrs", "zarr.json"):
                    refs[key] = data.decode()
                elif key in inline:
                    refs[key] = "base64:" + base64.b64encode(data).decode()
                elif key not in missing:
                    refs[key] = [base + "data.bin", stream.tell(), len(data)]
                    stream.write(data)
        path = self.folder / "document.json"
        path.write_text(json.dumps({"version": 1, "refs": refs}))
        return path
