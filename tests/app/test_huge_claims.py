"""Documents that claim to be huge, or that lie about what is in them: the window stays quick and whole."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deep import some
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]
#: Seconds that a whole visit takes at most on a busy machine; without limits it would take hours.
MOST = 60.0
#: What is tried with each array.
VISITED = (
    *("explain", "toggle_series", "series_here", "toggle_profile", "toggle_histogram", "toggle_log"),
    *("play", "play", "copy_python", "copy_xarray", "copy_values", "look_again", "go_to_key", "export_view"),
)


def array(shape: list[int], chunks: list[int], dtype: Any = "|u1", **more: Any) -> dict[str, Any]:
    made = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": 0, "order": "C"}
    return {**made, "compressor": None, "filters": None, **more}


def small(attributes: dict[str, Any], dtype: str = "|u1", size: int = 12) -> dict[str, Any]:
    """Return the references of an array of 3 by 4 whose values are there."""
    return {
        "a/.zarray": json.dumps(array([3, 4], [3, 4], dtype)),
        "a/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["y", "x"], **attributes}),
        "a/0.0": "base64:" + "AAEC" * (size // 3),
    }


def coordinates(shape: list[int], **attributes: Any) -> dict[str, Any]:
    """Return an array with two coordinates of a shape that does not fit it, or with such attributes."""
    names = ["y", "x"][: len(shape)] + [f"z{n}" for n in range(len(shape) - 2)]
    refs = small({"coordinates": "lat lon"})
    for name, standard in (("lat", "latitude"), ("lon", "longitude")):
        refs[f"{name}/.zarray"] = json.dumps(array(shape, [min(side, 4) or 1 for side in shape]))
        refs[f"{name}/.zattrs"] = json.dumps(
            {"_ARRAY_DIMENSIONS": names, "standard_name": standard, "units": "degrees_north", **attributes}
        )
        refs[f"{name}/" + ".".join("0" * len(shape) or "0")] = "base64:AAEC"
    return refs


HUGE = 10**12
#: The references of each document, made when they are wanted.
CLAIMS: dict[str, Callable[[], dict[str, Any]]] = {
    "shape of 10^12": lambda: {"a/.zarray": json.dumps(array([HUGE], [HUGE]))},
    "10^12 chunks": lambda: {"a/.zarray": json.dumps(array([HUGE], [1]))},
    "10^12 squared": lambda: {"a/.zarray": json.dumps(array([HUGE, 10**6], [1, 1]))},
    "chunk of 10^18": lambda: {"a/.zarray": json.dumps(array([10**9, 10**9], [10**9, 10**9])), "a/0.0": "x"},
    "no length": lambda: {"a/.zarray": json.dumps(array([0, HUGE], [1, 1]))},
    "32 dimensions": lambda: {"a/.zarray": json.dumps(array([4] * 32, [1] * 32))},
    "names of dimensions": lambda: small({"_ARRAY_DIMENSIONS": [f"d{n}" for n in range(200_000)]}),
    "attributes of 10 MB": lambda: small({"text": "w" * 10_000_000}),
    "10^5 attributes": lambda: small({f"n{n}": n for n in range(100_000)}),
    "an attribute of 200,000 numbers": lambda: small({"list": list(range(200_000))}),
    "10^5 flags": lambda: small(
        {"flag_values": list(range(100_000)), "flag_meanings": " ".join(f"m{n}" for n in range(100_000))}
    ),
    "flags that do not fit": lambda: small(
        {"flag_values": [0, 0, "x", None], "flag_masks": [0], "flag_meanings": 5}
    ),
    "scale of 0": lambda: small({"scale_factor": 0, "add_offset": "x"}),
    "scale of NaN": lambda: small({"scale_factor": float("nan"), "add_offset": float("inf")}),
    "negative scale": lambda: small({"scale_factor": -1e308, "add_offset": 1e308, "valid_range": [9, -9]}),
    "scale too long": lambda: small({"scale_factor": [1, 2, 3], "_FillValue": [1, 2], "valid_min": {}}),
    "10^5 missing values": lambda: small({"missing_value": list(range(100_000)), "valid_range": [1]}),
    "unknown calendar": lambda: small({"units": "days since 2000-01-01", "calendar": "no such"}),
    "far dates": lambda: small({"units": "years since 999999999-01-01", "scale_factor": 1e300}),
    "no date": lambda: small({"units": "days since " + "9" * 100_000, "calendar": ["x"]}),
    "hostile units": lambda: small({"units": {"a": [1]}, "long_name": 5, "standard_name": None}),
    "deep attribute": lambda: {
        **small({}),
        "a/.zattrs": '{"x": ' + "[" * 150 + "]" * 150 + "}",
        "b/.zattrs": "[" * 100_000,
    },
    "coordinates of another shape": lambda: coordinates([4, 3]),
    "coordinates of 3 dimensions": lambda: coordinates([3, 4, 2]),
    "huge coordinates": lambda: coordinates([HUGE, HUGE]),
    "coordinates that lie": lambda: coordinates([3, 4]),
    "scalar coordinates": lambda: coordinates([]),
    "10^5 coordinates": lambda: small({"coordinates": " ".join(f"c{n}" for n in range(100_000))}),
    "own coordinate": lambda: small({"coordinates": "a a a", "bounds": "a", "ancillary_variables": "a"}),
    "a dimension of 10^12": lambda: {
        "y/.zarray": json.dumps(array([HUGE], [1000], "<f8")),
        "y/.zattrs": '{"_ARRAY_DIMENSIONS": ["y"]}',
        "a/.zarray": json.dumps(array([HUGE, 4], [1000, 4])),
        "a/.zattrs": '{"_ARRAY_DIMENSIONS": ["y", "x"]}',
    },
    "text of 10^6 bytes": lambda: {"a/.zarray": json.dumps(array([4], [4], "|S1000000"))},
    "10^4 fields": lambda: {
        "a/.zarray": json.dumps(array([4], [4], [[f"f{n}", "|u1"] for n in range(10_000)]))
    },
    "far away": lambda: {
        "a/.zarray": json.dumps(array([9, 9], [3, 3])),
        "a/0.0": ["https://zqx.example/x", 0, 9],
    },
    "on this machine": lambda: {
        "a/.zarray": json.dumps(array([9, 9], [3, 3])),
        "a/0.0": ["http://127.0.0.1:1/x", 0, 9],
    },
}


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Let no socket be connected and no name be looked up; who tries is in the list."""
    tried: list[object] = []

    def refuse(*arguments: object, **_named: object) -> None:
        tried.append(arguments)
        raise OSError("no network in this test")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "create_connection", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)
    return tried


def visit(window: MainWindow, document: OpenDocument, settle: Settle, qtbot: QtBot) -> None:
    """Select the first arrays, which differ, and look at each in every way."""
    assert document.hierarchy is not None
    arrays = [node.path for node in document.hierarchy.walk() if hasattr(node, "dtype")][:2]
    for path in arrays:
        window.hierarchy.select_node(document, path)
        settle()
        for name in ("chunkMapDock", "explainDock", "attributesDock", "problemsDock"):
            window.docks.raise_(name)
            settle()
        for tab in range(4):
            window.centre.tabs.setCurrentIndex(tab)
            settle()
        window.centre.tabs.setCurrentIndex(0)
        for name in VISITED:
            if window.actions_[name].isEnabled():
                window.actions_[name].trigger()
                qtbot.wait(20)
                for dialog in QApplication.topLevelWidgets():
                    if isinstance(dialog, QDialog):
                        dialog.close()
        settle()


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("claim", some(tuple(CLAIMS), 4))
def test_claims(
    window: MainWindow,
    opened: Open,
    settle: Settle,
    qtbot: QtBot,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    no_network: list[object],
    claim: str,
) -> None:
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"version": 1, "refs": {".zgroup": '{"zarr_format": 2}', **CLAIMS[claim]()}}))
    start = time.monotonic()
    visit(window, opened(path), settle, qtbot)
    assert time.monotonic() - start < MOST
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert no_network == []
