"""Real files through the whole program, from the document to the picture."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.model.nodes import ArrayNode

netCDF4 = pytest.importorskip("netCDF4")

Plot = Callable[[str, str], OpenDocument]


@pytest.fixture
def plot(qtbot: QtBot, tasks: Tasks, pane: PlotPane, shared_data: Path, tmp_path: Path) -> Iterator[Plot]:
    """Open a copy of a real document and plot one of its arrays."""
    documents: list[OpenDocument] = []

    def show(name: str, array: str) -> OpenDocument:
        for suffix in (".nc", ".refs.json"):
            shutil.copy(shared_data / "real" / f"{name}{suffix}", tmp_path)
        document = OpenDocument(str(tmp_path / f"{name}.refs.json"), tasks)
        documents.append(document)
        document.open()
        qtbot.waitUntil(lambda: document.hierarchy is not None)
        assert document.hierarchy is not None
        node = document.hierarchy.find(array)
        assert isinstance(node, ArrayNode)
        pane.set_array(document, node)
        qtbot.waitUntil(lambda: pane.is_settled() and not tasks.busy())
        return document

    yield show
    pane.clear()
    for document in documents:
        document.close()


def stored(shared_data: Path, name: str, array: str) -> np.ndarray:
    with netCDF4.Dataset(shared_data / "real" / f"{name}.nc") as file:
        file.set_auto_maskandscale(False)
        return np.asarray(file[array][...])


def rule_with(document: OpenDocument, offset: str) -> dict[str, Any]:
    """Return the first rule of a document with another offset."""
    rule = json.loads(Path(document.path).read_text())["gen"][0]
    return {**rule, "offset": offset}


def values(pane: PlotPane) -> np.ndarray:
    picture = pane.picture()
    assert picture is not None
    return picture.values


@pytest.mark.slow
def test_the_geopotential_of_january_at_200_hpa(plot: Plot, pane: PlotPane, shared_data: Path) -> None:
    plot("eraint_uvz", "/z")
    assert pane.page() is pane.canvas
    np.testing.assert_array_equal(values(pane), stored(shared_data, "eraint_uvz", "z")[0, 0])
    assert pane.header.title.text() == "Geopotential"
    assert pane.sliders.row_text(0) == "1"
    assert pane.sliders.row_text(1) == "200 millibars"
    assert pane.bar.strip.title == "m**2 s**-2"
    pane.canvas.grab()
    assert {"90°N", "60°N", "0°", "60°S", "90°S"} <= set(pane.canvas.upwards.tick_texts())
    assert {"90°W", "0°", "90°E"} <= set(pane.canvas.across.tick_texts())
    pane.canvas.pointed.emit(240.0, 100.0)
    text = pane.status.text()
    assert "latitude 15°N [100]" in text
    assert "121075.9 m**2 s**-2" in text
    assert "chunk z/0.0.0.0" in text
    levels = pane._presenter.drawing.keeper.levels
    assert levels is not None
    assert 100_000 < levels.low < levels.high < 130_000


@pytest.mark.slow
def test_the_plot_follows_edits_and_undo(plot: Plot, pane: PlotPane, qtbot: QtBot, shared_data: Path) -> None:
    from refbrowser.references.edits.edits import SetRule

    document = plot("eraint_uvz", "/z")
    whole = stored(shared_data, "eraint_uvz", "z")
    assert document.apply(SetRule(0, rule_with(document, "{{4492 + (m * 3 + l + 1) * 231360}}")))
    qtbot.waitUntil(lambda: pane.is_settled() and np.array_equal(values(pane), whole[0, 1]))
    document.undo()
    qtbot.waitUntil(lambda: pane.is_settled() and np.array_equal(values(pane), whole[0, 0]))


@pytest.mark.slow
def test_a_chunk_behind_the_end_of_the_file_is_an_error_and_not_fill(
    plot: Plot, pane: PlotPane, qtbot: QtBot
) -> None:
    from refbrowser.references.edits.edits import SetRule

    document = plot("eraint_uvz", "/z")
    assert document.apply(SetRule(0, rule_with(document, "{{4168980 + (m * 3 + l) * 231360}}")))
    qtbot.waitUntil(lambda: pane.page() is pane.cards)
    assert pane.cards.shown() == "error"
    assert "z/0.0.0.0" in pane.cards.text()
    document.undo()
    qtbot.waitUntil(lambda: pane.page() is pane.canvas)


@pytest.mark.slow
def test_cloud_tops_are_masked_and_unsigned(plot: Plot, pane: PlotPane, shared_data: Path) -> None:
    plot("cth", "/HT")
    with netCDF4.Dataset(shared_data / "real" / "cth.nc") as file:
        wanted = file["HT"][...]
    drawing = pane._presenter.drawing
    assert drawing.shown is not None
    numbers = drawing.shown.numbers(values(pane))
    np.testing.assert_array_equal(np.isnan(numbers), np.ma.getmaskarray(wanted))
    np.testing.assert_allclose(numbers[~np.isnan(numbers)], wanted.compressed(), rtol=1e-6)


@pytest.mark.slow
def test_basins_and_depths(plot: Plot, pane: PlotPane, qtbot: QtBot, shared_data: Path) -> None:
    plot("basin_mask", "/basin")
    whole = stored(shared_data, "basin_mask", "basin")
    pane.sliders.step(0, 20)
    qtbot.waitUntil(pane.is_settled)
    np.testing.assert_array_equal(values(pane), whole[20])
    assert pane.sliders.row_text(0).endswith(" m")


@pytest.mark.slow
def test_an_array_that_was_never_written_says_so(plot: Plot, pane: PlotPane) -> None:
    plot("crm", "/MSLP")
    assert "nothing was ever written" in pane.canvas.message.text()


@pytest.mark.slow
def test_a_scalar_time_is_a_date(plot: Plot, pane: PlotPane) -> None:
    plot("cth", "/t")
    assert pane.values.value.text() == "2017-10-25 20:53:39"


@pytest.mark.slow
def test_what_lies_elsewhere_is_asked_for_and_then_plotted(
    pane: PlotPane, tasks: Tasks, qtbot: QtBot, shared_data: Path, tmp_path: Path
) -> None:
    for folder, suffix in (("data", ".nc"), ("document", ".refs.json")):
        (tmp_path / folder).mkdir()
        shutil.copy(shared_data / "real" / f"eraint_uvz{suffix}", tmp_path / folder)
    path = tmp_path / "document" / "eraint_uvz.refs.json"
    path.write_text(path.read_text().replace('"u": "eraint', '"u": "../data/eraint'))
    document = OpenDocument(str(path), tasks)
    document.open()
    qtbot.waitUntil(lambda: document.hierarchy is not None)
    assert document.hierarchy is not None
    pane.set_array(document, document.hierarchy.find("/z"))  # type: ignore[arg-type]
    qtbot.waitUntil(pane.is_settled)
    assert pane.cards.shown() == "blocked"
    document.allow(document.wants)
    qtbot.waitUntil(lambda: pane.page() is pane.canvas and pane.is_settled())
    np.testing.assert_array_equal(values(pane), stored(shared_data, "eraint_uvz", "z")[0, 0])
    qtbot.waitUntil(lambda: pane.sliders.row_text(1) == "200 millibars")
    pane.clear()
    document.close()
