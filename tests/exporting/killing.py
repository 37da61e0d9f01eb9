"""Kills verbs at their calls that change files, and tells what that leaves: a program, run by `test_kills`.

For each kill a copy of the process, which has loaded all and begun nothing, runs the verb in a folder of its
own and kills itself (SIGKILL) before the n-th such call, or in the midst of it where it writes. Another copy
then reads the target, and runs the verb again. Answers: lines of JSON, each a kill that left what it must
not.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Functions of `os` that change files.
CALLS = (
    "replace", "rename", "unlink", "remove", "rmdir", "mkdir", "link", "symlink", "ftruncate", "fsync",
    "write", "pwrite", "fchmod",
)  # fmt: skip

#: What takes long to load.
LOADED = (
    "refbrowser",
    "numpy",
    "pyarrow",
    "jinja2",
    "numcodecs",
    "google",
    "asyncio",
    "concurrent",
    "zstandard",
)


class Counter:
    """Counts the calls that change files, and ends the process at one of them."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last
        self._lock = threading.Lock()
        for name in CALLS:
            setattr(os, name, self._counting(name, getattr(os, name)))
        # Opening to write makes a file.
        opens = os.open

        def opening(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & os.O_CREAT:
                self._next(lambda: None)
            return opens(path, flags, *more, **named)

        os.open = opening

    def _counting(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            def half() -> None:
                if name in ("write", "pwrite"):
                    data = memoryview(given[1]).cast("B")
                    call(given[0], data[: len(data) // 2], *given[2:])

            self._next(half)
            return call(*given, **named)

        return counted

    def _next(self, half: Callable[[], None]) -> None:
        with self._lock:
            self.count += 1
            if self.count == self._last:
                half()
                os.kill(os.getpid(), signal.SIGKILL)


def in_copy(work: Callable[[], Any]) -> Any:
    """Return what `work` does in a copy of this process, None where that was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        send = os.write
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001 - told to who reads it
            answer = f"{type(error).__name__}: {error}"
        send(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else json.loads(data)


def run(folder: Path, verb: list[str], last: int = 0) -> Any:
    """Run a verb, and return its exit code and how many calls changed files."""
    from refbrowser.cli.program import main

    os.chdir(folder)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    counter = Counter(last)
    return [main(verb), counter.count]


def state(folder: Path, target: str) -> Any:
    """Return what a target says: the values of its array, or its text; None where there is nothing."""
    import refbrowser

    path = folder / target
    if not path.exists():
        return None
    if target.endswith(".lock.json"):
        # It says when it was made, too.
        return json.loads(path.read_bytes())["files"]
    if target.endswith((".table.parquet", ".feather")):
        return path.read_bytes().hex()
    with refbrowser.open(path) as dataset:
        return dataset["/t"][...].tolist()


def names(folder: Path) -> list[str]:
    """Return what lies in a folder, but for the journals of the program."""
    return sorted(os.listdir(folder))


class Verb:
    """One verb, and how it is killed.

    Parameters
    ----------
    made
        The folder with all that it needs, and an old target.
    work
        Where copies of that are made.
    """

    def __init__(self, made: Path, work: Path, verb: list[str], target: str, *, again: bool = True) -> None:
        self.made, self.work, self.verb, self.target, self.again = made, work, verb, target, again
        self._number = 0
        whole = self._copy()
        self.old = in_copy(lambda: state(whole, target))
        (code, self.calls), loaded = in_copy(lambda: [run(whole, verb), sorted(sys.modules)])
        for module in loaded:
            # Once here, and not in each copy; what is half of something else stays out.
            if module.startswith(LOADED):
                importlib.import_module(module)
        self.new, self.names = in_copy(lambda: state(whole, target)), names(whole)
        assert code == 0, (verb, code)
        assert self.new is not None, verb

    def _copy(self) -> Path:
        self._number += 1
        folder = self.work / str(self._number)
        shutil.copytree(self.made, folder, symlinks=True)
        return folder

    def fault(self, number: int) -> str:
        """Kill the verb at a call; return what is wrong afterwards, empty for nothing."""
        folder = self._copy()
        ended = in_copy(lambda: run(folder, self.verb, number))
        left = in_copy(lambda: state(folder, self.target))
        if left not in (self.old, self.new):
            return f"the target is neither the old nor the new one: {left}, {names(folder)}"
        if ended is None and (self.again or left == self.old):
            code = in_copy(lambda: run(folder, self.verb))
            if code is None or code[0] != 0:
                return f"it cannot be run again: {code}"
            if in_copy(lambda: state(folder, self.target)) != self.new:
                return "the next run does not end as the first one does"
            if names(folder) != self.names:
                return f"something is left: {names(folder)}"
        shutil.rmtree(folder)
        return ""


def chosen(calls: int, share: int) -> list[int]:
    """Return at which calls a verb is killed: the last ones, which give names, and some of the others."""
    last = range(max(1, calls - share // 2), calls + 1)
    others = range(1, calls + 1, max(1, calls // max(1, share // 2)))
    return sorted({*last, *others})


def tell(value: Any) -> None:
    """Write a line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")


def main() -> None:
    """Kill the verbs that standard input tells, in the folders that it tells."""
    told = json.load(sys.stdin)
    share = told["share"]
    os.environ["XDG_STATE_HOME"] = told["state"]
    kills = 0
    for name, each in told["verbs"].items():
        work = Path(told["work"], name)
        work.mkdir()
        verb = Verb(Path(each["made"]), work, each["verb"], each["target"], again=each["again"])
        for number in chosen(verb.calls, share):
            kills += 1
            fault = verb.fault(number)
            if fault:
                tell({"verb": name, "call": number, "of": verb.calls, "fault": fault})
    tell({"kills": kills})


if __name__ == "__main__":
    main()
