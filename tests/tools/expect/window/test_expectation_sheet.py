"""The sheet of what should be there: learned, written, checked by variable and date, and kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from expected_sets import days, refs_of, write_refs
from window_fixtures import Open, button

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.tools.expect.window.expectation_sheet import ExpectationSheet

Settle = Callable[[], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    times = [*days("2015-01-01", "2015-02-28"), *days("2015-04-01", "2016-12-31")]
    refs = refs_of(times, variables=("t2m", "msl"), missing={"msl": [(row, 0) for row in range(31)]})
    return write_refs(tmp_path / "set.json", refs)


def show(window: MainWindow, settle: Settle) -> ExpectationSheet:
    window.actions_["show_expectation"].trigger()
    settle()
    sheet = window.findChild(ExpectationSheet)
    assert sheet is not None
    return sheet


def rows(sheet: ExpectationSheet) -> dict[str, list[str]]:
    """Return the words of the cells by variable."""
    table, found = sheet.table, {}
    for row in range(table.rowCount()):
        header = table.verticalHeaderItem(row)
        items = [table.item(row, column) for column in range(table.columnCount())]
        assert header is not None
        found[header.text()] = [item.text() for item in items if item is not None]
    return found


@pytest.mark.slow
def test_what_is_written_is_checked_by_variable_and_date(
    window: MainWindow, opened: Open, settle: Settle, path: Path
) -> None:
    document = opened(path)
    sheet = show(window, settle)
    assert not button(sheet, "expectationCheck").isEnabled()
    sheet.words.setPlainText("every month from 2015 to moon")
    assert "does not say which times are expected" in sheet.summary.text()
    assert not button(sheet, "expectationSave").isEnabled()
    sheet.words.setPlainText("every month from 2015 to 2016")
    button(sheet, "expectationCheck").click()
    settle()
    assert rows(sheet) == {"t2m": ["23 of 24", "▲ 11 of 12", "✓"], "msl": ["22 of 24", "▲ 10 of 12", "✓"]}
    assert sheet.summary.text() == "0 of 2 variables have all that should be there."
    sheet.table.setCurrentCell(1, 1)
    assert sheet.detail.text() == "msl, 2015: 2 of 12 months lack data: 2015-01, 2015-03."
    result = document.audit.result
    assert result is not None
    assert len(result.marks.of("/msl")["expected-missing"]) == 31
    assert "expected-missing" in result.counts()


@pytest.mark.slow
def test_the_page_audit_leads_to_it(window: MainWindow, opened: Open, settle: Settle, path: Path) -> None:
    opened(path)
    window.actions_["show_audit"].trigger()
    settle()
    button(window, "auditExpectedButton").click()
    settle()
    assert window.findChild(ExpectationSheet) is not None


@pytest.mark.slow
def test_what_is_learned_is_kept_beside_the_document(
    window: MainWindow, opened: Open, settle: Settle, path: Path
) -> None:
    opened(path)
    sheet = show(window, settle)
    button(sheet, "expectationLearn").click()
    settle()
    assert sheet.words.toPlainText() == "every day from 2015-01-01 to 2016-12-31 of /t2m,/msl"
    assert rows(sheet)["t2m"][:5] == ["700 of 731", "✓", "✓", "✗ none", "✓"]
    # Of 24 months those with gaps are shown first.
    shown = [at for at in range(1, 25) if not sheet.table.isColumnHidden(at)]
    assert [sheet.table.horizontalHeaderItem(at).text() for at in shown] == ["2015-01", "2015-03"]  # type: ignore[union-attr]
    sheet.gaps.setChecked(False)
    assert not any(sheet.table.isColumnHidden(at) for at in range(25))
    button(sheet, "expectationSave").click()
    settle()
    said = json.loads(Path(f"{path}.expect.json").read_text())
    assert said["expect"]["axes"][0]["step"] == "day"
    sheet.close()
    settle()
    # It is there again, and so is what it finds.
    again = show(window, settle)
    settle()
    assert again.words.toPlainText().startswith("every day from 2015-01-01")
    assert rows(again)["msl"][1] == "✗ none"
