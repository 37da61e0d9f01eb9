"""Opens hostile files with everything that the program does, and tells what the interpreter was asked for.

Run with a folder: ``honest.awkd`` is opened first, so that all modules are loaded, then, watched, all others.
Prints JSON: events that have no place there.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# It makes functions from text when it is first loaded, with whatever of numpy needs it.
import numpy.ma  # noqa: F401

import refbrowser

# It is loaded with the first array of its kind that a verb reads: of the honest file they read none.
import refbrowser.engine.nested.row_parts
from refbrowser.cli import main
from refbrowser.errors import RefbrowserError
from refbrowser.model.values import Rows

FOLDER = Path(sys.argv[1]).resolve()
#: Where modules of ours, of Python and of what we depend on lie.
KNOWN = tuple(
    {
        str(Path(path).resolve())
        for path in (
            *filter(None, sys.path),
            sys.prefix,
            sys.base_prefix,
            Path(refbrowser.__file__).parent.parent,
        )
    }
)
DENIED = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.truncate",
    "subprocess.",
    "socket.",
    "pickle.",
    "ctypes.dlopen",
    "shutil.",
    "urllib.",
    "http.",
)

events: list[list[str]] = []
watching = False


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not watching or threading_is_ours(event):
        return
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, int):
            return
        text = path.decode("utf-8", "replace") if isinstance(path, bytes) else str(path)
        place = Path(text).resolve()
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        if writes or not (place.is_relative_to(FOLDER) or str(place).startswith((*KNOWN, "/proc/self"))):
            events.append([event, text, str(mode), str(flags)])
    elif event == "import":
        name = str(arguments[0])
        if name.partition(".")[0] in FOREIGN:
            events.append([event, name])
    elif event == "compile":
        # Of modules that nobody has compiled yet, the name is that of their file.
        if arguments[0] is not None and not str(arguments[1]).startswith(KNOWN):
            events.append([event, str(arguments[0])[:200]])
    elif event == "exec":
        code = arguments[0]
        if not code.co_filename.startswith((*KNOWN, "<frozen")) or code.co_name != "<module>":
            events.append([event, code.co_filename, code.co_name])
    elif event.startswith(DENIED):
        events.append([event, *(str(each)[:200] for each in arguments)])


def threading_is_ours(event: str) -> bool:
    return event.startswith(("_thread.", "threading."))


#: What files name, and nothing here needs after its modules were loaded.
FOREIGN = {
    "subprocess",
    "awkward0",
    "uproot",
    "uproot3_methods",
    "uproot_methods",
    "shelve",
    "antigravity",
    "pty",
    "evil_module",
}


def verbs(path: Path) -> Iterator[list[str]]:
    """Return what is done with every file."""
    for verb in (["info"], ["check"], ["cdl"], ["expand", "--skip-bad"]):
        yield [*verb, str(path)]
    for number in range(0, 20, 3):
        yield ["read", str(path), f"/evil{number:02}", "--json"]
    yield ["plan", str(path), "/evil00"]


def use(path: Path) -> None:
    """Do all that does not write with a file."""
    for arguments in verbs(path):
        with contextlib.suppress(SystemExit):
            main(arguments)
    with contextlib.suppress(RefbrowserError), refbrowser.open(path) as dataset:
        for array in dataset.arrays.values():
            repr(array)
            with contextlib.suppress(RefbrowserError):
                array.to_awkward(0, min(10, array.shape[0])) if isinstance(
                    array.node.values, Rows
                ) else array[...]


sys.addaudithook(hook)
OUTPUT = io.TextIOWrapper(io.BytesIO(), "utf-8")
with contextlib.redirect_stdout(OUTPUT), contextlib.redirect_stderr(OUTPUT):
    use(FOLDER / "honest.awkd")
    watching = True
    for each in sorted(FOLDER.glob("[0-9]*")):
        use(each)
    watching = False
print(json.dumps(events))  # noqa: T201 - the answer
