"""Tries one reader on many stores: a script that imports nothing of ours, for any Python with that reader.

It gets the path of ``reader_child.py``, and on standard input a list of its requests. It writes one JSON
object a line, the name of the store and the answers to its request. Each store gets a copy of the process
that has loaded the library: one that crashes it, or keeps it busy, costs nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

_PATIENCE = 30
#: What most readers load, sooner or later.
_OFTEN = (
    *("zarr", "fsspec.implementations.reference", "obspec_utils.registry", "obstore.store"),
    *("kerchunk.xarray_backend", "fastparquet"),
)


def _loaded(path: str) -> Any:
    spec = spec_from_file_location("reader_child", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _answers(read: Any, request: dict[str, Any], out: int) -> None:
    signal.alarm(_PATIENCE)
    warnings.simplefilter("ignore")
    with os.fdopen(out, "w") as stream:
        try:
            for found in read(request):
                stream.write(json.dumps(found) + "\n")
        except BaseException as error:  # noqa: BLE001 - whatever other software raises is what it found
            stream.write(json.dumps({"ended": f"{type(error).__name__}: {error}"}) + "\n")


def main() -> None:
    """Try the reader on what standard input lists."""
    child, *_ = sys.argv[1:]
    requests = json.load(sys.stdin)
    readers = _loaded(child).READERS
    library, read = readers[requests[0]["program"]]
    for each in (library, *_OFTEN):
        # The threads of Icechunk, which begin when it is loaded, would be lost in copies.
        with suppress(ImportError):
            if each != "icechunk":
                import_module(each)
    if "xarray" in sys.modules:
        # It loads all that is registered with it when the first dataset is opened.
        import_module("xarray.backends.plugins").list_engines()
    for request in requests:
        there, here = os.pipe()
        process = os.fork()
        if not process:
            os.close(there)
            os.dup2(2, 1)
            _answers(read, request, here)
            os._exit(0)
        os.close(here)
        with os.fdopen(there) as stream:
            answers = [json.loads(line) for line in stream if line.endswith("\n")]
        _, status = os.waitpid(process, 0)
        if status:
            answers.append({"crashed": os.waitstatus_to_exitcode(status)})
        sys.stdout.write(json.dumps([request["name"], answers]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
