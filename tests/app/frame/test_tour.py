"""The tour is offered at the first start alone, shows its four cards over the sample, and can be skipped."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from window_fixtures import button

from refbrowser.app.commands.view import HelpCommands
from refbrowser.app.frame.tour import STEPS, Tour
from refbrowser.app.shell.main_window import MainWindow


def shown(window: MainWindow) -> Tour:
    tour = window.findChild(Tour)
    assert tour is not None
    return tour


def test_it_is_offered_once(window: MainWindow, qtbot: QtBot) -> None:
    commands = window.groups[HelpCommands]
    commands.offer_tour()
    button(shown(window), "tourSkipButton").click()
    qtbot.waitUntil(lambda: window.findChild(Tour) is None)
    commands.offer_tour()
    assert window.findChild(Tour) is None


@pytest.mark.slow
def test_four_cards_stand_over_the_sample(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_["tour"].trigger()
    tour = shown(window)
    assert tour.heading() == "New here?"
    go_on = button(tour, "tourNextButton")
    go_on.click()
    qtbot.waitUntil(lambda: window.documents.current is not None)
    headings = []
    for number in range(len(STEPS)):
        assert tour.heading().endswith(f"({number + 1} of 4)")
        headings.append(tour.heading().split("  ")[0])
        assert window.rect().contains(tour.geometry())
        if STEPS[number].dock:
            qtbot.waitUntil(lambda at=number: window.docks.is_seen(STEPS[at].dock))
            assert not tour.geometry().intersects(window.docks[STEPS[number].dock].geometry())
        go_on.click()
    assert headings == ["See", "Ask why", "Edit", "Export"]
    qtbot.waitUntil(lambda: window.findChild(Tour) is None)


def test_back_and_escape(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_["tour"].trigger()
    tour = shown(window)
    tour.show_step(1)
    button(tour, "tourBackButton").click()
    assert tour.heading() == "See  (1 of 4)"
    assert button(tour, "tourBackButton").isHidden()
    qtbot.keyClick(tour, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(Tour) is None)


@pytest.mark.slow
def test_a_card_stands_right_of_a_dock_on_the_left(window: MainWindow, qtbot: QtBot) -> None:
    """As docks do where the screen is small."""
    dock = window.docks[STEPS[1].dock]
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.actions_["tour"].trigger()
    tour = shown(window)
    button(tour, "tourNextButton").click()
    qtbot.waitUntil(lambda: window.documents.current is not None)
    button(tour, "tourNextButton").click()
    assert tour.heading().startswith("Ask why")
    qtbot.waitUntil(lambda: window.docks.is_seen(STEPS[1].dock))
    assert dock.geometry().left() < tour.width()
    qtbot.waitUntil(lambda: tour.geometry().left() > dock.geometry().right())
