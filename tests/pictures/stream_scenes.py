"""The scenes of streams: kinds of variables, messages, damage, and the dialogs that change streams."""

from __future__ import annotations

from pathlib import Path

from kinds_stream import write_kinds
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton, QWidget
from scenes import Stage, scene

from refbrowser.app.controller.open_document import OpenDocument


def kinds(stage: Stage, array: str) -> OpenDocument:
    """Open the stream with a variable of each kind."""
    document = stage.open(write_kinds(stage.folder / "kinds.ncs"), array)
    stage.settle()
    return document


def cut_off(stage: Stage) -> Path:
    """Return a stream that ends within a message."""
    whole = write_kinds(stage.folder / "whole.ncs").read_bytes()
    return stage.write("cut.ncs", whole[: len(whole) // 2])


@scene
def ragged_rows(stage: Stage) -> None:
    kinds(stage, "/sounding")
    plot = stage.window.centre.plot
    assert plot is not None
    plot.values.table.set_current(3)
    stage.settle()


@scene
def ragged_values(stage: Stage) -> None:
    kinds(stage, "/sounding")
    plot = stage.window.centre.plot
    assert plot is not None
    assert plot.values.charts is not None
    plot.values.charts.all.click()
    stage.settle()


@scene
def structure(stage: Stage) -> None:
    kinds(stage, "/obs")


@scene
def structure_column(stage: Stage) -> None:
    kinds(stage, "/obs")
    plot = stage.window.centre.plot
    assert plot is not None
    plot.choose_part("temperature")
    stage.settle()


@scene
def enumeration(stage: Stage) -> None:
    kinds(stage, "/weather")


@scene
def messages(stage: Stage) -> None:
    kinds(stage, "/field")
    stage.wait(lambda: stage.window.actions_["show_messages"].isEnabled())
    stage.trigger("show_messages")
    stage.settle()
    QTest.qWait(300)
    stage.settle()


@scene
def cut_stream(stage: Stage) -> None:
    stage.open(cut_off(stage), "/field")
    stage.settle()


@scene
def repaired_stream(stage: Stage) -> QWidget:
    stage.open(cut_off(stage), "/field")
    stage.settle()
    dialog = stage.dialog("repair_stream")
    button = dialog.findChild(QPushButton, "repairStartButton")
    assert isinstance(dialog, QDialog)
    assert button is not None
    button.click()
    stage.settle()
    return dialog
