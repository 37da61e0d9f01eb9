"""Sequences of services: asked for when the dataset is opened, because only their data tell their rows."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import stream_encoder as wire
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.errors import RefbrowserError
from refbrowser.model.data_type import SequenceType
from refbrowser.wings.ncstream.serving.service import Service

MEMBERS = [wire.variable("a", wire.INT), wire.variable("w", wire.STRING)]
HEADER = wire.header(
    wire.group(
        dimensions=[wire.dimension("n", 2)],
        variables=[wire.variable("x", wire.INT, [wire.dimension("n", 2)])],
        structures=[wire.structure("s", wire.SEQUENCE, variables=MEMBERS)],
    )
)


def rows(*values: int) -> bytes:
    packed = b"".join(struct.pack(">ii", value, at) for at, value in enumerate(values))
    return wire.structure_body(packed, heap=[[str(value)] for value in values], count=len(values))


def answer(*bodies: bytes) -> bytes:
    return wire.data(wire.data_body("s", wire.SEQUENCE, bigend=True), wire.sequence(bodies))


def files(data: bytes) -> dict[str, bytes]:
    x = wire.data(
        wire.data_body("x", wire.INT, [(0, 2, 1)], bigend=True), wire.regular(wire.numbers("i", [5, 6]))
    )
    return {"/s?req=header": HEADER, "/s?req=data&var=/s": data, "/s?req=data&var=/x": x}


@pytest.mark.parametrize("bodies", [[rows(1), rows(2), rows(3)], [rows(1, 2), rows(3)]])
def test_rows_of_a_sequence(bodies: list[bytes]) -> None:
    with HttpServer(files(answer(*bodies))) as server:
        with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
            assert dataset["/s"].shape == (3,)
            assert isinstance(dataset["/s"].node.type, SequenceType)
            assert dataset["/s"][:].tolist() == [(1, "1"), (2, "2"), (3, "3")]
            assert dataset["/s"][::-2].tolist() == [(3, "3"), (1, "1")]
            assert dataset["/s"][1].tolist() == (2, "2")
        assert [each.path for each in server.requests] == ["/s?req=header", "/s?req=data&var=/s"]


def test_a_sequence_without_rows() -> None:
    with HttpServer(files(answer())) as server, refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert dataset["/s"].shape == (0,)
        assert len(dataset["/s"][:]) == 0


@pytest.mark.parametrize("data", [b"", answer(rows(1))[:-6], wire.error("no")])
def test_a_sequence_that_cannot_be_had_costs_itself_only(data: bytes) -> None:
    with HttpServer(files(data)) as server, refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
        assert dataset.hierarchy.findings
        with pytest.raises(RefbrowserError):
            dataset["/s"][:]
        assert dataset["/x"][:].tolist() == [5, 6]


def test_a_service_that_refuses_a_sequence() -> None:
    with HttpServer(files(b"")) as server:
        server.faults["/s?req=data&var=/s"] = Fault("status", 404)
        with refbrowser.open(f"cdmremote:{server.url('/s')}") as dataset:
            assert dataset["/x"][1] == 6
            with pytest.raises(RefbrowserError, match="404"):
                dataset["/s"][:]


def test_a_served_sequence_is_a_structure(tmp_path: Path) -> None:
    path = tmp_path / "s.ncs"
    path.write_bytes(wire.stream(HEADER, answer(rows(1, 2))))
    with (
        refbrowser.open(path) as dataset,
        Service(dataset) as service,
        refbrowser.open(service.url) as remote,
    ):
        assert not isinstance(remote["/s"].node.type, SequenceType)
        assert remote["/s"][:].tolist() == dataset["/s"][:].tolist() == [(1, "1"), (2, "2")]
