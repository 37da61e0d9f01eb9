"""A document with chunks of every kind, and what tests do with the chunk map of the window that shows it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.chunk_map_pane import ChunkMapPane
from refbrowser.app.panes.chunk_map_view import ChunkMapView
from refbrowser.app.shell.main_window import MainWindow

SHAPE, CHUNKS = (4, 40, 60), (1, 10, 20)
MISSING, INLINE, GONE = (1, 2, 0), (2, 0, 0), (3, 3, 0)


def metadata(shape: Sequence[int], chunks: Sequence[int]) -> str:
    return json.dumps(
        {
            "zarr_format": 2,
            "shape": list(shape),
            "chunks": list(chunks),
            "dtype": "<i2",
            "compressor": None,
            "filters": None,
            "fill_value": -1,
            "order": "C",
        }
    )


def write_document(folder: Path) -> Path:
    """Write ``/field`` of 4 x 4 x 3 chunks, ``/line`` of 120, ``/point`` of one, and arrays without any."""
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    refs["field/.zarray"] = metadata(SHAPE, CHUNKS)
    refs["field/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["time", "y", "x"]}'
    refs["line/.zarray"] = metadata([480], [4])
    refs["line/.zattrs"] = '{"_ARRAY_DIMENSIONS": ["time"]}'
    refs["point/.zarray"] = metadata([], [])
    refs["none/.zarray"] = metadata([0, 4], [1, 4])
    refs["bad/.zarray"] = '{"zarr_format": 2, "shape": "?"}'
    data = bytearray()
    for coords in np.ndindex(4, 4, 3):
        key, chunk = "field/" + ".".join(map(str, coords)), np.full(200, sum(coords), "<i2").tobytes()
        if coords == INLINE:
            refs[key] = "base64:" + base64.b64encode(chunk).decode()
        elif coords == GONE:
            refs[key] = ["gone.bin", 0, 400]
        elif coords != MISSING:
            refs[key] = ["field.bin", len(data), 400]
            data += chunk
    (folder / "field.bin").write_bytes(data)
    (folder / "line.bin").write_bytes(bytes(960))
    for number in range(120):
        refs[f"line/{number}"] = ["line.bin", number * 8, 8]
    refs["point/0"] = ["line.bin", 0, 2]
    path = folder / "map.json"
    path.write_text(json.dumps({"version": 1, "refs": refs}))
    return path


class Mapped(SimpleNamespace):
    """A window whose chunk map is in front."""

    window: MainWindow
    document: OpenDocument
    pane: ChunkMapPane
    settle: Callable[[], None]
    qtbot: QtBot

    @property
    def view(self) -> ChunkMapView:
        return self.pane.view

    def show(self, path: str) -> None:
        """Select an array in the tree."""
        assert self.window.hierarchy.select_node(self.document, path)
        self.wait()

    def wait(self) -> None:
        """Wait until the window, and the map, are at rest."""
        self.settle()
        self.qtbot.waitUntil(lambda: self.pane.is_settled() and not self.window.tasks.busy())

    def place(self, row: int, column: int) -> QPoint:
        """Return the middle of a cell in the view."""
        return self.view.centre_of(row, column).toPoint()

    def hover(self, row: int, column: int) -> str:
        """Point at a cell with the mouse; return what is said about its chunk."""
        self.qtbot.mouseMove(self.view, self.place(row, column))
        self.qtbot.waitUntil(lambda: self.pane.is_settled())
        return self.view.accessibleDescription()

    def click(self, row: int, column: int) -> None:
        """Click a cell."""
        self.qtbot.mouseClick(self.view, Qt.MouseButton.LeftButton, pos=self.place(row, column))
        self.wait()

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key in the map."""
        self.qtbot.keyClick(self.view, key, modifier)

    def wheel(self, row: int, column: int, notches: int) -> None:
        """Turn the wheel over a cell."""
        place = QPointF(self.place(row, column))
        event = QWheelEvent(
            place, self.view.mapToGlobal(place), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(self.view, event)

    def legend(self) -> dict[str, int]:
        """Return the entries of the legend with their counts, whether or not all have room."""
        shown = self.pane.view.coloured()
        assert shown is not None
        return {entry.label: entry.count for entry in shown.legend[1:] if entry.count}

    def button(self, name: str) -> QToolButton:
        found = self.window.findChild(QToolButton, name)
        assert found is not None, name
        return found
