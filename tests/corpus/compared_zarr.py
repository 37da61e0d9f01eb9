"""Arrays of Zarr, and of references, as zarr-python reads them; references through fsspec."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import zarr
from verdicts import Verdict, verdict_on

from refbrowser.engine.dataset import Dataset


def compare(path: Path, dataset: Dataset) -> Iterator[Verdict]:
    """Yield a verdict on each array."""
    warnings.simplefilter("ignore")
    try:
        root = zarr.open(_store(path), mode="r")
        arrays = dict(_arrays(root, ""))
    except Exception as error:  # noqa: BLE001 - of foreign stores
        yield "library fails", f"{type(error).__name__}: {error}"
        return
    for name, array in arrays.items():
        if name not in dataset.arrays:
            yield "missing", name
            continue
        yield verdict_on(name, lambda at=name: dataset[at][...], lambda of=array: of[...])


def _store(path: Path) -> Any:
    if path.is_dir() and path.suffix not in (".parq", ".parquet"):
        return zarr.storage.LocalStore(path, read_only=True)
    if path.suffix == ".zip":
        return zarr.storage.ZipStore(path, mode="r")
    file = fsspec.filesystem(
        "reference", fo=str(path), remote_protocol="file", simple_templates=False, asynchronous=True,
        remote_options={"asynchronous": False}, skip_instance_cache=True,
    )  # fmt: skip
    return zarr.storage.FsspecStore(file, read_only=True)


def _arrays(node: Any, above: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, zarr.Array):
        yield above or "/", node
        return
    for name, member in node.members():
        yield from _arrays(member, f"{above}/{name}")
