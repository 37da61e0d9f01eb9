"""The scenes of streams: kinds of variables, messages, damage, and the dialogs that change streams."""

from __future__ import annotations

from pathlib import Path

from kinds_stream import write_kinds
from PySide6.QtWidgets import QDialog, QPushButton, QWidget
from scenes import Stage, scene
from streams_made import write_doubtful, write_ocean

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.wings.ncstream.window.messages_pane import PICTURE


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


def show_message(stage: Stage, number: int) -> None:
    """Show the messages of a stream with tiles, a correction and holes, one of them chosen."""
    stage.open(write_ocean(stage.folder), "/temp")
    stage.settle()
    stage.wait(lambda: stage.window.pages.get("messages") is not None)
    stage.trigger("show_messages")
    stage.settle()
    link = stage.window.pages["messages"]
    assert link is not None
    link.pane.show_message(number)
    stage.settle()
    # What is chosen lights up for a moment.
    stage.wait(lambda: not link.mark.is_lit())
    stage.settle()


@scene
def messages(stage: Stage) -> None:
    show_message(stage, 5)


@scene
def message_picture(stage: Stage) -> None:
    show_message(stage, 5)
    link = stage.window.pages["messages"]
    assert link is not None
    link.pane.switch.set_page(PICTURE)
    stage.settle()


@scene
def message_in_plot(stage: Stage) -> None:
    show_message(stage, 5)
    stage.trigger("show_plot")
    stage.settle()


@scene
def messages_as_of(stage: Stage) -> None:
    message_picture(stage)
    document = stage.window.documents.current
    assert document is not None
    document.part.show_until(4)
    stage.wait(lambda: document.part.last == 4)
    stage.settle()


@scene
def byte_order(stage: Stage) -> QWidget:
    stage.open(write_doubtful(stage.folder), "/t")
    stage.settle()
    stage.wait(lambda: stage.window.pages.get("messages") is not None)
    return stage.dialog("compare_orders")


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
