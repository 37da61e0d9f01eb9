"""Going from change to change in the preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import DOCUMENT, RULE, Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from refbrowser.views.editing import preview
from refbrowser.views.editing.preview import PAGE, NoSource, PreviewMark, PreviewRow, next_change


class Rows(NoSource):
    """A source of many rows, some of which change."""

    def __init__(self, count: int, changed: set[int]) -> None:
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "changed", changed)

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        changed: set[int] = self.changed  # type: ignore[attr-defined]
        marks = {True: PreviewMark.CHANGED, False: PreviewMark.NONE}
        return [
            PreviewRow(number, str(number), mark=marks[number in changed]) for number in range(start, stop)
        ]


@pytest.mark.parametrize(
    ("row", "step", "found"),
    [(-1, 1, 3), (3, 1, PAGE * 2), (PAGE * 2, 1, 999), (1000, -1, 999), (999, -1, PAGE * 2), (4, -1, 3)],
)
def test_the_next_change_either_way(row: int, step: int, found: int) -> None:
    assert next_change(Rows(1000, {3, PAGE * 2, 999}), row, step) == found


def test_there_is_none() -> None:
    assert next_change(Rows(1000, {3}), 3, 1) == "no change after this row"
    assert next_change(Rows(1000, {3}), 3, -1) == "no change before this row"
    assert next_change(Rows(0, set()), -1, 1) == "no change after this row"


def test_a_long_search_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "SECONDS", 0.05)
    assert "was not checked" in str(next_change(Rows(10**18, set()), -1, 1))


@pytest.mark.slow
def test_keys_and_buttons_go_from_change_to_change(gen: Callable[..., Workplace], qtbot: Any) -> None:
    many = {**RULE, "dimensions": {"t": {"stop": 50}, "y": {"start": 0, "stop": 3, "step": 1}}}
    place = gen({**DOCUMENT, "gen": [many]})
    place.put("genOffsetField", "{{100 + (t * 3 + y) * 10 + (1 if t in (7, 30) else 0)}}")
    table = place.preview.table()
    qtbot.waitUntil(lambda: place.preview.report() is not None)
    button = place.child(QToolButton, "previewNextChange")
    for row in (21, 22, 23, 90):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda row=row: table.current() == row)
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_F4)
    qtbot.waitUntil(lambda: table.current() == 91)
    for row in (90, 23):
        QTest.keyClick(table, Qt.Key.Key_F4, Qt.KeyboardModifier.ShiftModifier)
        qtbot.waitUntil(lambda row=row: table.current() == row)
    table.set_current(92)
    QTest.keyClick(table, Qt.Key.Key_F4)
    qtbot.waitUntil(lambda: "no change after" in place.outcome("previewDetail"))
