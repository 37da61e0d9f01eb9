"""The preview of rules of any length: jumps, budget, and checks that newer rows replace."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from editor_workplace import DOCUMENT, RULE, Workplace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton

from refbrowser.app.editors.preview_view import PreviewView
from refbrowser.views.editing.preview import CheckReport, NoSource, PreviewModel, PreviewRow, PreviewTally
from refbrowser.views.rows import RowStyle

Make = Callable[..., Workplace]
HUGE = {**RULE, "dimensions": {"t": {"stop": 10**6}, "y": {"stop": 10**6}}}
SLOW = {**HUGE, "key": "temp/{{t if t >= 0 else 1}}.{{y}}.0"}


def huge(rule: dict[str, Any] = HUGE) -> dict[str, Any]:
    return {**DOCUMENT, "gen": [rule]}


def go(place: Workplace, text: str) -> None:
    field = place.child(QLineEdit, "previewGoto")
    field.clear()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("100000000000", 10**11),
        ("100,000,000,000", 10**11),
        ("10^11", 10**11),
        ("temp/100000.5.0", 10**11 + 5),
        ("0", 0),
    ],
)
def test_a_jump_to_a_row_or_key_of_a_trillion(gen: Make, text: str, row: int) -> None:
    place = gen(huge())
    go(place, text)
    table = place.preview.table()
    assert table.current() == row
    assert row in range(table.top_row(), table.top_row() + table.visible_rows())
    assert table.row_text(row)[1] == str(row)
    assert table.row_text(row)[2] == f"temp/{row // 10**6}.{row % 10**6}.0"


def test_a_row_or_key_that_is_not_there_is_told(gen: Make) -> None:
    place = gen(huge())
    go(place, "10^12")
    assert "the last one is 999999999999" in place.outcome("previewDetail")
    go(place, "temp/1.x.0")
    assert place.outcome("previewDetail") == "! no row has this key"


def test_first_and_last_rows(gen: Make) -> None:
    place = gen(huge())
    place.child(QToolButton, "previewLast").click()
    assert place.preview.table().current() == 10**12 - 1
    place.child(QToolButton, "previewFirst").click()
    assert place.preview.table().current() == 0


def test_a_trillion_rows_are_counted_without_looking_at_them(gen: Make, qtbot: Any) -> None:
    place = gen(huge())
    place.type_at("genOffsetField", "10}}", "1")
    count = place.child(QLabel, "previewRowCount").text().replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert count == "1 000 000 000 000 rows"
    qtbot.waitUntil(lambda: place.chip("previewChanged").startswith("● 999"))
    for chip, words in (("previewFaults", "✓ no faults"), ("previewDuplicates", "✓ no duplicates")):
        qtbot.waitUntil(lambda chip=chip, words=words: place.chip(chip) == words)


def test_a_key_without_an_inverse_is_searched_off_the_gui_thread(gen: Make, qtbot: Any) -> None:
    place = gen(huge({**SLOW, "dimensions": {"t": {"stop": 3}, "y": {"stop": 200}}}))
    assert not place.preview.source().finds_quickly
    go(place, "temp/2.17.0")
    qtbot.waitUntil(lambda: place.preview.table().current() == 417)


def test_what_is_not_decided_is_not_called_none(gen: Make, qtbot: Any) -> None:
    place = gen(huge(SLOW))
    qtbot.waitUntil(lambda: "not checked" in place.chip("previewDuplicates"))
    assert place.chip("previewDuplicates").startswith("?")


def test_the_detail_line_tells_of_the_chosen_row(gen: Make) -> None:
    place = gen()
    place.type_at("genOffsetField", "10}}", "1")
    place.preview.go_to_row(1)
    assert place.outcome("previewDetail") == "→ row 1: offset 110 → 210"


def test_a_faulty_row_tells_why(gen: Make, qtbot: Any) -> None:
    place = gen()
    place.put("genOffsetField", "{{ t - y }}")
    assert [row[0] for row in place.rows()] == ["●", "✕", "✕", "●", "●", "✕"]
    qtbot.waitUntil(lambda: place.chip("previewFaults") == "✕ 3 faults")
    place.child(QToolButton, "previewFaults").click()
    assert place.preview.table().current() == 1
    assert "below 0" in place.outcome("previewDetail")


class Slow:
    """Rows that take a while each."""

    title = "slow"
    count = 1_000
    is_quick = False
    finds_quickly = True

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.asked: list[tuple[int, int]] = []

    def rows(self, start: int, stop: int) -> list[PreviewRow]:
        self.asked.append((start, stop))
        time.sleep(self.seconds)
        return [PreviewRow(number, f"k{number}") for number in range(start, stop)]

    def find(self, key: str, cancelled: Callable[[], bool] = lambda: False) -> int | str:
        return 0

    def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
        return CheckReport(faults=PreviewTally())


def test_rows_that_take_long_come_a_few_at_a_time_visible_ones_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refbrowser.views.editing.preview.BUDGET", 0.004)
    later = []
    source = Slow(0.002)
    model = PreviewModel(lambda: range(50, 70), lambda: later.append(1))
    model.show(source)
    start = time.perf_counter()
    texts = model.page(0, 128)
    assert time.perf_counter() - start < 1
    assert source.asked[0] == (48, 56)
    assert texts[50][2] == "k50"
    assert texts[127][2] == "…"
    assert later
    for _ in range(100):
        later.clear()
        texts = model.page(0, 128)
        if not later:
            break
    assert [row[2] for row in texts] == [f"k{number}" for number in range(128)]
    assert len(source.asked) == len(set(source.asked))


def test_a_row_that_is_known_hides_none_of_its_neighbours() -> None:
    later: list[int] = []
    model = PreviewModel(lambda: range(20), lambda: later.append(1))
    model.show(Slow(0))
    model.row(8)
    texts = model.page(0, 24)
    while later:
        later.clear()
        texts = model.page(0, 24)
    assert [row[2] for row in texts] == [f"k{number}" for number in range(24)]


def test_rows_left_out_are_painted_soon_after(qtbot: Any) -> None:
    view = PreviewView()
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show()
    view.show_source(None, Slow(0.001))
    table = view.table()
    qtbot.waitUntil(lambda: "…" not in [table.row_text(row)[2] for row in range(100)])


def test_marks_become_styles() -> None:
    class Marked(Slow):
        def rows(self, start: int, stop: int) -> list[PreviewRow]:
            from refbrowser.views.editing.preview import PreviewMark

            marks = [
                PreviewMark.NONE,
                PreviewMark.CHANGED,
                PreviewMark.FAULT | PreviewMark.NEW,
                PreviewMark.REPLACED,
            ]
            return [PreviewRow(number, "k", mark=marks[number % 4]) for number in range(start, stop)]

    model = PreviewModel(lambda: range(4), lambda: None)
    model.show(Marked(0))
    model.page(0, 4)
    assert model.styles(0, 4) == [
        RowStyle.NONE,
        RowStyle.CHANGED,
        RowStyle.FAULT | RowStyle.CHANGED,
        RowStyle.REPLACED,
    ]


def test_a_newer_source_replaces_the_check_of_the_older(gen: Make, qtbot: Any) -> None:
    begun: list[str] = []
    ended: list[str] = []

    class Endless(Slow):
        def check(self, check: Callable[[], None], send: Callable[[CheckReport], None]) -> CheckReport:
            begun.append("endless")
            try:
                while True:
                    check()
                    time.sleep(0.005)
            finally:
                ended.append("endless")

    place = gen()
    reports: list[CheckReport] = []
    place.preview.reported.connect(reports.append)
    place.preview.show_source(place.document, Endless(0))
    qtbot.waitUntil(lambda: begun == ["endless"])
    place.preview.show_source(place.document, Slow(0))
    qtbot.waitUntil(lambda: ended == ["endless"])
    qtbot.waitUntil(lambda: len(reports) == 1)
    assert reports[0].faults == PreviewTally()


def test_a_hidden_preview_checks_nothing_until_it_is_seen(gen: Make, qtbot: Any) -> None:
    place = gen()
    place.preview.hide()
    place.type_at("genLengthField", "10", "1")
    QTest.qWait(300)
    assert place.preview.report() is None
    place.preview.show()
    qtbot.waitUntil(lambda: place.preview.report() is not None)


def test_nothing_to_preview_says_what_to_do(qtbot: Any) -> None:
    view = PreviewView()
    qtbot.addWidget(view)
    view.show_source(None, NoSource())
    assert view.report() is None
    assert not view.findChild(QLabel, "previewRowCount").isVisibleTo(view), "there is nothing to count"


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (PreviewTally(), "no faults"),
        (PreviewTally(1, 0), "1 fault"),
        (PreviewTally(3, 0, 20), "at least 3 faults in 20 rows checked"),
        (PreviewTally(0, None, 20), "no faults in 20 rows checked"),
        (PreviewTally(0, None, 0), "faults not checked"),
    ],
)
def test_tallies_in_words(tally: PreviewTally, words: str) -> None:
    assert tally.words("fault", "faults") == words
