"""The plot pane: drawing, and the event loop while 20,000 chunks arrive.

Files are local and read through the real engine; the window is off screen.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from documents import write_array
from PySide6.QtWidgets import QApplication
from report import figure, heading
from window import Gaps, wait

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.housekeeping import GarbageCollector
from refbrowser.app.shell.launch import SWITCH_INTERVAL
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.model.data_type import DataType
from refbrowser.model.values import Chunks

SIDE = 1000


def opened(tasks: Tasks, path: Path) -> OpenDocument:
    found = OpenDocument(str(path), tasks)
    found.open()
    wait(lambda: found.hierarchy is not None or found.error is not None)
    if found.error is not None:
        raise found.error
    return found


def drawing() -> None:
    """Ours (decimated positions in a colour table) against the library's own way with floats."""
    import pyqtgraph

    from refbrowser.app.plot.canvas import ImageLayer
    from refbrowser.app.plot.colours.colour_maps import table
    from refbrowser.model.grid import RegularChunkGrid
    from refbrowser.model.nodes import ArrayNode
    from refbrowser.views.plot.colouring import LevelColouring
    from refbrowser.views.plot.interpretation import Interpretation
    from refbrowser.views.plot.levels import Levels
    from refbrowser.views.plot.picture import ChunkState, Picture
    from refbrowser.views.plot.plan import plan_view
    from refbrowser.views.plot.slicing import SliceState

    for side in (1000, 4000):
        shape = (side, side)
        node = ArrayNode(
            path="/f",
            shape=shape,
            type=DataType.of(np.dtype("f4")),
            values=Chunks(grid=RegularChunkGrid(shape, shape)),
        )
        picture = Picture(node, plan_view(node, SliceState(shape, ("y", "x"), 1, 0, (0, 0))))
        picture.out[:] = np.random.default_rng(0).normal(size=shape)
        picture.states[:] = ChunkState.DONE
        shown, colouring = Interpretation(node, True), LevelColouring(Levels(-3, 3))
        view = ((-0.5, side - 0.5), (-0.5, side - 0.5), (1000, 1000))
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        window = pyqtgraph.PlotWidget()
        window.resize(1000, 1000)
        window.show()
        layer, plain = ImageLayer(0), pyqtgraph.ImageItem(axisOrder="row-major")
        for name, item in (("ours", layer.item), ("theirs", plain)):
            window.clear()
            window.addItem(item)
            window.getViewBox().setRange(xRange=(0, side), yRange=(0, side), padding=0)
            quiet = time.perf_counter() + 0.1
            wait(lambda quiet=quiet: time.perf_counter() > quiet)  # type: ignore[misc]
            for _ in range(12):
                start = time.perf_counter()
                if name == "ours":
                    layer.set_picture(picture)
                    layer.draw(view, shown, colouring, table("Viridis"))
                else:
                    plain.setImage(picture.values, levels=(-3, 3), lut=table("Viridis")[:255])
                window.viewport().repaint()
                times[name].append((time.perf_counter() - start) * 1000)
        figure(
            f"draw {side} x {side} float32 (other: pyqtgraph's setImage)",
            statistics.median(times["ours"][2:]),
            "ms",
            other=statistics.median(times["theirs"][2:]),
        )
        window.close()


def arriving(tasks: Tasks, path: Path) -> None:
    opened_document = opened(tasks, path)
    pane = PlotPane()
    pane.resize(1000, 800)
    pane.show()
    assert opened_document.hierarchy is not None
    pane.set_array(opened_document, opened_document.hierarchy.find("/field"))  # type: ignore[arg-type]
    with Gaps() as gaps:
        start = time.perf_counter()
        pane.cards.choiceMade.emit("all")
        wait(pane.is_settled)
        took = time.perf_counter() - start
    assert pane.picture().all_done  # type: ignore[union-attr]
    figure("20,000 chunks of 10 x 10 until all are drawn", took, "s")
    gaps.report("event loop meanwhile")
    pane.clear()
    pane.deleteLater()
    opened_document.close()


def main() -> None:
    application = QApplication.instance() or QApplication([])
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    collector = GarbageCollector(application)
    heading("Plot")
    tasks = Tasks()
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        smooth = np.cumsum(random.normal(size=(1, 2 * SIDE, SIDE)), axis=2)
        many = write_array(folder, "many", smooth[0].reshape(1000, 2000).astype("<f4"), (10, 10))
        drawing()
        arriving(tasks, many)
        tasks.close()
    sys.setswitchinterval(before)
    collector.deleteLater()
    gc.enable()


if __name__ == "__main__":
    main()
