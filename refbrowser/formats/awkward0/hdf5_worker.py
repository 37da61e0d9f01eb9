"""A process that opens HDF5 files, with limits of memory and depth: a script that imports nothing of ours.

It reads one request in JSON from its standard input and answers in lines of JSON on its standard output; the
last one is ``{"done": true}``. Links are never followed, plug-ins never loaded, other files never opened.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any

#: Bytes that are copied at once.
PORTION = 4 * 1024 * 1024


def main() -> None:
    """Answer one request."""
    os.environ["HDF5_PLUGIN_PRELOAD"] = "::"
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    import h5py

    request = json.load(sys.stdin)
    _limit_memory(int(request["memory"]))
    try:
        _OPERATIONS[request["operation"]](h5py, request)
    except Exception as error:  # noqa: BLE001 - told to who asked
        _say(fault=f"{type(error).__name__}: {error}"[:500])
    else:
        _say(done=True)


def _say(**answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


# Names


def _list(h5py: Any, request: dict[str, Any]) -> None:
    """Tell every dataset: its name, its size, where its bytes are."""
    with h5py.File(request["path"], "r") as file:
        _Walk(h5py, request).group(file.id, "", 0)


class _Walk:
    def __init__(self, h5py: Any, request: dict[str, Any]) -> None:
        self.h5py = h5py
        self.left = int(request["objects"])
        self.depth = int(request["depth"])
        self.seen: set[int] = set()

    def group(self, group: Any, prefix: str, depth: int) -> None:
        """Tell the datasets of a group and of those below it."""
        address = self.h5py.h5o.get_info(group).addr
        if address in self.seen:
            return
        self.seen.add(address)
        names: list[bytes] = []

        def take(name: bytes) -> bool | None:
            self.left -= 1
            if self.left < 0:
                return True
            names.append(name)
            return None

        group.links.iterate(take)
        if self.left < 0:
            _say(problem="it holds more objects than are listed")
            return
        for raw in sorted(names):
            self._member(group, raw, prefix, depth)

    def _member(self, group: Any, raw: bytes, prefix: str, depth: int) -> None:
        name = prefix + raw.decode("utf-8", "surrogateescape")
        if group.links.get_info(raw).type != self.h5py.h5l.TYPE_HARD:
            _say(problem="a link is not followed", name=name)
            return
        try:
            found = self.h5py.h5o.open(group, raw)
            if isinstance(found, self.h5py.h5g.GroupID):
                if depth < self.depth:
                    self.group(found, f"{name}/", depth + 1)
                else:
                    _say(problem="groups are nested too deep", name=name)
            elif isinstance(found, self.h5py.h5d.DatasetID):
                _say(name=name, **_facts(self.h5py, found))
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, MemoryError) as error:
            _say(name=name, size=0, stored=0, error=str(error)[:300])


def _facts(h5py: Any, dataset: Any) -> dict[str, Any]:
    """Return size and place of the bytes of a dataset; ``offset`` is None where they have no single place."""
    made, kind = dataset.get_create_plist(), dataset.get_type()
    stored = dataset.get_storage_size()
    if made.get_external_count() or made.get_layout() == h5py.h5d.VIRTUAL:
        return {"size": 0, "stored": 0, "error": "its bytes are in other files"}
    if kind.get_class() == h5py.h5t.STRING and kind.is_variable_str():
        return {"size": None, "stored": stored, "offset": None}
    if not _is_fixed(h5py, kind):
        return {"size": 0, "stored": 0, "error": "its elements are no bytes"}
    size = dataset.get_space().get_simple_extent_npoints() * kind.get_size()
    return {"size": size, "stored": stored, "offset": _offset(h5py, dataset, made, size)}


def _is_fixed(h5py: Any, kind: Any) -> bool:
    """Tell whether elements are bytes as they are stored: none that are somewhere else."""
    if kind.get_class() == h5py.h5t.ARRAY:
        return _is_fixed(h5py, kind.get_super())
    if kind.get_class() == h5py.h5t.COMPOUND:
        return all(_is_fixed(h5py, kind.get_member_type(at)) for at in range(kind.get_nmembers()))
    return kind.get_class() in (
        h5py.h5t.INTEGER, h5py.h5t.FLOAT, h5py.h5t.STRING, h5py.h5t.BITFIELD, h5py.h5t.OPAQUE, h5py.h5t.ENUM
    )  # fmt: skip


def _offset(h5py: Any, dataset: Any, made: Any, size: int) -> int | None:
    if made.get_layout() == h5py.h5d.CONTIGUOUS:
        return dataset.get_offset() if dataset.get_storage_size() >= size else None
    if (
        made.get_layout() != h5py.h5d.CHUNKED
        or made.get_nfilters()
        or dataset.get_space().get_simple_extent_ndims() != 1
    ):
        return None
    if dataset.get_num_chunks() != 1:
        return None
    chunk = dataset.get_chunk_info(0)
    return chunk.byte_offset if chunk.size >= size and chunk.chunk_offset == (0,) else None


# Bytes


def _read(h5py: Any, request: dict[str, Any]) -> None:
    """Tell the bytes of datasets."""
    most = int(request["most"])
    with h5py.File(request["path"], "r") as file:
        for name in request["names"]:
            try:
                data = _bytes(h5py, _at(h5py, file, name), most)
            except (OSError, RuntimeError, ValueError, KeyError, TypeError, MemoryError) as error:
                _say(name=name, error=str(error)[:300])
            else:
                most -= len(data)
                _say(name=name, data=base64.b64encode(data).decode("ascii"))


def _bytes(h5py: Any, dataset: Any, most: int) -> bytes:
    size = dataset.size * dataset.dtype.itemsize
    if size > most:
        raise ValueError(f"{size} bytes are more than the {most} that are read")
    value = dataset[()]
    if isinstance(value, bytes):
        data = value
    elif isinstance(value, str):
        data = value.encode("utf-8")
    else:
        if dataset.dtype.hasobject:
            raise ValueError("its elements are no bytes")
        data = value.tobytes()
    if len(data) > most:
        raise ValueError(f"{len(data)} bytes are more than the {most} that are read")
    return data


def _at(h5py: Any, file: Any, name: str) -> Any:
    """Return the object of a name; only members of groups count, never links."""
    found = file
    for part in name.split("/"):
        raw = part.encode("utf-8", "surrogateescape")
        if found.id.links.get_info(raw).type != h5py.h5l.TYPE_HARD:
            raise ValueError("a link is not followed")
        found = found[part]
    return found


# Writing


def _write(h5py: Any, request: dict[str, Any]) -> None:
    """Remove datasets of a file and add others; each is a range of a file beside it."""
    path = request["path"]
    if request["removed"]:
        with h5py.File(path, "r+") as file:
            for name in request["removed"]:
                _remove(h5py, file, name)
        _compact(h5py, path)
    with h5py.File(path, request["mode"]) as file, open(request["data"], "rb") as data:
        for name, offset, size in request["added"]:
            _add(h5py, file, name, data, offset, size)


def _compact(h5py: Any, path: str) -> None:
    """Give back the room of what was removed, where copies of all objects are as good as they are."""
    made = path + ".compact"
    with h5py.File(path, "r") as old:
        if old.userblock_size or len(old.attrs) or not _is_tree(h5py, old):
            return
        with h5py.File(made, "x") as new:
            for name in old:
                old.copy(old[name], new, name)
    os.replace(made, path)


def _is_tree(h5py: Any, file: Any) -> bool:
    """Tell whether each object has one name, and nothing refers to another."""

    def is_link(_: bytes, info: Any) -> bool | None:
        return True if info.type != h5py.h5l.TYPE_HARD else None

    def is_shared(name: bytes, info: Any) -> bool | None:
        found = h5py.h5o.open(file.id, name)
        kinds = [h5py.h5a.open(found, index=at).get_type() for at in range(h5py.h5a.get_num_attrs(found))]
        if isinstance(found, h5py.h5d.DatasetID):
            kinds.append(found.get_type())
        plain = info.type in (h5py.h5o.TYPE_GROUP, h5py.h5o.TYPE_DATASET) and (info.rc == 1 or name == b".")
        return None if plain and not any(_refers(h5py, kind) for kind in kinds) else True

    return not (file.id.links.visit(is_link, info=True) or h5py.h5o.visit(file.id, is_shared, info=True))


def _refers(h5py: Any, kind: Any) -> bool:
    """Tell whether elements may be references to objects."""
    if kind.get_class() in (h5py.h5t.ARRAY, h5py.h5t.VLEN):
        return _refers(h5py, kind.get_super())
    if kind.get_class() == h5py.h5t.COMPOUND:
        return any(_refers(h5py, kind.get_member_type(at)) for at in range(kind.get_nmembers()))
    return bool(kind.get_class() == h5py.h5t.REFERENCE)


def _remove(h5py: Any, file: Any, name: str) -> None:
    """Remove a dataset, and the groups above it that hold nothing any more."""
    parts = name.split("/")
    while parts:
        above = _at(h5py, file, "/".join(parts[:-1])) if len(parts) > 1 else file
        found = _at(h5py, above, parts[-1])
        if isinstance(found, h5py.Group) and (len(found) or len(found.attrs)):
            return
        del found
        del above[parts[-1]]
        parts.pop()


def _add(h5py: Any, file: Any, name: str, data: Any, offset: int, size: int) -> None:
    *above, last = name.split("/")
    group = file
    for part in above:
        group = _at(h5py, group, part) if part in group else group.create_group(part)
        if not isinstance(group, h5py.Group):
            raise ValueError("there is a dataset where a group is needed")
    dataset = group.create_dataset(last, (size,), "u1")
    data.seek(offset)
    done = 0
    while done < size:
        piece = data.read(min(PORTION, size - done))
        if not piece:
            raise ValueError("the data end early")
        stop = done + len(piece)
        dataset.write_direct(_bytes_array(piece), dest_sel=slice(done, stop))
        done = stop


def _bytes_array(piece: bytes) -> Any:
    import numpy as np

    return np.frombuffer(piece, np.uint8)


def _limit_memory(size: int) -> None:
    """Let this process have no more than `size` bytes beside what it has."""
    try:
        import resource
    except ImportError:  # Windows has none.
        return
    try:
        with open("/proc/self/statm", "rb") as status:
            has = int(status.read().split()[0]) * resource.getpagesize()
    except OSError:  # Only Linux tells it so.
        return
    resource.setrlimit(resource.RLIMIT_AS, (has + size, has + size))


_OPERATIONS = {"list": _list, "read": _read, "write": _write}

if __name__ == "__main__":
    main()
