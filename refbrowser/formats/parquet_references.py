"""The parquet form of references, written (see `refbrowser.formats.parquet_text`)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refbrowser.errors import ErrorKind, Place, RefbrowserError
from refbrowser.formats.parquet_records import NAMES
from refbrowser.formats.parquet_text import METADATA, read_metadata
from refbrowser.formats.references import ExpansionMetadata, hierarchy_of
from refbrowser.io.cancel import CancelToken
from refbrowser.io.files.atomic import check_unprotected
from refbrowser.io.files.final_names import give_name, recover, sync_files
from refbrowser.io.files.hidden_siblings import sibling_of
from refbrowser.loading import require
from refbrowser.model.nodes import ArrayNode, GroupNode, Hierarchy
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
    """
    final = Path(target)
    if final.exists() and not force:
        raise RefbrowserError(
            ErrorKind.USAGE, "the target exists already", Place(document=os.fspath(final)), "Use --force."
        )
    return _made(
        final,
        lambda work: _write(document, work, cancel or CancelToken(), record_size, skip or _raised),
        prove,
    )


def update_parquet(
    before: Document,
    after: Document,
    target: str | os.PathLike[str],
    *,
    cancel: CancelToken | None = None,
) -> int:
    """Write what changed of a document into its folder; return the bytes written.

    Record files whose chunks are the same, and what else lies in the folder, are linked, not copied. The new
    folder takes the place of the old one when it is complete.

    Parameters
    ----------
    before
        The document as it was read from the folder, or last written there.

    Raises
    ------
    RefbrowserError
        E_IO: others changed the folder since, or it cannot be written; E_USAGE: the document holds what this
        form cannot; a chunk that changed is faulty.
    """
    final = Path(os.path.realpath(target))
    check_unprotected(final / METADATA)
    told = read_metadata(final)
    if told["metadata"] != _metadata_of(before, hierarchy_of(before)):
        message = "the document was changed by others since it was opened"
        raise RefbrowserError(ErrorKind.IO, message, Place(document=os.fspath(final)), "Open it again.")
    size, token = told["record_size"], cancel or CancelToken()
    written: list[Path] = []

    def fill(work: Path) -> None:
        old = {node.path: node for node in hierarchy_of(before).walk() if isinstance(node, ArrayNode)}
        known: set[Path] = set()
        for node in hierarchy_of(after).walk():
            if not isinstance(node, ArrayNode):
                continue
            for name, flat in _records(node, size):
                token.check()
                place = Path(_prefix_of(node), name)
                known.add(place)
                columns = _columns(node, flat)
                there = final / place
                if there.is_file() and _is_same(old.get(node.path), flat, columns):
                    _link(there, work / place)
                elif (columns.kind != ReferenceKind.MISSING).any():
                    _check_faults(columns, _raised)
                    (work / place).parent.mkdir(parents=True, exist_ok=True)
                    _write_record(work / place, columns, size)
                    written.append(work / place)
        records = {Path(_prefix_of(node)) for node in old.values()}
        for path in final.rglob("*"):
            place = path.relative_to(final)
            is_record = place.parent in records and place.match("refs.*.parq")
            if path.is_file() and place not in known and not is_record and place != Path(METADATA):
                _link(path, work / place)
        text = json.dumps({**told, "metadata": _metadata_of(after, hierarchy_of(after))})
        (work / METADATA).write_text(text, "utf-8")
        written.append(work / METADATA)

    sizes: list[int] = []
    _made(final, fill, lambda _work: sizes.extend(path.stat().st_size for path in written))
    return sum(sizes)


def _link(path: Path, to: Path) -> None:
    """Let a file be found in another folder, too; copied where the disk knows no such links."""
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, to)
    except OSError:
        shutil.copy2(path, to)


def _is_same(old: ArrayNode | None, flat: npt.NDArray[np.int64], columns: ReferenceColumns) -> bool:
    """Tell whether the same chunks of an array had the same references before."""
    if old is None or not old.has_manifest or flat[-1] >= prod(old.manifest.grid_shape):
        return False
    before = _columns(old, flat)
    same = (
        (before.kind == columns.kind) & (before.offset == columns.offset) & (before.length == columns.length)
    )
    if not same.all() or any(before.inline[row] != columns.inline[row] for row in _inline(columns)):
        return False
    if before.urls == columns.urls:
        return bool((before.url == columns.url).all())
    texts = [np.array([*each.urls, ""], object)[each.url] for each in (before, columns)]
    return bool((texts[0] == texts[1]).all())


def _inline(columns: ReferenceColumns) -> list[int]:
    return np.flatnonzero(columns.kind == ReferenceKind.INLINE).tolist()


def _made(final: Path, fill: Callable[[Path], object], prove: Callable[[str], object]) -> int:
    """Make a folder beside its name, and give it that when it is complete; return the bytes that it has."""
    final.parent.mkdir(parents=True, exist_ok=True)
    recover(final)
    work = Path(sibling_of(final))
    work.mkdir()
    try:
        fill(work)
        size = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
        prove(str(work))
        sync_files(work)
        give_name(work, final)
    except OSError as error:
        shutil.rmtree(work, ignore_errors=True)
        reason = error.strerror or str(error)
        raise RefbrowserError(
            ErrorKind.IO, f"cannot write: {reason}", Place(path=os.fspath(final))
        ) from error
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return size


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
    metadata = _metadata_of(document, hierarchy)
    for node in hierarchy.walk():
        if isinstance(node, ArrayNode):
            _write_array(node, folder, cancel, record_size, skip)
    text = json.dumps({"metadata": metadata, "record_size": record_size})
    (folder / METADATA).write_text(text, "utf-8")


def _metadata_of(document: Document, hierarchy: Hierarchy) -> dict[str, Any]:
    """Return what stands in the metadata of the folder, by key."""
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
    return metadata


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
    prefix = _prefix_of(node)
    (folder / prefix).mkdir(parents=True, exist_ok=True)
    for name, flat in _records(node, record_size):
        cancel.check()
        columns = _columns(node, flat)
        _check_faults(columns, skip)
        if (columns.kind != ReferenceKind.MISSING).any():
            _write_record(folder / prefix / name, columns, record_size)


def _prefix_of(node: ArrayNode) -> str:
    """Return the folder of the record files of an array."""
    prefix = f"{node.path[1:]}/".lstrip("/")
    if not node.has_manifest or not prefix:
        raise _unfit("an array without a name or without readable metadata has no record files", node.path)
    if any(part in ("", ".", "..") for part in prefix.split("/")[:-1]):
        raise _unfit("the path of the array cannot be a folder path", node.path)
    return prefix


def _records(node: ArrayNode, record_size: int) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
    """Yield the name of each record file of an array, and the flat places of its chunks in the grid."""
    size = prod(node.manifest.grid_shape)
    for number, start in enumerate(range(0, size, record_size)):
        yield f"refs.{number}.parq", np.arange(start, min(start + record_size, size))


def _columns(node: ArrayNode, flat: npt.NDArray[np.int64]) -> ReferenceColumns:
    grid = node.manifest.grid_shape
    coords = np.stack(np.unravel_index(flat, grid), axis=1) if grid else np.zeros((1, 0), np.int64)
    return node.manifest.columns(coords.astype(np.int64))


def _check_faults(columns: ReferenceColumns, skip: Callable[[RefbrowserError], None]) -> None:
    for row in np.flatnonzero(columns.kind == ReferenceKind.FAULTY).tolist():
        skip(columns.faults[row])


def _write_record(path: Path, columns: ReferenceColumns, record_size: int) -> None:
    """Write one record file, filled up to `record_size` rows as its readers expect."""
    require("pyarrow")
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
