"""What stands beside the sliders of a plot."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.sliders import DimensionSliders
from refbrowser.views.plot.coordinates import plain_coordinate
from refbrowser.views.plot.slicing import SliceState


def test_a_narrow_row_says_the_index(qtbot: QtBot) -> None:
    sliders = DimensionSliders()
    qtbot.addWidget(sliders)
    sliders.set_slice(
        SliceState((96, 4, 5), ("z", "y", "x"), 2, 1, (7, 0, 0)),
        [plain_coordinate(name, size) for name, size in (("z", 96), ("y", 4), ("x", 5))],
    )
    sliders.resize(700, 60)
    sliders.show()
    assert sliders.row_text(0) == "of 96", "the field says the index"
    sliders.resize(300, 60)
    assert sliders.row_text(0) == "7 of 96"
    sliders.resize(700, 60)
    assert sliders.row_text(0) == "of 96"


def test_tab_goes_from_the_left_to_the_right(qtbot: QtBot) -> None:
    sliders = DimensionSliders(playable=True)
    qtbot.addWidget(sliders)
    sliders.set_reductions([], can_reduce=True)
    shape, names = (96, 4, 5), ("z", "y", "x")
    coordinates = [plain_coordinate(name, size) for name, size in zip(names, shape, strict=True)]
    sliders.set_slice(SliceState(shape, names, 2, 1, (7, 0, 0)), coordinates)
    found, widget = [], sliders.findChild(QWidget, "along_z")
    while widget is not None and len(found) < 4:
        found += [widget.objectName()] if widget.objectName().endswith("_z") else []
        widget = widget.nextInFocusChain()
    assert found == ["along_z", "play_z", "slider_z", "index_z"]
