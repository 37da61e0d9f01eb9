"""The command itself: verbs, exit codes, error lines, interrupts, and how fast it starts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from source import NAMES

from refbrowser import __version__
from refbrowser.cli import main, program
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.formats.registry import BUILT_IN as FORMATS
from refbrowser.limits import Limits
from refbrowser.loading import load
from refbrowser.tools.registry import BUILT_IN

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample" / "sea_surface.json"
ERROR = re.compile(r"refbrowser: error\[E_[A-Z]+\]: [^\n]+\n")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"refbrowser {__version__}\n"


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for verb in (tool.name for tool in BUILT_IN):
        assert verb in shown
        assert main([verb, "--help"]) == 0
        assert "--json" in capsys.readouterr().out
    assert "--screenshot" in shown


@pytest.mark.slow
def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from refbrowser.cli import main; main(['--help']); main(['read', '--help']);"
        "print([m for m in ('numpy', 'zarr', 'jinja2', 'PySide6', 'fsspec', 'asyncio') if m in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


#: What a command that only describes a document of references must not load.
UNUSED = (
    "numpy.ma",
    "logging",
    "subprocess",
    "concurrent.futures",
    "refbrowser.engine.reading.chunks",
    "refbrowser.engine.reading.reader",
    "refbrowser.engine.reading.members",
    "refbrowser.formats.stores.listing_check",
    "refbrowser.formats.stores.opening",
    "refbrowser.wings.ncstream.reading.definition",
    "refbrowser.wings.ncstream.reading.messages",
    "refbrowser.wings.awkward0.reading.naming",
    "refbrowser.formats.stores.listing_check",
    "refbrowser.formats.parquet_text",
    "refbrowser.engine.findings.listed_finding",
    "refbrowser.io.fetching.fetch",
    "refbrowser.io.plan",
    "refbrowser.io.processes",
    "refbrowser.io.access.task",
    "refbrowser.model.multiscales.conventions",
    "refbrowser.model.nested",
    "refbrowser.codecs.compressors",
    "refbrowser.codecs.objects",
    "refbrowser.codecs.outside",
    "refbrowser.io.archives.rescued_members",
    "refbrowser.references.edits.edits",
)


@pytest.mark.slow
def test_a_command_loads_only_what_it_needs() -> None:
    code = (
        "import sys; from refbrowser.cli import main; code = main(sys.argv[1:]);"
        f"print([name for name in {UNUSED} if name in sys.modules], file=sys.stderr);"
        "ours = [module for name, module in sys.modules.items() if name.startswith('refbrowser.')];"
        "print(sum(not hasattr(module, '__path__') for module in ours), file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "info", str(SAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "/ocean/sst" in done.stdout
    loaded, count = done.stderr.splitlines()
    assert loaded == "[]"
    # Folders have nothing to load.
    assert int(count) <= 136
    assert {name for name in UNUSED if name.startswith("refbrowser.")} <= NAMES, "one is gone"


@pytest.mark.slow
def test_reading_chunks_loads_nothing_of_rows_and_archives() -> None:
    unused = (
        "refbrowser.engine.reading.members",
        "refbrowser.engine.nested",
        "refbrowser.wings.awkward0",
        "refbrowser.io.archives.directory",
    )
    code = (
        "import sys; from refbrowser.cli import main; code = main(sys.argv[1:]);"
        f"print([name for name in {unused} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "read", str(SAMPLE), "/ocean/lat", "--select", "0:2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)) == 2
    assert done.stderr.splitlines()[-1] == "[]"


def test_a_command_spends_little_on_garbage() -> None:
    code = (
        "import atexit, gc, sys; from refbrowser.cli import main; before = gc.get_threshold();"
        "main(['limits']); print(gc.get_threshold() == before, file=sys.stderr);"
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000, file=sys.stderr));"
        "sys.argv = ['refbrowser', 'limits']; main(); print(gc.get_threshold()[0], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # What calls it from a program of its own keeps its collector.
    assert done.stderr.split() == ["True", str(program.UNCOLLECTED), "True"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["read"],
        ["read", "x.json"],
        ["info", "x.json", "--nonsense"],
        ["expand", "x.json", "--start", "one"],
        ["expand", "x.json", "--start", "-1"],
        ["export", "x.json", "y"],
        ["export", "x.json", "y", "--to", "zarr-v3", "--select", "0"],
        ["--size", "large", "--screenshot", "x.png"],
        ["read", "x.json", "a", "--template", "novalue"],
    ],
)
def test_wrong_usage_is_one_line_and_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert ERROR.fullmatch(captured.err)
    assert "E_USAGE" in captured.err
    assert captured.out == ""


def test_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["limits"]) == 0
    lines = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    # Those of single formats follow those of all.
    wings = {load(each.limits) for each in FORMATS if each.limits}
    names = [each.name for table in (Limits, *wings) for each in fields(table)]
    assert sorted(line.split()[0] for line in lines) == sorted(names)
    assert len(set(names)) == len(names)
    assert lines[-1].split()[0] not in {each.name for each in fields(Limits)}
    # Values end, and units begin, in one column.
    assert {len(words.group()) for line in lines if (words := re.match(r"\S+ +\d+ ", line))} == {
        max(map(len, names)) + 23
    }
    assert main(["limits", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["connections_per_host"]["value"] == 128


@pytest.mark.parametrize(("kind", "code"), [("META", 2), ("BLOCKED", 3), ("RANGE", 4), ("IO", 4)])
def test_kinds_give_their_exit_codes(
    kind: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.tools.limits import verb

    def fail(*_: object) -> int:
        raise RefbrowserError(ErrorKind[kind], "something with \x1b[31m in it", advice="try again")

    monkeypatch.setattr(verb, "run", fail)
    assert main(["limits"]) == code
    shown = capsys.readouterr().err
    assert shown.startswith(f"refbrowser: error[E_{kind}]: something")
    assert shown.endswith("; try again\n")


def test_an_internal_error_is_one_line_with_an_incident(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refbrowser.tools.limits import verb

    monkeypatch.setattr(verb, "run", lambda *_: 1 // 0)
    assert main(["limits"]) == 1
    shown = capsys.readouterr().err
    assert ERROR.fullmatch(shown)
    assert "Traceback" not in shown
    incident = re.search(r"incident ([0-9a-f-]+) in ", shown)[1]
    log = Path(os.environ["XDG_STATE_HOME"]) / "refbrowser" / "errors.log"
    assert incident in log.read_text()
    assert "ZeroDivisionError" in log.read_text()


@pytest.mark.slow
def test_what_reads_our_output_may_stop(shared_data: Path) -> None:
    path = shared_data / "real" / "eraint_uvz.refs.json"
    command = f"{sys.executable} -m refbrowser read --json {path} z | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "[[[[-23195"
    assert done.stderr == ""


STALLED = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
connections = []
while True:
    connections.append(server.accept())
    print("accepted", flush=True)
"""


#: What ends a command in order, and the code that it ends with.
ENDS = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)


@pytest.mark.slow
@ENDS
def test_a_signal_ends_a_stalled_read(tmp_path: Path, number: int, code: int) -> None:
    server = subprocess.Popen([sys.executable, "-c", STALLED], stdout=subprocess.PIPE, text=True)
    try:
        origin = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        zarray = '{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"<i4","compressor":null,"filters":null,'
        zarray += '"fill_value":0,"order":"C"}'
        document = tmp_path / "d.json"
        document.write_text(json.dumps({"a/.zarray": zarray, "a/0": [f"{origin}/x", 0, 16]}))
        command = [sys.executable, "-m", "refbrowser", "read", "--json", document, "a", "--allow", origin]
        reading = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert server.stdout.readline() == "accepted\n"
        assert reading.poll() is None
        reading.send_signal(number)
        # Nobody would wait so long for the answer to be given up.
        out, err = reading.communicate(timeout=10)
        assert reading.returncode == code
        assert out == ""
        assert "Traceback" not in err
    finally:
        server.kill()
        server.wait()


def count_on() -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass


def wait_on() -> None:
    threading.Event().wait(60)


@ENDS
@pytest.mark.parametrize("work", [count_on, wait_on])
def test_a_signal_ends_work_that_does_not_heed_it(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], None], number: int, code: int
) -> None:
    ended: list[int] = []

    def busy(*_: object) -> int:
        signal.raise_signal(number)
        work()
        ended.append(number)
        return 0

    monkeypatch.setattr(program, "PATIENCE", 0.1)
    monkeypatch.setattr(program, "_run", busy)
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    assert main(["limits"]) == code
    assert ended == []
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_closed_output_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["limits"]) == 0
    assert main(["info", "not there"]) == 6


def test_too_little_memory_is_no_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr("refbrowser.tools.info.verb.run", run)
    (tmp_path / "a.json").write_text("{}")
    assert main(["info", str(tmp_path / "a.json")]) == ErrorKind.BUDGET.outcome.exit_code
    assert "error[E_BUDGET]: there is not enough memory" in capsys.readouterr().err
