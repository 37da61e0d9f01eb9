"""Libraries in processes of their own: what they break costs a question, and no more."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refbrowser.codecs.workers import children
from refbrowser.codecs.workers.confinement import in_force
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.library import process
from refbrowser.formats.library.process import (
    Chain,
    LibraryFile,
    end_spare,
    leave,
    library_file,
    one_after_another,
)
from refbrowser.formats.registry import formats
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.fetching.byte_sources import MemoryBytes
from refbrowser.io.identity import identity_on_disk
from refbrowser.io.processes import is_running
from refbrowser.limits import Limits
from refbrowser.loading import load

SCRIPT = """
import os, signal, socket, subprocess, time
class Reader:
    def open(self, place):
        if isinstance(place, str) and place.endswith("bad"):
            raise ValueError("no such thing")
        self.place = place
        return {}
    def do_echo(self, request):
        print("this is no answer", flush=True)
        os.write(1, b"nor is this\\n")
        yield {"said": request["say"], "pid": os.getpid()}
        yield {}, b"ab", b"", b"c"
    def do_crash(self, request):
        os.kill(os.getpid(), signal.SIGSEGV)
    def do_read(self, request):
        raise ValueError("no values")
    def do_sleep(self, request):
        time.sleep(60)
    def do_memory(self, request):
        data = bytearray(request["size"])
        yield {"size": len(data)}
    def do_write(self, request):
        with open(request["path"], "wb") as file:
            file.write(b"written")
    def do_attempt(self, request):
        tries = {
            "given": lambda: open(self.place).close(),
            "library": lambda: __import__("wave"),
            "other": lambda: open(request["other"]).close(),
            "folder": lambda: os.listdir(os.path.dirname(request["other"])),
            "network": lambda: socket.socket(),
            "program": lambda: subprocess.run(["true"]),
            "kill": lambda: os.kill(os.getppid(), 0),
        }
        for name, attempt in tries.items():
            try:
                attempt()
            except OSError as error:
                yield {"refused": name}
        yield {"variables": list(os.environ)}
    def do_work(self, request):
        while True:
            pass
    def do_part(self, request):
        self.place.seek(request["at"])
        yield {}, self.place.read(request["size"])
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "library.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def file(script: Path, tmp_path: Path) -> LibraryFile:
    path = tmp_path / "data"
    path.write_bytes(b"0123456789")
    return LibraryFile(script, "Data", str(path), identity=identity_on_disk(path))


def asked(file: LibraryFile, operation: str, **request: Any) -> tuple[dict[str, Any], bytes]:
    told: dict[str, Any] = {}
    data = bytearray()

    def take(answer: dict[str, Any], more: memoryview) -> None:
        told.update(answer)
        data.extend(more)

    file.ask(operation, request, take)
    return told, bytes(data)


def test_questions_are_answered_by_one_process(file: LibraryFile) -> None:
    told, data = asked(file, "echo", say="ü")
    assert (told["said"], data) == ("ü", b"abc")
    assert asked(file, "echo", say="")[0]["pid"] == told["pid"]
    file.close()
    assert asked(file, "echo", say="")[0]["pid"] != told["pid"]


def test_what_breaks_costs_one_question(
    file: LibraryFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(library_memory=200 << 20)
    monkeypatch.setattr(process, "LIMITS", limits)

    def fails(kind: ErrorKind, words: str, operation: str, **request: Any) -> None:
        with pytest.raises(RefbrowserError, match=words) as caught:
            asked(file, operation, **request)
        assert caught.value.kind is kind
        assert asked(file, "echo", say=1)[0]["said"] == 1

    fails(ErrorKind.FORMAT, "has died", "crash")
    fails(ErrorKind.FORMAT, "MemoryError", "memory", size=300 << 20)
    assert asked(file, "memory", size=50 << 20)[0]["size"] == 50 << 20
    with monkeypatch.context() as patch:
        patch.setattr(process, "LIMITS", replace(limits, library_time=0.3))
        with pytest.raises(RefbrowserError, match=r"took more than 0\.3 s") as caught:
            asked(file, "sleep")
    assert caught.value.kind is ErrorKind.BUDGET
    assert asked(file, "echo", say=1)[0]["said"] == 1
    fails(ErrorKind.FORMAT, "AttributeError", "nothing")
    fails(ErrorKind.DECODE, "no values", "read")
    fails(ErrorKind.FORMAT, r"OSError|PermissionError", "write", path=str(tmp_path / "made"))
    assert not (tmp_path / "made").exists() or not (tmp_path / "made").stat().st_size


def test_a_file_that_changed_is_not_read_on(file: LibraryFile) -> None:
    asked(file, "echo", say=1)
    Path(file.url).write_bytes(b"others")
    with pytest.raises(RefbrowserError, match="was changed") as caught:
        asked(file, "echo", say=1)
    assert caught.value.kind is ErrorKind.RANGE


def test_a_question_is_cancelled(file: LibraryFile) -> None:
    token = CancelToken()
    threading.Timer(0.2, token.cancel).start()
    since = time.monotonic()
    with pytest.raises(Cancelled):
        file.ask("sleep", {}, lambda answer, data: None, token)
    assert time.monotonic() - since < 20


def test_bytes_that_are_asked_for_come_from_the_source(script: Path) -> None:
    data = bytes(range(256)) * 20_000
    file = LibraryFile(script, "Data", "http://nowhere/data", MemoryBytes(data))
    for at, size in ((0, 10), (2**20 - 5, 10), (3 * 2**20, 100), (0, len(data)), (len(data) - 3, 10)):
        assert asked(file, "part", at=at, size=size)[1] == data[at : at + size]


def test_what_cannot_be_opened_says_why(script: Path, tmp_path: Path) -> None:
    with pytest.raises(RefbrowserError, match="no such thing"):
        asked(LibraryFile(script, "Data", str(tmp_path / "bad")), "echo", say=1)


def test_a_file_is_left_for_the_next_format(script: Path, file: LibraryFile) -> None:
    leave(file)
    assert library_file(script, "Data", file.url, identity=file.identity) is file
    leave(file)
    assert library_file(script, "Data", file.url, identity=None) is not file
    assert library_file(script, "Data", file.url, identity=file.identity) is not file


def test_processes_that_nobody_asks_end(script: Path, tmp_path: Path) -> None:
    files = []
    for number in range(7):
        path = tmp_path / f"data{number}"
        path.write_bytes(b"")
        files.append(LibraryFile(script, "Data", str(path)))
        asked(files[-1], "echo", say=number)
    assert sum(each.has_process for each in files) <= 4
    assert files[-1].has_process


def test_one_process_reads_files_one_after_another(script: Path, tmp_path: Path) -> None:
    def read(name: str, *operations: str) -> tuple[Any, Chain]:
        path = tmp_path / name
        path.write_bytes(b"")
        with one_after_another() as chain:
            file = LibraryFile(script, "Data", str(path))
            told = asked(file, "echo", say=name)[0]
            for operation in operations:
                asked(file, operation)
        return told["pid"], chain

    end_spare()
    first, chain = read("a")
    assert not chain.is_mixed
    second, chain = read("b")
    assert (second, chain.is_mixed) == (first, True)
    # What ends with an error leaves no process to others.
    for operations in (("crash",), ("nothing",)):
        with pytest.raises(RefbrowserError):
            read("c", *operations)
        third, chain = read("d")
        assert (third != first, chain.is_mixed) == (True, False)
        first = third
    file = LibraryFile(script, "Data", str(tmp_path / "a"))
    assert asked(file, "echo", say=1)[0]["pid"] != first
    end_spare()
    assert read("a")[0] != first
    end_spare()


def test_one_question_asks_for_many(file: LibraryFile) -> None:
    said: list[Any] = []
    requests = {"each": [{"say": number} for number in range(3)]}
    file.ask("echo", requests, lambda answer, data: said.append(answer.get("said", bytes(data))))
    assert said == [0, b"abc", 1, b"abc", 2, b"abc"]


@pytest.mark.parametrize("start", [children.start_child, lambda script: children.start_alone(script)])
def test_each_way_of_starting(start: Callable[[Path], children.Child], file: LibraryFile) -> None:
    child = start(file.script)
    child.send({"memory": 2**30, "time": 60, "opens": [file.url], "path": file.url})
    assert child.receive()[0] == {"done": True}
    child.send({"operation": "echo", "say": "x"})
    assert child.receive()[0]["said"] == "x"
    child.end()
    child.end()


def test_a_library_is_loaded_before_it_is_wanted(file: LibraryFile, tmp_path: Path) -> None:
    mark = tmp_path / "loaded"
    file.script.write_text(f"open({str(mark)!r}, 'a').write('x')\n{SCRIPT}")
    for _ in range(2):
        children.prepare_child(file.script)
    deadline = time.monotonic() + 20
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert asked(file, "echo", say="x")[0]["said"] == "x"
    # Once for all.
    assert mark.read_text() == "x"


def test_formats_that_have_a_library_say_which() -> None:
    """Their scripts are there."""
    found = {each.name for each in formats() if each.library and load(each.library).exists()}
    assert found == {"hdf5", "grib", "grib-index", "hdf4", "tiff", "fits"}


def attempted(file: LibraryFile, other: Path) -> list[dict[str, Any]]:
    """Return what a library was refused, and the variables that it has."""
    said: list[dict[str, Any]] = []
    file.ask("attempt", {"other": str(other)}, lambda answer, data: said.append(answer))
    return said


@pytest.mark.skipif(in_force()["network"] == "not held back", reason="this system has no filter of calls")
def test_a_library_opens_what_it_was_given_and_nothing_else(
    file: LibraryFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("ECCODES_DEFINITION_PATH", "")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "other").touch()
    said = attempted(file, tmp_path / "folder" / "other")
    refused = {each["refused"] for each in said if "refused" in each}
    files = {"other", "folder"} if in_force()["files"] != "not held back" else set()
    assert refused == {"network", "program", "kill"} | files
    variables = set(said[-1]["variables"])
    assert "AWS_SECRET_ACCESS_KEY" not in variables
    assert {"PATH", "ECCODES_DEFINITION_PATH"} <= variables


def test_files_of_one_folder_share_a_process_and_others_do_not(script: Path, tmp_path: Path) -> None:
    found = []
    for name in ("a/1", "a/2", "b/1"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        with one_after_another():
            file = LibraryFile(script, "Data", str(path), None, identity_on_disk(path))
            found.append(asked(file, "echo", say=name)[0]["pid"])
            refused = {each.get("refused") for each in attempted(file, path)}
            assert not refused & {"given", "library", "other"}
    end_spare()
    assert found[0] == found[1] != found[2]


_PROGRAM = """
import sys
from pathlib import Path
from refbrowser.formats.library.process import LibraryFile
file = LibraryFile(Path(sys.argv[1]), "Data", sys.argv[1])
file.ask("echo", {"say": 1}, lambda answer, data: "pid" in answer and print(answer["pid"], flush=True))
file.ask("work", {}, lambda answer, data: None)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="copies of processes are of Linux")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_library_that_never_ends_ends_with_the_program(script: Path, how: int) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        worker = int(program.stdout.readline())
        program.send_signal(how)
    deadline = time.monotonic() + 60
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(worker)


def test_a_library_has_its_time_even_where_nobody_waits_for_it(file: LibraryFile) -> None:
    """It dies by the limit of the system: nobody ends it here."""
    child = children.start_child(file.script)
    child.send({"memory": 2**30, "time": 0.1, "opens": [file.url], "path": file.url})
    assert child.receive()[0] == {"done": True}
    child.send({"operation": "work"})
    with pytest.raises((EOFError, OSError)):
        child.receive()
    child.end()


_LITTLE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from pathlib import Path
from refbrowser.formats.library.process import LibraryFile
file = LibraryFile(Path(sys.argv[1]), "Data", sys.argv[1])
file.ask("memory", {"size": 1 << 20}, lambda answer, data: print(answer["size"]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much a process has")
def test_libraries_work_below_a_hard_limit_of_a_gigabyte(script: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _LITTLE, str(script)], capture_output=True, text=True, timeout=100
    )
    assert (ended.stdout, ended.stderr) == (f"{1 << 20}\n", "")
