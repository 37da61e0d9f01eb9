"""The export dialog for stores: which options fit, what is written with them, and checking it with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QSpinBox, QTreeWidget
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.shell.main_window import MainWindow
from refbrowser.exporting.check import CheckItem, CheckReport, Program
from refbrowser.exporting.option_fields import CodecChoice, offered_codecs
from refbrowser.tools.export.window.export_check import sum_text
from refbrowser.tools.export.window.export_dialog import ExportDialog

Open = Callable[[str | Path], OpenDocument]
Settle = Callable[[], None]


SHARDS = "Shards: only Zarr version 3 has them"
PACKING = "Packing: only Zarr has codecs for it"
COMPOUNDS = "_ARRAY_DIMENSIONS and compounds: only for NCZarr"
KEYS = "Keys: chosen for zip files only"
_OF_STORES = ("exportContainer", "exportChunksKind", "exportCodec")
_OF_NCZARR = ("exportArrayDimensions", "exportSplitCompounds")


class Hands:
    """The dialog over a small dataset, and hands on it."""

    def __init__(self, dialog: ExportDialog, qtbot: QtBot) -> None:
        self.dialog, self.qtbot = dialog, qtbot

    def choose(self, name: str, value: str) -> None:
        combo = self.dialog.findChild(QComboBox, name)
        row = combo.findData(value)
        assert row >= 0, value
        combo.setCurrentIndex(row)

    def type(self, name: str, text: str) -> None:
        self.dialog.findChild(QLineEdit, name).setText(text)

    def options(self) -> dict[str, Any]:
        return dict(self.dialog.order().options)

    def usable(self, name: str) -> bool:
        found = self.dialog.findChild(QComboBox, name) or self.dialog.findChild(QCheckBox, name)
        return bool(found.isEnabled())

    def words(self) -> str:
        return str(self.dialog.findChild(QLabel, "exportCost").text())

    def export(self) -> None:
        start = button(self.dialog, "exportStartButton")
        self.qtbot.waitUntil(start.isEnabled)
        start.click()
        self.qtbot.waitUntil(lambda: self.words().startswith("Done"))


@pytest.fixture
def hands(window: MainWindow, small: Path, opened: Open, settle: Settle, qtbot: QtBot) -> Hands:
    opened(small)
    settle()
    window.actions_["export"].trigger()
    dialog = window.findChild(ExportDialog)
    assert dialog is not None
    return Hands(dialog, qtbot)


def test_every_codec_can_be_read() -> None:
    for name, levels in ((each.text, each.levels) for each in offered_codecs()):
        text = name if levels is None else f"{name}:{levels[2]}"
        assert (CodecChoice.from_text(text) is None) == (name == "keep")
        for level in levels[:2] if levels else ():
            CodecChoice.from_text(f"{name}:{level}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "usable", "why"),
    [
        (
            "zarr-v3",
            {*_OF_STORES, "exportShardsKind", "exportPacking"},
            [COMPOUNDS, KEYS],
        ),
        ("zarr-v2", {*_OF_STORES, "exportPacking"}, [SHARDS, COMPOUNDS, KEYS]),
        ("zarr-v3-draft", set(_OF_STORES), [SHARDS, PACKING, COMPOUNDS, KEYS]),
        (
            "nczarr",
            {*_OF_STORES, *_OF_NCZARR},
            [SHARDS, PACKING, KEYS],
        ),
        ("refs-v1", set(), ["References keep containers, chunks and codecs as they are: no data is written"]),
    ],
)
def test_options_that_do_not_fit_are_disabled_with_a_reason(
    hands: Hands, name: str, usable: set[str], why: list[str]
) -> None:
    hands.choose("exportFormat", name)
    found = {
        each for each in (*_OF_STORES, "exportShardsKind", "exportPacking", *_OF_NCZARR) if hands.usable(each)
    }
    assert found == usable
    words = hands.dialog.findChild(QLabel, "exportReasons").text()
    assert words == ". ".join(why) + "."
    hands.dialog.close()


@pytest.mark.slow
def test_what_is_asked_for(hands: Hands) -> None:
    assert hands.options() == {"container": "folder", "codec": "keep", "packing": "keep"}
    hands.choose("exportPacking", "codecs")
    hands.choose("exportChunksKind", "size")
    assert hands.options()["chunks"] == "auto:8MiB"
    hands.type("exportChunksField", "1 MiB")
    hands.choose("exportShardsKind", "shape")
    hands.type("exportShardsField", "4,6")
    hands.choose("exportCodec", "zstd")
    hands.dialog.findChild(QSpinBox, "exportLevel").setValue(7)
    hands.choose("exportContainer", "zip")
    assert hands.dialog.order().target.endswith(".zarr.zip")
    hands.choose("exportZipKeys", "{name}")
    hands.type("exportTarget", "/data/out.zarr.zip")
    wanted = {
        "chunks": "auto:1 MiB",
        "codec": "zstd:7",
        "shards": "4,6",
        "container": "zip",
        "packing": "codecs",
    }
    assert hands.options() == {**wanted, "zip_folder": "out"}
    hands.choose("exportFormat", "refs-v1")
    assert hands.options() == {"inline": 0, "relative": False, "absolute": False}
    hands.dialog.close()


@pytest.mark.slow
def test_compounds_are_split_where_that_is_ticked(hands: Hands) -> None:
    split = hands.dialog.findChild(QCheckBox, "exportSplitCompounds")
    split.setChecked(True)
    hands.choose("exportFormat", "nczarr")
    assert hands.options()["split_compounds"] is True
    hands.choose("exportFormat", "zarr-v3")
    assert "split_compounds" not in hands.options()
    hands.dialog.close()


@pytest.mark.slow
def test_what_cannot_be_read_is_said(hands: Hands) -> None:
    hands.choose("exportChunksKind", "shape")
    hands.type("exportChunksField", "2,x")
    hands.qtbot.waitUntil(lambda: "is not a chunk shape" in hands.words())
    assert not button(hands.dialog, "exportStartButton").isEnabled()
    hands.dialog.close()


@pytest.mark.slow
def test_chunks_of_single_arrays_codec_and_zip(hands: Hands, tmp_path: Path) -> None:
    import zarr

    target = tmp_path / "out.zip"
    hands.choose("exportFormat", "zarr-v2")
    hands.choose("exportContainer", "zip")
    hands.choose("exportCodec", "zlib")
    hands.type("exportTarget", str(target))
    table = hands.dialog.arrays
    row = next(row for row in range(table.topLevelItemCount()) if table.topLevelItem(row).text(0) == "/temp")
    table.topLevelItem(row).setText(4, "4,-1")
    hands.export()
    with ZipFile(target) as made:
        assert {"temp/0.0", "temp/.zarray", "depth/1"} <= set(made.namelist())
    temp = zarr.open(zarr.storage.ZipStore(target, mode="r"), mode="r")["temp"]
    assert temp.chunks == (4, 6)
    assert temp[0, 1] == 0x0302
    hands.dialog.close()


@pytest.mark.slow
def test_a_result_is_checked_with_other_software(hands: Hands, tmp_path: Path, settle: Settle) -> None:
    hands.type("exportTarget", str(tmp_path / "out.zarr"))
    assert not button(hands.dialog, "exportCheckButton").isVisible()
    hands.export()
    button(hands.dialog, "exportCheckButton").click()
    table = hands.dialog.findChild(QTreeWidget, "exportCheckTable")
    hands.qtbot.waitUntil(lambda: table.topLevelItemCount() > 0)
    rows = [table.topLevelItem(row) for row in range(table.topLevelItemCount())]
    assert {(row.text(0), row.text(2)) for row in rows if row.text(1) == "/temp"} >= {("✓ equal", "values")}
    assert "equal" in hands.dialog.findChild(QLabel, "exportCheckSum").text()
    assert table.isVisible()
    button(hands.dialog, "exportCheckBackButton").click()
    assert hands.dialog.arrays.isVisible()
    settle()
    hands.dialog.close()


@pytest.mark.slow
def test_differences_come_first_and_alone(hands: Hands) -> None:
    items = (
        CheckItem("zarr-python", "/a", "values", True),
        CheckItem("zarr-python", "/a", "units", False, "m", "km"),
    )
    report = CheckReport((Program("zarr-python", "3.1"),), items, ("netCDF4 is not installed",))
    words = sum_text(report)
    assert words.startswith("✕ 1 of 2 comparisons differ. Read with zarr-python 3.1.")
    assert words.endswith("netCDF4 is not installed")
    hands.dialog.checked.show_report(report)
    table = hands.dialog.findChild(QTreeWidget, "exportCheckTable")
    assert [table.topLevelItem(0).text(column) for column in (0, 2, 3, 4)] == [
        "✕ differs",
        "units",
        "m",
        "km",
    ]
    assert table.topLevelItemCount() == 1
    hands.dialog.findChild(QCheckBox, "exportCheckOnly").setChecked(False)
    assert table.topLevelItemCount() == 2
    hands.dialog.close()


@pytest.mark.slow
def test_a_cancelled_export_is_gone_on_with(hands: Hands) -> None:
    hands.dialog._cancelled()
    assert hands.dialog.findChild(QCheckBox, "exportResume").isChecked()
    assert "Export continues from there" in hands.words()
    hands.dialog.close()


@pytest.mark.slow
def test_options_have_the_names_of_the_dialog(hands: Hands) -> None:
    hands.choose("exportFormat", "nczarr")
    hands.choose("exportContainer", "zip")
    hands.qtbot.waitUntil(lambda: "“Keys: Below one folder” puts them into a folder" in hands.words())
    hands.choose("exportZipKeys", "{name}")
    hands.qtbot.waitUntil(lambda: "Below one folder" not in hands.words())
    hands.dialog.close()
