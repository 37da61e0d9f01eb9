"""Both byte orders of a stream: the bar, the comparison, and the choice that is kept for the file."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from streams_made import write_doubtful, write_ocean
from unnamed_widgets import unnamed
from window_fixtures import Open, button

from refbrowser.app.shell.main_window import MainWindow
from refbrowser.wings.ncstream.window.byte_order_dialog import ByteOrderDialog
from refbrowser.wings.ncstream.window.messages_link import MessagesLink

Settle = Callable[[], None]


def link_of(window: MainWindow) -> MessagesLink:
    assert window.pages.get("messages") is not None
    return window.pages["messages"]


def first_value(window: MainWindow) -> float:
    plot = window.centre.plot
    assert plot is not None
    picture = plot.picture()
    assert picture is not None
    return float(picture.values[1])


def compare(window: MainWindow, settle: Settle) -> ByteOrderDialog:
    window.actions_["compare_orders"].trigger()
    settle()
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, ByteOrderDialog)
    return dialog


EXPECTED = 280 + 10 * math.sin(1 / 20)


@pytest.mark.slow
def test_where_the_flag_is_wrong_the_rule_is_right_and_said(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    document = opened(write_doubtful(tmp_path))
    settle()
    window.hierarchy.select_node(document, "/t")
    settle()
    assert first_value(window) == pytest.approx(EXPECTED)
    bar = link_of(window).order_bar
    assert bar.isVisible()
    assert "wrongly" in bar.text()
    dialog = compare(window, settle)
    assert unnamed(dialog) == []
    rows = dialog.texts()
    assert rows["Greatest"][0] == "289.9999"
    assert rows["Absurdly large or small"][0] == "0 %"
    assert rows["Absurdly large or small"][1] != "0 %"
    assert dialog.summary().startswith(
        "Big endian makes more sense, by 400 values. Now it is read by the rule"
    )
    assert not button(dialog, "byteOrderRuleButton").isEnabled()
    dialog.reject()
    button(window, "byteOrderDismissButton").click()
    assert not bar.isVisible()
    settle()
    assert not bar.isVisible()


@pytest.mark.slow
def test_a_choice_is_taken_at_once_and_kept_for_the_file(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    path = write_doubtful(tmp_path, little=True)
    document = opened(path)
    settle()
    window.hierarchy.select_node(document, "/t")
    settle()
    assert first_value(window) != pytest.approx(EXPECTED)
    dialog = compare(window, settle)
    assert dialog.summary().startswith("Little endian makes more sense")
    button(dialog, "byteOrderLittleButton").click()
    settle()
    assert first_value(window) == pytest.approx(EXPECTED)
    assert link_of(window).order_bar.text() == (
        "All numbers are read as little endian, as you chose for this file."
    )
    assert window.settings.byte_order(str(path)) == "little"
    window.documents.close(document)
    settle()
    assert not link_of(window).order_bar.isVisible()
    again = opened(path)
    settle()
    window.hierarchy.select_node(again, "/t")
    settle()
    assert first_value(window) == pytest.approx(EXPECTED)
    # Reading the file again keeps the choice; the rule takes it back.
    again.reload()
    settle()
    assert again.part.origin is not None
    assert again.part.origin.options.byte_order == "little"
    dialog = compare(window, settle)
    button(dialog, "byteOrderRuleButton").click()
    settle()
    assert first_value(window) != pytest.approx(EXPECTED)
    assert window.settings.byte_order(str(path)) == ""


@pytest.mark.slow
def test_a_stream_without_doubt_has_no_bar_and_can_be_compared(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    document = opened(write_ocean(tmp_path))
    settle()
    assert not link_of(window).order_bar.isVisible()
    window.hierarchy.select_node(document, "/salt")
    settle()
    dialog = compare(window, settle)
    # The array that is plotted is looked at first.
    assert dialog.texts()["Least"][0] == "300"
    assert "Big endian" in dialog.summary()
    dialog.reject()


@pytest.mark.slow
def test_with_unsaved_edits_nothing_can_be_chosen(
    window: MainWindow, opened: Open, settle: Settle, tmp_path: Path
) -> None:
    from refbrowser.references.edits.edits import RemoveReference

    document = opened(write_ocean(tmp_path))
    settle()
    assert document.apply(RemoveReference("salt/.zattrs"))
    settle()
    dialog = compare(window, settle)
    for name in ("Rule", "Flag", "Big", "Little"):
        assert not button(dialog, f"byteOrder{name}Button").isEnabled()
    assert dialog.summary().endswith("Save or undo the edits first: they would be lost.")
    dialog.reject()
