"""The command, reading over HTTP: each verb, its exit code, and each fault of a server.

The server counts what it is asked. Whatever it does, the values are right or there is one line that says why.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from servers.http_server import Fault, HttpServer

from refbrowser.cli import main

ERROR = re.compile(r"refbrowser: error\[(E_[A-Z]+)\]: [^\n]+\n")
CHUNKS, LENGTH = 6, 500
#: Chunks lie so far apart that each is a request of its own.
SPACING = 4 << 20
FILL = -7


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 30_000, (CHUNKS, LENGTH)).astype("<i2")


@pytest.fixture(scope="module")
def data(values: np.ndarray) -> bytes:
    content = bytearray(CHUNKS * SPACING)
    for row in range(CHUNKS):
        content[row * SPACING : row * SPACING + 2 * LENGTH] = values[row].tobytes()
    return bytes(content)


@pytest.fixture
def server(data: bytes) -> Iterator[HttpServer]:
    with HttpServer({"/data.bin": data}) as running:
        yield running


@pytest.fixture
def document(server: HttpServer, tmp_path: Path) -> Path:
    array = {"zarr_format": 2, "shape": [CHUNKS, LENGTH], "chunks": [1, LENGTH], "dtype": "<i2"}
    array |= {"compressor": None, "filters": None, "fill_value": FILL, "order": "C"}
    rule = {
        "key": "a/{{i}}.0",
        "url": "{{u}}",
        "offset": f"{{{{i * {SPACING}}}}}",
        "length": str(2 * LENGTH),
        "dimensions": {"i": {"stop": CHUNKS}},
    }
    refs = {".zgroup": '{"zarr_format": 2}', "a/.zarray": json.dumps(array)}
    refs["a/.zattrs"] = json.dumps({"_FillValue": FILL})
    path = tmp_path / "document.json"
    text = {"version": 1, "templates": {"u": server.url("/data.bin")}, "gen": [rule], "refs": refs}
    path.write_text(json.dumps(text))
    return path


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command in this process: to start one takes longer than what most tests ask for."""
    command = [*map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(command)
    return subprocess.CompletedProcess(command, code, *(each.buffer.getvalue() for each in (out, err)))


def output(*arguments: str | Path) -> bytes:
    """Run a command that succeeds without a word on standard error."""
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout


def refused(code: int, *arguments: str | Path) -> str:
    """Run a command that fails: nothing on standard output, one line on standard error; return its kind."""
    done = run(*arguments)
    line = ERROR.fullmatch(done.stderr.decode())
    assert line, done.stderr
    assert (done.returncode, done.stdout) == (code, b"")
    return line[1]


def test_what_needs_no_data_asks_for_none(document: Path, server: HttpServer) -> None:
    shown = json.loads(output("info", document, "--json"))
    assert shown["arrays"]["/a"]["stored_chunks"] == CHUNKS
    assert json.loads(output("check", document, "--json"))["faults"] == []
    plan = json.loads(output("plan", document, "a", "--json", "--allow", server.origin))
    assert plan["chunks"] == CHUNKS
    assert plan["useful_bytes"] == 2 * LENGTH * CHUNKS
    rows = json.loads(output("expand", document, "--json", "--key", "a/5.0"))
    assert rows["items"][0][2] == [server.url("/data.bin"), 5 * SPACING, 2 * LENGTH]
    assert server.requests == []


def test_nothing_is_read_without_permission(document: Path, server: HttpServer, tmp_path: Path) -> None:
    assert refused(3, "read", document, "a") == "E_BLOCKED"
    assert refused(3, "cat", document, "a/0.0") == "E_BLOCKED"
    assert refused(3, "read", document, "a", "--allow", f"http://127.0.0.1:{server.port + 1}") == "E_BLOCKED"
    target = tmp_path / "out.zarr"
    assert refused(3, "export", document, target, "--to", "zarr-v3") == "E_BLOCKED"
    assert not target.exists()
    assert server.requests == []


def test_read_and_cat_ask_for_what_they_need(document: Path, server: HttpServer, values: np.ndarray) -> None:
    allow = ("--allow", server.origin)
    whole = np.load(io.BytesIO(output("read", document, "a", *allow)), allow_pickle=False)
    np.testing.assert_array_equal(whole, values)
    assert server.bytes_sent < 4 * whole.nbytes
    server.clear()
    assert output("cat", document, "a/3.0", *allow) == values[3].tobytes()
    assert [request.range for request in server.requests if request.method == "GET"] == [
        (3 * SPACING, 3 * SPACING + 2 * LENGTH - 1)
    ]
    server.clear()
    some = json.loads(output("read", document, "a", "--select", "-1,:3", "--json", *allow))
    assert some == values[-1, :3].tolist()
    assert len(server.requests) == 1


def test_export_over_http_is_verified(document: Path, server: HttpServer, values: np.ndarray) -> None:
    import zarr

    target = document.parent / "out.zarr"
    done = run("export", document, target, "--to", "zarr-v3", "--allow", server.origin)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(zarr.open_array(target / "a", mode="r")[...], values)
    assert refused(7, "export", document, target, "--to", "zarr-v3", "--allow", server.origin) == "E_IO"


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", value=503, times=2),
        pytest.param(Fault("reset", value=300, times=1), marks=pytest.mark.long),
        Fault("truncate", value=300),
        pytest.param(Fault("close", times=1), marks=pytest.mark.long),
        Fault("etag", value='"a mirror"', after=2),
    ],
    ids=[
        "503 twice",
        "reset once",
        "always truncated, but never at the same place",
        "closed once",
        "another ETag",
    ],
)
def test_values_come_in_spite_of(
    fault: Fault, document: Path, server: HttpServer, values: np.ndarray
) -> None:
    server.faults["/data.bin"] = fault
    done = run("read", document, "a", "--allow", server.origin)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(io.BytesIO(done.stdout), allow_pickle=False), values)
    assert server.request_count >= CHUNKS
    assert all(line.startswith("refbrowser: warning[") for line in done.stderr.decode().splitlines())


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        pytest.param(Fault("status", value=404), {"E_SOURCE", "E_RANGE"}, marks=pytest.mark.long),
        (Fault("ignore_ranges"), {"E_SOURCE", "E_RANGE"}),
        pytest.param(Fault("truncate", value=100), {"E_SOURCE", "E_RANGE"}, marks=pytest.mark.long),
        pytest.param(Fault("shift", value=2), {"E_RANGE", "E_SOURCE"}, marks=pytest.mark.long),
        (Fault("content_range", value="bytes 0-999/1000"), {"E_RANGE", "E_SOURCE"}),
        (Fault("total", value=CHUNKS * SPACING + 1, after=2), {"E_SOURCE"}),
        (Fault("encoding", value="gzip"), {"E_SOURCE", "E_RANGE"}),
        pytest.param(Fault("garbage"), {"E_SOURCE"}, marks=pytest.mark.long),
        (Fault("redirect", value="http://127.0.0.2:1/x"), {"E_BLOCKED", "E_SOURCE"}),
        pytest.param(Fault("stall", value=300), {"E_SOURCE"}, marks=pytest.mark.long),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_wrong_answers_are_one_line_and_no_data(
    fault: Fault, kinds: set[str], document: Path, server: HttpServer, tmp_path: Path
) -> None:
    server.faults["/data.bin"] = fault
    target = tmp_path / "values.npy"
    allow: Any = ("--allow", server.origin)
    done = run("read", document, "a", "-o", target, *allow)
    line = ERROR.fullmatch(done.stderr.decode())
    assert line, done.stderr
    assert line[1] in kinds
    assert done.returncode == (3 if line[1] == "E_BLOCKED" else 4)
    assert (done.stdout, target.exists()) == (b"", False)
    assert "a/" in done.stderr.decode(), "the line names the chunk"
