"""Views that are opened, moved and closed in any order."""

from __future__ import annotations

import gc
import random

import pytest
from deep import is_long
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from refbrowser.app.arrangement.view_area import ViewArea
from refbrowser.views.arrangement.arrangement import Arrangement, Side

pytestmark = pytest.mark.slow
#: Steps of a walk, and views that there are at most.
STEPS, MOST = (400, 9) if is_long() else (60, 5)


def move(area: ViewArea, chance: random.Random) -> None:
    """Do something that users do."""
    views, kind = area.views(), chance.random()
    view, side = chance.choice(views), chance.choice(list(Side))
    if kind < 0.3 and len(views) < MOST:
        area.open(side)
    elif kind < 0.45:
        area.close_view(view)
    elif kind < 0.75:
        area.move_view(view, chance.choice(area.groups()), side)
    elif kind < 0.85:
        area.move_on(chance.choice((-1, 1)))
    elif area.is_apart(view):
        area.put_back(view)
    elif area.can_go_apart(view):
        area.set_apart(view)


@pytest.mark.parametrize("seed", range(4 if is_long() else 1))
def test_whatever_is_done_all_views_are_there(qtbot: QtBot, seed: int) -> None:
    area = ViewArea()
    qtbot.addWidget(area)
    area.resize(900, 600)
    area.show()
    area.begin()
    chance = random.Random(seed)
    for number in range(STEPS):
        move(area, chance)
        if number % 10 == 0:
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            gc.collect()
        views, state = area.views(), area.arrangement_state()
        assert all(isValid(view) for view in views)
        assert len(set(views)) == len(views)
        assert area.active in area.seen()
        # The main window is never empty.
        assert not all(area.is_apart(view) for view in views)
        assert Arrangement.from_json(state.as_json()) == state
        assert sum(bool(group.views()) for group in area.groups()) == len(area.groups())
    state = area.arrangement_state()
    area.close_others(area.active)
    area.restore(state)
    found = area.arrangement_state()
    assert [found.active, found.count, len(found.apart)] == [state.active, state.count, len(state.apart)]
    area.close_others(area.active)
