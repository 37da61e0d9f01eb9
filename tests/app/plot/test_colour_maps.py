"""The list of colour maps: what is safe for whom, groups, and those that are imported."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from refbrowser.app.plot.colours import colour_maps
from refbrowser.app.plot.colours.colour_maps import MAPS, MapChoice, MapGroup, map_named, table, take_imported
from refbrowser.views.colours.colour_blindness import are_told_apart
from refbrowser.views.colours.colour_tables import ColourTable


@pytest.fixture(autouse=True)
def _no_imported() -> Iterator[None]:
    yield
    take_imported([])


def test_all_that_are_called_safe_are_told_apart_by_everybody() -> None:
    for title, spec in MAPS.items():
        cyclic = spec.group is MapGroup.CYCLIC
        if spec.group is not MapGroup.OTHER:
            assert are_told_apart(table(title)[:255, :3], cyclic=cyclic), title
    assert not are_told_apart(table("Rainbow")[:255, :3])
    assert not are_told_apart(table("Terrain")[:255, :3])
    # So are neighbouring flags: each of the first ones is compared with each other.
    flags = colour_maps.flag_table("#ffffff")[:7, :3]
    assert are_told_apart(np.repeat(flags, 3, axis=0)[: 7 * 3])


@pytest.fixture
def choice(qtbot: QtBot) -> MapChoice:
    choice = MapChoice()
    qtbot.addWidget(choice)
    choice.show()
    return choice


def test_maps_are_in_groups_whose_titles_cannot_be_chosen(choice: MapChoice, qtbot: QtBot) -> None:
    titles = [choice.itemText(row) for row in range(choice.count())]
    assert titles[:2] == ["Sequential (colour-blind safe)", "Viridis"]
    assert [choice.itemData(row) for row in range(choice.count()) if choice.itemData(row)] == list(MAPS)
    chosen: list[str] = []
    choice.chosen.connect(chosen.append)
    choice.choose("Yellow to red")
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    assert chosen == ["Blue–red"]
    assert choice.currentText() == "Blue–red"


def test_keys_do_not_import(choice: MapChoice, qtbot: QtBot) -> None:
    wanted: list[bool] = []
    choice.importWanted.connect(lambda: wanted.append(True))
    choice.choose("Turbo")
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    assert choice.currentText() == "Turbo"
    assert not wanted
    choice.showPopup()
    choice.view().setCurrentIndex(choice.model().index(choice.count() - 1, 0))
    qtbot.keyClick(choice.view(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(wanted))
    assert choice.currentText() == "Turbo"


def test_imported_maps_are_listed_and_forgotten(choice: MapChoice) -> None:
    ramp = np.linspace([0, 0, 0], [1, 1, 1], 40)
    mixed = np.array([[0.8, 0.2, 0.2], [0.45, 0.4, 0.2]])
    take_imported(
        [ColourTable.of("Mine", ramp), ColourTable.of("Alike", mixed), ColourTable.of("Viridis", ramp)]
    )
    choice.fill()
    assert choice.itemText(choice.findData("Mine") - 1) == "Imported"
    assert "safe" in choice.itemData(choice.findData("Mine"), Qt.ItemDataRole.ToolTipRole)
    assert "alike" in choice.itemData(choice.findData("Alike"), Qt.ItemDataRole.ToolTipRole)
    assert table("Mine")[254].tolist() == [255, 255, 255, 255]
    # Those of the program keep their names.
    assert map_named("Viridis").group is MapGroup.SEQUENTIAL
    choice.choose("Mine")
    take_imported([])
    choice.fill()
    assert choice.currentText() == "Viridis"
    assert (table("Mine") == table("Viridis")).all()
