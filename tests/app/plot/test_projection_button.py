"""The button of projections: what it offers, what is chosen, the centre, and what is missing."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from refbrowser.app.plot import projection_button
from refbrowser.app.plot.projection_button import ProjectionButton
from refbrowser.views.maps.layouts import ChosenProjection
from refbrowser.views.maps.projections import PROJECTIONS


@pytest.fixture
def button(qtbot: QtBot) -> ProjectionButton:
    button = ProjectionButton()
    qtbot.addWidget(button)
    return button


def entry(button: ProjectionButton, name: str):
    return next(each for each in button.menu().actions() if each.objectName() == f"{name}Projection")


def test_it_is_hidden_without_a_choice(button: ProjectionButton) -> None:
    button.show_choice((), ChosenProjection(), None)
    assert button.isHidden()
    button.show_choice(PROJECTIONS, ChosenProjection("robinson"), (10.0, 0.0))
    assert not button.isHidden()
    assert entry(button, "robinson").isChecked()
    assert "Robinson" in button.toolTip()


def test_what_is_chosen_is_told(button: ProjectionButton, qtbot: QtBot) -> None:
    button.show_choice(PROJECTIONS, ChosenProjection("robinson", (10.0, 0.0)), (10.0, 0.0))
    with qtbot.waitSignal(button.chosen) as told:
        entry(button, "orthographic").trigger()
    assert told.args == [ChosenProjection("orthographic", (10.0, 0.0))]


def test_the_centre_is_set_where_it_matters(button: ProjectionButton, qtbot: QtBot) -> None:
    button.show_choice(PROJECTIONS, ChosenProjection("robinson"), (10.0, 0.0))
    fields = button._centre
    assert fields is not None
    assert fields.longitude.isEnabled()
    assert not fields.latitude.isEnabled()
    with qtbot.waitSignal(button.chosen) as told:
        fields.longitude.setValue(75.0)
    assert told.args == [ChosenProjection("robinson", (75.0, 0.0))]
    button.show_choice(PROJECTIONS, ChosenProjection("orthographic"), (75.0, 20.0))
    assert fields.latitude.isEnabled()
    assert fields.latitude.value() == 20.0
    with qtbot.waitSignal(button.chosen) as told:
        fields.usual.click()
    assert told.args == [ChosenProjection("orthographic", None)]
    button.show_choice(PROJECTIONS, ChosenProjection(), None)
    assert not fields.longitude.isEnabled()


def test_what_is_missing_is_said(button: ProjectionButton, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection_button, "can_be_drawn", lambda name: name in ("index", "platecarree"))
    button.show_choice(PROJECTIONS, ChosenProjection(), None)
    assert entry(button, "platecarree").isEnabled()
    assert not entry(button, "robinson").isEnabled()
    assert "refbrowser[maps]" in entry(button, "robinson").toolTip()
