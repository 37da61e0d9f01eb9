"""A process that writes datasets into HDF5 files, with a limit of memory: it imports nothing of ours.

It reads one request in JSON from its standard input and answers with a line of JSON on its standard output:
``{"done": true}``, or a ``fault``. Links are never followed, and only the data and the folder of the file are
opened.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

#: Bytes that are copied at once.
PORTION = 4 * 1024 * 1024
_WORKER = Path(__file__).parents[3] / "codecs" / "workers" / "worker.py"


def main() -> None:
    """Answer one request."""
    os.environ["HDF5_PLUGIN_PRELOAD"] = "::"
    os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
    import h5py

    spec = spec_from_file_location("worker", _WORKER)
    assert spec is not None
    assert spec.loader is not None
    worker = module_from_spec(spec)
    spec.loader.exec_module(worker)
    request = json.load(sys.stdin)
    held = worker.confinement()
    held.end_with_parent()
    worker.limit_memory(int(request["memory"]))
    held.confine(held.libraries(), [request["data"]], [os.path.dirname(request["path"])])
    try:
        _write(h5py, request)
    except Exception as error:  # noqa: BLE001 - told to who asked
        answer: dict[str, Any] = {"fault": f"{type(error).__name__}: {error}"[:500]}
    else:
        answer = {"done": True}
    sys.stdout.write(json.dumps(answer) + "\n")


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


def _at(h5py: Any, file: Any, name: str) -> Any:
    """Return the object of a name; only members of groups count, never links."""
    found = file
    for part in name.split("/"):
        raw = part.encode("utf-8", "surrogateescape")
        if found.id.links.get_info(raw).type != h5py.h5l.TYPE_HARD:
            raise ValueError("a link is not followed")
        found = found[part]
    return found


if __name__ == "__main__":
    main()
