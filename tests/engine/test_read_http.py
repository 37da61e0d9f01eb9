"""Reading over HTTP: what a server does wrong costs the chunks that it concerns."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import numcodecs
import numpy as np
import pytest
from documents_made import DocumentMaker
from servers.http_server import Fault, HttpServer

import refbrowser
from refbrowser.engine.reading.parts import EndedPart, PartState
from refbrowser.errors import ErrorKind, RefbrowserError
from refbrowser.io.cancel import Cancelled, CancelToken
from refbrowser.model.selection import Selection


@pytest.fixture
def served(tmp_path: Path):
    """An array of 20 chunks in a file on a server, and a document that points there."""
    values = np.random.default_rng(0).integers(0, 99, (20, 1000)).astype("<i2")
    maker = DocumentMaker(tmp_path)
    maker.array("a", values, (1, 1000), compressors=numcodecs.Zlib(1))
    document = maker.write()
    with HttpServer({"/data.bin": (tmp_path / "data.bin").read_bytes()}) as server:
        text = json.loads(document.read_text())
        for value in text["refs"].values():
            if isinstance(value, list):
                value[0] = server.url("/data.bin")
        document.write_text(json.dumps(text))
        with refbrowser.open(document, allow=[server.origin]) as dataset:
            yield server, dataset, values


def pieces_of(dataset: refbrowser.Dataset) -> tuple[np.ndarray, dict[int, EndedPart]]:
    array = dataset["a"]
    out = np.zeros(array.shape, "<i2")
    pieces: dict[int, EndedPart] = {}
    dataset.session.read(
        array.node,
        dataset.access,
        Selection.whole(array.shape),
        out=out,
        on_part=lambda piece: pieces.update({piece.part.coords[0]: piece}),
    )
    return out, pieces


@pytest.mark.parametrize(
    "fault",
    [
        None,
        Fault("status", value=503, times=2),
        Fault("reset", value=3000, times=1),
        Fault("truncate", value=2000, times=1),
        Fault("ignore_ranges"),
    ],
    ids=lambda fault: "none" if fault is None else fault.kind,
)
def test_values_come_whole(served, fault: Fault | None) -> None:
    server, dataset, values = served
    if fault is not None:
        server.faults["/data.bin"] = fault
    np.testing.assert_array_equal(dataset["a"][...], values)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("status", value=404), ErrorKind.SOURCE),
        (Fault("content_range", value="bytes 0-9/10"), ErrorKind.RANGE),
        (Fault("shift", value=1), ErrorKind.RANGE),
    ],
    ids=["404", "content_range", "shift"],
)
def test_wrong_answers_are_errors_and_never_fill(served, fault: Fault, kind: ErrorKind) -> None:
    server, dataset, _ = served
    server.faults["/data.bin"] = fault
    with pytest.raises(RefbrowserError) as caught:
        dataset["a"][...]
    assert caught.value.kind in (kind, ErrorKind.SOURCE, ErrorKind.RANGE)
    assert caught.value.place.key.startswith("a/")
    assert caught.value.place.url == server.url("/data.bin")
    out, pieces = pieces_of(dataset)
    assert {piece.state for piece in pieces.values()} == {PartState.FAILED}
    assert len(pieces) == 20
    del out


def test_a_file_cut_short_costs_only_the_chunks_at_its_end(served) -> None:
    server, dataset, values = served
    columns = dataset["a"].node.manifest.columns(np.array([[row, 0] for row in range(20)]))
    stops = columns.offset + columns.length
    cut = int(np.sort(stops)[10]) - 5
    server.files["/data.bin"] = server.files["/data.bin"][:cut]
    out, pieces = pieces_of(dataset)
    lost = np.flatnonzero(stops > cut).tolist()
    assert len(lost) == 10
    assert sorted(row for row, piece in pieces.items() if piece.state is PartState.FAILED) == lost
    assert {pieces[row].error.kind for row in lost} == {ErrorKind.RANGE}
    kept = np.setdiff1d(np.arange(20), lost)
    np.testing.assert_array_equal(out[kept], values[kept])


def test_a_changed_object_is_told(served) -> None:
    server, dataset, values = served
    np.testing.assert_array_equal(dataset["a"][0], values[0])
    server.files["/data.bin"] = server.files["/data.bin"] + b"more"
    server.faults["/data.bin"] = Fault("etag", value='"other"')
    with pytest.raises(RefbrowserError, match="changed"):
        dataset["a"][5]
    assert dataset["a"][0].tolist() == values[0].tolist(), "what was read before is still there"


def test_a_cancelled_read_of_a_stalled_server_does_not_wait_for_it(served) -> None:
    server, dataset, _ = served
    server.faults["/data.bin"] = Fault("stall", value=100)
    array, token = dataset["a"], CancelToken()
    began = []

    def cancel() -> None:
        time.sleep(0.3)
        began.append(time.monotonic())
        token.cancel()

    threading.Thread(target=cancel).start()
    with pytest.raises(Cancelled):
        dataset.session.read(array.node, dataset.access, Selection.whole(array.shape), cancel=token)
    assert time.monotonic() - began[0] < 3
    del server.faults["/data.bin"]
    assert array[3].shape == (1000,)


def test_only_what_was_allowed_is_asked(served, tmp_path: Path) -> None:
    server, dataset, _ = served
    with refbrowser.open(dataset.path) as stranger:
        with pytest.raises(RefbrowserError) as caught:
            stranger["a"][0]
        assert caught.value.kind is ErrorKind.BLOCKED
        assert server.origin in caught.value.advice
    assert server.requests == []


def test_a_document_on_a_server_reads_beside_itself_and_no_local_files(tmp_path: Path) -> None:
    maker = DocumentMaker(tmp_path)
    values = np.arange(30, dtype="<i4").reshape(5, 6)
    maker.array("a", values, (2, 6), compressors=numcodecs.Zlib(1))
    maker.array("b", values, (5, 6), compressors=None)
    text = json.loads(maker.write().read_text())
    text["refs"]["b/0.0"][0] = "/etc/hostname"
    files = {"/x/d.json": json.dumps(text).encode(), "/x/data.bin": (tmp_path / "data.bin").read_bytes()}
    with HttpServer(files) as server, refbrowser.open(server.url("/x/d.json")) as dataset:
        np.testing.assert_array_equal(dataset["a"][...], values)
        with pytest.raises(RefbrowserError) as caught:
            dataset["b"][...]
        assert caught.value.kind is ErrorKind.UNSAFE
        report = refbrowser.export(dataset, tmp_path / "out.json", format="refs-v0", arrays=["a"])
        assert any("absolute" in loss.what for loss in report.losses)
        with refbrowser.open(tmp_path / "out.json", allow=[server.origin]) as local:
            np.testing.assert_array_equal(local["a"][...], values)
        with pytest.raises(RefbrowserError):
            refbrowser.open(server.url("/x/absent.json"))
