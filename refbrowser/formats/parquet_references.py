"""The parquet form of references, written (see `refbrowser.formats.parquet_text`)."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.parquet_text import METADATA, NAMES
from refbrowser.formats.references import ExpansionMetadata, hierarchy_of
from refbrowser.io.cancel import CancelToken
from refbrowser.model.nodes import ArrayNode, GroupNode
from refbrowser.model.reference import ReferenceColumns, ReferenceKind
from refbrowser.references.document.document import Document
from refbrowser.references.text.json_text import JsonError, parse

#: Chunks in one record file.
RECORD_SIZE = 100_000


def write_parquet(
    document: Document,
    target: str | os.PathLike[str],
    *,
    force: bool = False,
    cancel: CancelToken | None = None,
    record_size: int = RECORD_SIZE,
    skip: Callable[[RefbrowserError], None] | None = None,
    prove: Callable[[str], object] = lambda path: None,
) -> int:
    """Write a document in the parquet form as a new folder; return the bytes written.

    The folder appears under its name when it is complete.

    Parameters
    ----------
    skip
        Told why a faulty chunk is left out; when None the first one is raised.
    prove
        Called with the path of what was written, before that gets its name; raises what speaks against it.

    Raises
    ------
    RefbrowserError
        E_USAGE: the target is there and `force` is not set, or the document holds what this form cannot. A
        chunk is faulty, or ends beyond 2**63, which the columns of this form cannot hold.
    Cancelled
        `cancel` was cancelled.
    """
    final = Path(target)
    if final.exists() and not force:
        raise RefbrowserError(
            ErrorKind.USAGE, "the target is there already", Place(document=os.fspath(final)), "Use --force."
        )
    work = final.with_name(f".{final.name}.{secrets.token_hex(4)}")
    work.mkdir(parents=True)
    try:
        _write(document, work, cancel or CancelToken(), record_size, skip or _raised)
        written = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
        prove(str(work))
        if final.is_dir() and not final.is_symlink():
            shutil.rmtree(final)
        elif final.exists():
            final.unlink()
        work.rename(final)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return written


def _raised(error: RefbrowserError) -> None:
    raise error


def _write(
    document: Document,
    folder: Path,
    cancel: CancelToken,
    record_size: int,
    skip: Callable[[RefbrowserError], None],
) -> None:
    hierarchy = hierarchy_of(document)
    source = ExpansionMetadata(document.expansion, {})
    metadata: dict[str, Any] = {}
    for key in source.metadata_keys():
        name = key.rpartition("/")[2]
        if name == "zarr.json":
            raise _unfit("the parquet form holds Zarr v2 only", key)
        if name != METADATA:
            metadata[key] = _metadata_value(source.value(key), key)
    for node in hierarchy.walk():
        if isinstance(node, GroupNode):
            metadata.setdefault(f"{node.path[1:]}/.zgroup".lstrip("/"), {"zarr_format": 2})
        elif isinstance(node, ArrayNode):
            _write_array(node, folder, cancel, record_size, skip)
    text = json.dumps({"metadata": metadata, "record_size": record_size})
    (folder / METADATA).write_text(text, "utf-8")


def _unfit(message: str, key: str) -> RefbrowserError:
    return RefbrowserError(ErrorKind.USAGE, message, Place(key=key))


def _metadata_value(data: bytes, key: str) -> Any:
    try:
        value = parse(data).to_python()
    except JsonError as error:
        raise RefbrowserError(ErrorKind.META, error.message, Place(key=key)) from None
    if key.rpartition("/")[2] == ".zarray" and isinstance(value, dict):
        value.pop("dimension_separator", None)  # Chunk keys of this form have dots.
    return value


def _write_array(
    node: ArrayNode,
    folder: Path,
    cancel: CancelToken,
    record_size: int,
    skip: Callable[[RefbrowserError], None],
) -> None:
    prefix = f"{node.path[1:]}/".lstrip("/")
    if not node.has_manifest or not prefix:
        raise _unfit("an array without a name or without readable metadata has no record files", node.path)
    if any(part in ("", ".", "..") for part in prefix.split("/")[:-1]):
        raise _unfit("the path of the array is no path of a folder", node.path)
    grid = node.manifest.grid_shape
    size = int(np.prod(grid, dtype=object)) if grid else 1
    (folder / prefix).mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, size, record_size)):
        cancel.check()
        flat = np.arange(start, min(start + record_size, size))
        coords = np.stack(np.unravel_index(flat, grid), axis=1) if grid else np.zeros((1, 0), np.int64)
        columns = node.manifest.columns(coords.astype(np.int64))
        for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
            skip(columns.faults[row])
        if (columns.kind != ReferenceKind.MISSING).any():
            _write_record(folder / prefix / f"refs.{number}.parq", columns, record_size)


def _write_record(path: Path, columns: ReferenceColumns, record_size: int) -> None:
    """Write one record file, filled up to `record_size` rows as its readers expect."""
    import pyarrow
    import pyarrow.parquet

    has_url = (columns.kind == ReferenceKind.RANGE) | (columns.kind == ReferenceKind.WHOLE)
    fill = record_size - len(columns)
    used, numbers = np.unique(columns.url[has_url], return_inverse=True)
    index = np.zeros(len(columns), np.int32)
    index[has_url] = numbers
    urls = pyarrow.array([columns.urls[number] for number in used.tolist()], pyarrow.string())
    paths = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(np.pad(index, (0, fill)), mask=np.pad(~has_url, (0, fill), constant_values=True)), urls
    )
    offset = np.where(has_url, columns.offset, 0)
    length = np.where(columns.kind == ReferenceKind.RANGE, columns.length, 0)
    raw: list[bytes | None] = [None] * record_size
    for row in np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist():
        raw[row] = columns.inline[row]
    arrays = [
        paths.cast(pyarrow.string()),  # Plain text, as other writers have it.
        pyarrow.array(np.pad(offset, (0, fill)), pyarrow.int64()),
        pyarrow.array(np.pad(length, (0, fill)), pyarrow.int64()),
        pyarrow.array(raw, pyarrow.binary()),
    ]
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(NAMES)), path, compression="zstd")
