"""Datasets of services: recorded answers, our own server, and servers that lie, fail or hang."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_encoder as wire
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.cli import main
from refbrowser.engine.jobs import JobControl
from refbrowser.engine.opening import OpenRequest, open_document
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.io.origins import Origin
from refbrowser.wings.ncstream.remote import answers as sources
from refbrowser.wings.ncstream.remote import opening
from refbrowser.wings.ncstream.stream_limits import STREAM_LIMITS

N = 6
HEADER = wire.header(
    wire.group(
        dimensions=[wire.dimension("n", N), wire.dimension("k", 3), wire.dimension("m", 40_000)],
        variables=[
            wire.variable("x", wire.INT, [wire.dimension("n", N)]),
            wire.variable("big", wire.SHORT, [wire.dimension("n", N), wire.dimension("m", 40_000)]),
            wire.variable("t.i(m),e", wire.INT, [wire.dimension("n", N)]),
            wire.variable("now", wire.INT, [wire.dimension("k", 3)], immediate=wire.numbers("i", [7, 8, 9])),
        ],
        attributes=[wire.text_attribute("title", "a service")],
    ),
    version=1,
)
X = "/s?req=data&var=/x"


def ints(name: str, ranges: list[wire.Range], values: Any, kind: int = wire.INT, letter: str = "i") -> bytes:
    body = wire.data_body(name, kind, ranges, bigend=True, version=2)
    return wire.data(body, wire.regular(wire.numbers(letter, values)))


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer({"/s?req=header": HEADER, X: ints("x", [(0, N, 1)], range(N))}) as running:
        yield running


def queries(server: HttpServer) -> list[str]:
    return [each.path.partition("?")[2] for each in server.requests]


def test_opening_asks_for_the_description_and_nothing_else(server: HttpServer) -> None:
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert (dataset.format, dict(dataset.attrs)) == ("cdmremote", {"title": "a service"})
        assert list(dataset.arrays) == ["/x", "/big", "/t.i(m),e", "/now"]
        assert dataset["/big"].dimensions == ("n", "m")
        assert not dataset.document.notes
        assert not dataset.hierarchy.findings
        assert dataset["/now"][:].tolist() == [7, 8, 9]
        assert queries(server) == ["req=header"]
        assert dataset["/x"][1:4].tolist() == [1, 2, 3]
        assert dataset["/x"][5] == 5
        # All of a small variable is asked for, once.
        assert queries(server)[1:] == ["req=data&var=/x"]


@pytest.mark.parametrize(
    "spelling",
    [
        "cdmremote:{}/s",
        "CDMREMOTE:{}/s",
        "{}/s",
        "cdmremote:{}/s?req=header",
        "cdmremote:{}/s?req=data&var=/x",
    ],
)
def test_every_spelling_of_a_service(server: HttpServer, spelling: str) -> None:
    with refbrowser.open(spelling.format(server.origin)) as dataset:
        assert dataset["/x"][:].tolist() == list(range(N))
    with refbrowser.open(f"cdmremote://{server.origin.removeprefix('http://')}/s") as dataset:
        assert dataset.format == "cdmremote"


def test_a_url_spelled_as_servers_do_is_asked_at_once() -> None:
    path = "/thredds/cdmremote/a/b.nc"
    with HttpServer({f"{path}?req=header": HEADER}) as server, refbrowser.open(server.url(path)) as dataset:
        assert dataset.format == "cdmremote"
        assert server.request_count == 1


def test_a_url_that_is_nothing_keeps_its_error(server: HttpServer) -> None:
    server.files["/text"] = b"hello"
    for path in ("/none", "/text", "/cdmremote/none"):
        with pytest.raises(RefbrowserError) as caught:
            refbrowser.open(server.url(path))
        assert "req=header" not in str(caught.value), path
    server.files["/text?req=header"] = b"<html>no such thing</html>"
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(f"cdmremote:{server.url('/text')}")
    assert caught.value.kind is ErrorKind.FORMAT


def test_only_what_is_wanted_of_a_large_variable_is_asked_for(server: HttpServer) -> None:
    server.files["/s?req=data&var=/big(1:5:2,39997:39999)"] = ints(
        "big", [(1, 3, 2), (39997, 3, 1)], range(9), wire.SHORT, "h"
    )
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert dataset["/big"][1::2, -3:].tolist() == np.arange(9).reshape(3, 3).tolist()
        assert dataset["/big"][1::2, -3:].tolist() == np.arange(9).reshape(3, 3).tolist()
    assert len(queries(server)) == 2


def test_tiles_are_bounded(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "STREAM_LIMITS", replace(STREAM_LIMITS, remote_tile=160_000))
    monkeypatch.setattr(sources, "_WHOLE", 1)
    for first in (0, 2, 4):
        server.files[f"/s?req=data&var=/big({first}:{first + 1},0:39999:39999)"] = ints(
            "big", [(first, 2, 1), (0, 2, 39999)], [first] * 4, wire.SHORT, "h"
        )
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert dataset["/big"].chunks == (2, 40_000)
        assert dataset["/big"][:, ::39999].tolist() == [[at - at % 2] * 2 for at in range(N)]


def test_names_are_escaped(server: HttpServer) -> None:
    name = "t.i(m),e"
    server.files[r"/s?req=data&var=/t%5C.i%5C(m%5C)%5C,e"] = ints(r"t\.i(m),e", [(0, N, 1)], range(N))
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert dataset[f"/{name}"][:].tolist() == list(range(N))


@pytest.mark.parametrize(
    "fault",
    [Fault("chunked"), Fault("no_length"), Fault("status", 503, times=2), Fault("truncate", 20, times=1)],
    ids=lambda fault: fault.kind,
)
def test_answers_in_any_form_and_after_failures(server: HttpServer, fault: Fault) -> None:
    server.faults[X] = fault
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert dataset["/x"][:].tolist() == list(range(N))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", 400), ErrorKind.SOURCE),
        (Fault("status", 404), ErrorKind.SOURCE),
        (Fault("encoding", "gzip"), ErrorKind.SOURCE),
        (Fault("garbage"), ErrorKind.SOURCE),
        (Fault("redirect", "http://192.0.2.1/x"), ErrorKind.BLOCKED),
    ],
    ids=lambda value: getattr(value, "kind", value),
)
def test_failures_are_told_and_cost_one_variable(server: HttpServer, fault: Fault, kind: ErrorKind) -> None:
    server.faults[X] = fault
    server.files["/s?req=data&var=/t%5C.i%5C(m%5C)%5C,e"] = ints(r"t\.i(m),e", [(0, N, 1)], range(N))
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        with pytest.raises(RefbrowserError) as caught:
            dataset["/x"][:]
        assert caught.value.kind is kind
        assert "req=data&var=/x" in str(caught.value)
        assert dataset["/t.i(m),e"][2] == 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEADER,
        wire.error("the file was removed"),
        ints("x", [(0, N, 1)], range(N))[:-2],
        ints("x", [(1, N, 1)], range(N)),
        ints("now", [(0, 3, 1)], range(3)),
        ints("x", [(0, N - 1, 1)], range(N - 1)),
        ints("x", [(0, N, 1)], range(N)) * 2,
    ],
)
def test_answers_that_are_not_what_was_asked_for_are_no_values(server: HttpServer, data: bytes) -> None:
    server.files[X] = data
    with (
        refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset,
        pytest.raises(RefbrowserError) as caught,
    ):
        dataset["/x"][:]
    assert "/x" in str(caught.value)


def test_a_description_of_too_many_bytes(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "STREAM_LIMITS", replace(STREAM_LIMITS, remote_header=len(HEADER) - 1))
    with pytest.raises(RefbrowserError) as caught:
        refbrowser.open(f"cdmremote:{server.url('/s')}")
    assert caught.value.kind is ErrorKind.BUDGET


def test_reading_and_opening_can_be_cancelled(server: HttpServer) -> None:
    token = CancelToken()
    with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        server.faults[X] = Fault("silent")
        threading.Timer(0.2, token.cancel).start()
        array = dataset["/x"]
        with pytest.raises(Cancelled):
            array.read(array.selection(":"), JobControl(token))
    server.faults["/s?req=header"] = Fault("silent")
    token = CancelToken()
    threading.Timer(0.2, token.cancel).start()
    with pytest.raises(Cancelled):
        open_document(OpenRequest(f"cdmremote:{server.url('/s')}"), JobControl(token))


def test_it_may_read_from_its_own_origin_only(server: HttpServer) -> None:
    opened = open_document(OpenRequest(f"cdmremote:{server.url('/s')}"))
    assert opened.access.allowed == {Origin.parse(server.origin)}
    assert opened.identity is None


@pytest.mark.parametrize(
    ("name", "path", "spec", "expected"),
    [
        ("tst_vl", "/var", "/var", [[-99], [-99, -99], [-99, -99, -99]]),
        ("ref_tst_compounds", "/obs", "/obs", [[15, 2, 1], [-99, -99, -99], [20, 6, 3]]),
    ],
)
def test_recorded_datasets(shared_data: Path, name: str, path: str, spec: str, expected: Any) -> None:
    folder = shared_data / "ncstream"
    files = {
        "/s?req=header": (folder / f"{name}.header.bin").read_bytes(),
        f"/s?req=data&var={spec}": (folder / f"{name}.data.bin").read_bytes(),
    }
    with HttpServer(files) as server, refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        values = dataset[path][:]
        assert [list(row)[:3] for row in values.tolist()] == expected


def test_a_recorded_dataset_of_a_newer_server(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / "ncstream"
    files = {
        "/s?req=header": (folder / "nc4_sfc_pres_temp.header.bin").read_bytes(),
        "/s?req=data&var=/temperature": (folder / "nc4_sfc_pres_temp.data.bin").read_bytes(),
    }
    with HttpServer(files) as server:
        path = f"cdmremote:{server.url('/s')}"
        assert main(["read", path, "/temperature", "--select", "1,:4", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [9.25, 10.75, 12.25, 13.75]
        assert main(["read", path, "/latitude", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [25, 30, 35, 40, 45, 50]
        assert main(["info", path, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["format"] == "cdmremote"
        assert shown["arrays"]["/temperature"]["missing_chunks"] is None
        assert main(["cdl", path]) == 0
        assert "float temperature(latitude, longitude) ;" in capsys.readouterr().out


def test_a_part_of_ragged_rows_is_asked_for_with_all_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_WHOLE", 1)
    root = wire.group(
        dimensions=[wire.dimension("n", 4)],
        variables=[wire.variable("v", wire.INT, [wire.dimension("n", 4), wire.VLEN])],
    )
    body = wire.data_body("v", wire.INT, [(1, 2, 1), (None, wire.NO_LENGTH, None)], bigend=True, vdata=True)
    rows = wire.data(body, wire.objects([wire.numbers("i", [1, 2]), b""]))
    with (
        HttpServer({"/s?req=header": wire.header(root), "/s?req=data&var=/v(1:2,:)": rows}) as server,
        refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset,
    ):
        assert [row.tolist() for row in dataset["/v"][1:3]] == [[1, 2], []]


def test_elements_are_explained_by_what_is_asked_for(
    server: HttpServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"cdmremote:{server.url('/s')}"
    server.files["/s?req=data&var=/big(2:2,39999:39999)"] = ints(
        "big", [(2, 1, 1), (39999, 1, 1)], [77], wire.SHORT, "h"
    )
    for array, index, value in (("/x", "3", "3"), ("/big", "2,39999", "77"), ("/now", "1", "8")):
        assert main(["explain", path, "--array", array, "--index", index]) == 0
        assert value in capsys.readouterr().out.splitlines()[0], array
    assert main(["cat", path, "messages/0"]) == 2
    assert "no key" in capsys.readouterr().err
    assert main(["plan", path, "/big", "--select", "2,-1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["requests"] == [[server.url("/s?req=data&var=/big(2:2,39999:39999)"), 0, None]]
