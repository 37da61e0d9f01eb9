"""The main job through the real window: drop, look, edit with the live preview, plot, undo, save, export."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from window_fixtures import button, drop

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField
from refbrowser.app.editors.gen_editor import GenEditor
from refbrowser.app.editors.preview_view import PreviewView, TallyChip
from refbrowser.app.plot.plot_pane import PlotPane
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.exporting.saving.save import SaveOrder
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.views.editing.preview import PreviewMark
from refbrowser.views.hierarchy import ItemKind

Settle = Callable[[], None]
SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample"


class Job:
    """One user at the window: what is clicked and typed, and what is seen."""

    def __init__(self, window: MainWindow, qtbot: QtBot, settle: Settle) -> None:
        self.window, self.qtbot, self.settle = window, qtbot, settle
        self.document: OpenDocument

    def drop(self, path: Path) -> None:
        drop(self.window, QUrl.fromLocalFile(str(path)))
        document = self.window.documents.current
        assert document is not None
        self.document = document
        self.qtbot.waitUntil(lambda: document.is_open)
        self.settle()

    def click(self, kind: ItemKind, place: str | int) -> None:
        """Click a row of the tree."""
        tree = self.window.hierarchy.tree
        index = self.window.hierarchy.model.find_identity((self.document.number, str(kind), place))
        assert index.isValid(), place
        above = index.parent()
        while above.isValid():
            tree.expand(above)
            above = above.parent()
        tree.scrollTo(index)
        where = tree.visualRect(index)
        point = QPoint(where.left() + 5, where.center().y())
        QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=point)
        self.settle()

    @property
    def plot(self) -> PlotPane:
        plot = self.window.centre.plot
        assert plot is not None
        return plot

    def values(self) -> np.ndarray:
        picture = self.plot.picture()
        assert picture is not None
        assert picture.all_done
        return picture.values

    @property
    def preview(self) -> PreviewView:
        preview = self.window.findChild(PreviewView)
        assert preview is not None
        return preview

    def type_before_end(self, name: str, text: str) -> None:
        """Type before the closing braces of a field of the rule."""
        field = self.window.findChild(JinjaField, name)
        cursor = field.textCursor()
        cursor.setPosition(field.text().rindex("}}"))
        field.setTextCursor(cursor)
        field.setFocus()
        QTest.keyClicks(field, text)

    def changed_rows(self) -> set[int]:
        """Wait for the check of the preview; return the rows on screen that are marked as changed."""
        preview = self.preview
        self.qtbot.waitUntil(lambda: preview.report() is not None)
        model = preview.table().model()
        return {row for row in range(min(40, model.row_count())) if model.row(row).mark & PreviewMark.CHANGED}

    def apply(self) -> None:
        self.window.findChild(GenEditor).apply_button.click()
        self.settle()

    def trigger(self, action: str) -> None:
        self.window.actions_[action].trigger()
        self.settle()

    def export(self, kind: str, target: Path) -> str:
        """Export everything; return what the dialog says at the end."""
        self.window.actions_["export"].trigger()
        dialog = self.window.findChild(ExportDialog)
        formats = dialog.findChild(QComboBox, "exportFormat")
        formats.setCurrentIndex(formats.findData(kind))
        dialog.findChild(QLineEdit, "exportTarget").setText(str(target))
        start = button(dialog, "exportStartButton")
        self.qtbot.waitUntil(start.isEnabled)
        QTest.mouseClick(start, Qt.MouseButton.LeftButton)
        words = dialog.findChild(QLabel, "exportCost")
        self.qtbot.waitUntil(lambda: target.exists() and start.isVisible() is True)
        self.qtbot.waitUntil(lambda: words.text().startswith("Done"))
        text = words.text()
        dialog.close()
        return text


@pytest.fixture
def job(window: MainWindow, qtbot: QtBot, settle: Settle) -> Job:
    return Job(window, qtbot, settle)


def digest(values: np.ndarray) -> str:
    little = values.astype(values.dtype.newbyteorder("<"))
    return hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()


@pytest.mark.slow
def test_the_real_document_from_drop_to_export(job: Job, shared_data: Path, tmp_path: Path) -> None:
    import zarr

    for name in ("eraint_uvz.nc", "eraint_uvz.refs.json"):
        shutil.copy(shared_data / "real" / name, tmp_path)
    path = tmp_path / "eraint_uvz.refs.json"
    before = path.read_bytes()
    job.drop(path)
    # Seen: the geopotential of January at 200 hPa with its scale and axes.
    job.click(ItemKind.ARRAY, "/z")
    january = job.values().copy()
    assert january.shape == (241, 480)
    assert job.plot.header.title.text() == "Geopotential"
    assert [job.plot.sliders.row_text(number) for number in (0, 1)] == ["1", "200 millibars"]
    assert job.plot.bar.strip.title == "m**2 s**-2"
    job.plot.canvas.grab()
    assert "90°N" in job.plot.canvas.upwards.tick_texts()
    assert "0°" in job.plot.canvas.across.tick_texts()
    # Edited: each key is followed by the preview, which tells the rows that change.
    job.click(ItemKind.RULE, 0)
    assert job.preview.table().model().row_count() == 6
    assert job.changed_rows() == set()
    job.type_before_end("genOffsetField", " + (231360 if l == 0 else 0)")
    assert job.changed_rows() == {0, 3}
    report = job.preview.report()
    assert report is not None
    assert report.changed is not None
    assert (report.changed.count, report.changed.first) == (2, 0)
    assert "2 rows change" in job.window.findChild(TallyChip, "previewChanged").text()
    np.testing.assert_array_equal(job.values(), january)
    # Applied: the plot follows, undo restores it.
    job.apply()
    assert job.document.is_dirty
    job.click(ItemKind.ARRAY, "/z")
    assert not np.array_equal(job.values(), january)
    job.trigger("undo")
    np.testing.assert_array_equal(job.values(), january)
    assert not job.document.is_dirty
    # Saved: redone and saved, undone and saved again gives the same bytes.
    job.trigger("redo")
    job.trigger("save")
    job.qtbot.waitUntil(lambda: path.read_bytes() != before)
    assert json.loads(path.read_bytes())["gen"][0]["offset"].endswith("+ (231360 if l == 0 else 0)}}")
    job.trigger("undo")
    job.trigger("save")
    job.qtbot.waitUntil(lambda: path.read_bytes() == before)
    # Exported: the store equals the digests.
    target = tmp_path / "out.zarr"
    job.export("zarr-v3", target)
    expected = json.loads((shared_data / "real" / "expected.json").read_text())["eraint_uvz"]
    group = zarr.open_group(target, mode="r")
    assert set(expected) == {name for name, _ in group.arrays()}
    for name, facts in expected.items():
        assert digest(group[name][...]) == facts["sha256_of_C_order_little_endian_bytes"], name
    assert group["z"].attrs["units"] == "m**2 s**-2"


@pytest.mark.slow
def test_the_sample_from_drop_to_export(job: Job, tmp_path: Path) -> None:
    import refbrowser

    shutil.copytree(SAMPLE, tmp_path / "sample")
    path = tmp_path / "sample" / "sea_surface.json"
    before = path.read_bytes()
    job.drop(path)
    # A function-like template: its try-out, and the rows of the rule that calls it.
    job.click(ItemKind.ARRAY, "/ocean/sst")
    first = job.values().copy()
    job.plot.sliders.step(0, 3)
    job.settle()
    assert not np.array_equal(job.values(), first)
    job.click(ItemKind.TEMPLATE, "month")
    assert job.window.editors.currentWidget().objectName() == "templatesEditor"
    job.click(ItemKind.RULE, 0)
    job.type_before_end("genOffsetField", " // 0")
    assert job.preview.table().model().row_count() == 24
    job.qtbot.waitUntil(lambda: job.preview.report() is not None)
    assert job.preview.report().faults.count == 24
    assert "zero" in job.preview.table().model().row(0).note
    button(job.window, "genResetButton").click()
    job.type_before_end("genOffsetField", " + 2")
    job.qtbot.waitUntil(lambda: job.preview.report() is not None)
    job.apply()
    job.click(ItemKind.ARRAY, "/ocean/sst")
    job.trigger("undo")
    # Nothing is left of it: saving elsewhere gives the bytes, an export the values.
    copy = tmp_path / "sample" / "copy.json"
    job.document.saving.save(SaveOrder(str(copy)))
    job.qtbot.waitUntil(copy.exists)
    job.settle()
    assert copy.read_bytes() == before
    target = tmp_path / "sample" / "version0.json"
    job.export("refs-v0", target)
    with refbrowser.open(path) as source, refbrowser.open(target) as written:
        assert set(written.document.expansion.metadata_keys()) == set(
            source.document.expansion.metadata_keys()
        )
        for name in ("/ocean/sst", "/ice/fraction", "/atmosphere/wind_speed", "/ocean/time"):
            np.testing.assert_array_equal(written[name][...], source[name][...])
