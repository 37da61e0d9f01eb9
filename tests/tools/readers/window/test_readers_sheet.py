"""The sheet of readers: cells in words and colours, the cause, the export filled in, the edit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zarr
from PySide6.QtWidgets import QApplication
from window_fixtures import Open, button

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.app.widgets import theme
from refbrowser.tools.export.window.export_dialog import ExportDialog
from refbrowser.tools.readers.window.readers_sheet import ReadersSheet

Settle = Callable[[], None]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    group = zarr.create_group(tmp_path / "s.zarr", zarr_format=3)
    for name, codec in (("a", zarr.codecs.GzipCodec()), ("b", zarr.codecs.Crc32cCodec())):
        group.create_array(name, shape=(4,), dtype="f4", compressors=codec, dimension_names=["x"])
        group[name][:] = np.arange(4)
    return tmp_path / "s.zarr"


def show(window: MainWindow, settle: Settle) -> ReadersSheet:
    window.actions_["show_readers"].trigger()
    settle()
    sheet = window.findChild(ReadersSheet)
    assert sheet is not None
    return sheet


def select(sheet: ReadersSheet, label: str, column: int = 0) -> str:
    """Select the cell of a reader, and return its words."""
    table = sheet.table
    for row in range(table.rowCount()):
        header, item = table.verticalHeaderItem(row), table.item(row, column)
        if header is not None and item is not None and header.text().startswith(label):
            table.setCurrentCell(row, column)
            return item.text()
    raise AssertionError(f"there is no row {label}")


@pytest.mark.slow
def test_readers_by_arrays(window: MainWindow, opened: Open, settle: Settle, store: Path) -> None:
    opened(store)
    sheet = show(window, settle)
    assert sheet.table.columnCount() == 2, "GDAL has one of the codecs, so there are two kinds of arrays"
    assert "reader versions read all 2 arrays" in sheet.summary.text()
    assert select(sheet, "zarr-python 3.0 to 3.4") == "✓ reads"
    assert not button(sheet, "readersExport").isEnabled()
    assert "Known from: measured with zarr-python" in sheet.detail.toPlainText()
    assert select(sheet, "zarr-python 2.18") == "✗ refuses"
    detail = sheet.detail.toPlainText()
    assert "Cause: reads Zarr v2 alone (metadata zarr-v3) [measured with zarr-python 2.18.7]" in detail
    assert f"On the command line: refbrowser export {store} s-zarr-v2.zarr --to zarr-v2" in detail
    assert not button(sheet, "readersEdit").isVisible()


@pytest.mark.slow
def test_the_export_opens_with_what_the_reader_needs(
    window: MainWindow, opened: Open, settle: Settle, store: Path
) -> None:
    opened(store)
    sheet = show(window, settle)
    select(sheet, "GDAL 3.6")
    assert button(sheet, "readersExport").isEnabled()
    button(sheet, "readersExport").click()
    dialog = window.findChild(ExportDialog)
    assert dialog is not None
    assert dialog.format.name == "zarr-v2"
    assert str(dialog.options.said()["codec"]).startswith("zlib")
    dialog.reject()


@pytest.mark.slow
def test_an_edit_that_helps_is_made_and_the_table_follows(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    zarray = {
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<f4", "order": "C", "compressor": None,
        "filters": None, "fill_value": 0,
    }  # fmt: skip
    refs = {
        "a/.zarray": json.dumps(zarray),
        "a/.zattrs": '{"_ARRAY_DIMENSIONS": ["x"]}',
        "a/0": ["a.bin", 0, 16],
    }
    (tmp_path / "doc.json").write_text(json.dumps(refs))
    (tmp_path / "a.bin").write_bytes(bytes(16))
    document = opened(tmp_path / "doc.json")
    sheet = show(window, settle)
    assert select(sheet, "GDAL 3.12") == "✗ refuses"
    assert button(sheet, "readersEdit").isVisible()
    button(sheet, "readersEdit").click()
    settle()
    assert document.document is not None
    assert document.document.refs.find_slot(".zgroup") is not None
    assert select(sheet, "GDAL 3.12") == "✓ reads"
    document.undo()
    settle()
    assert select(sheet, "GDAL 3.12") == "✗ refuses"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_cells_are_legible_and_say_in_words_what_colours_say(
    window: MainWindow, opened: Open, settle: Settle, store: Path, scheme: theme.Colors
) -> None:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    opened(store)
    sheet = show(window, settle)
    theme.apply(application, scheme)
    settle()
    for row in range(sheet.table.rowCount()):
        item = sheet.table.item(row, 0)
        assert item is not None
        assert item.text()[0] in "✓◐✗!?"
        assert len(item.text()) > 4
        assert contrast(item.background().color(), item.foreground().color()) >= 4.5, item.text()


def contrast(one: object, other: object) -> float:
    """Return the contrast of two colours (WCAG 2.2, relative luminance)."""

    def luminance(color: object) -> float:
        parts = (color.redF(), color.greenF(), color.blueF())  # type: ignore[attr-defined]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
