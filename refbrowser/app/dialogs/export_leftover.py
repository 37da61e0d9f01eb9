"""The question what is to become of what an interrupted export left at the target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from refbrowser.views.words import one_line


def ask_leftover(parent: QWidget, target: str, answered: Callable[[bool], object], *, is_same: bool) -> None:
    """Ask whether an export goes on, or removes what an interrupted one wrote and begins anew.

    Parameters
    ----------
    answered
        Called with whether it goes on; not at all where nothing is to be done.
    is_same
        It can go on; else what was written is of another export.
    """
    name = one_line(Path(target).name)
    box = QMessageBox(parent)
    box.setObjectName("exportLeftover")
    box.setWindowTitle("Export")
    box.setTextFormat(Qt.TextFormat.PlainText)
    resume = None
    if is_same:
        box.setText(f"An export to {name} was interrupted")
        box.setInformativeText("Go on from there, or remove what it wrote and begin anew?")
        resume = box.addButton("Go on", QMessageBox.ButtonRole.AcceptRole)
        resume.setObjectName("exportLeftoverResume")
    else:
        box.setText(f"Another export to {name} was interrupted")
        box.setInformativeText(
            "It was of another format, of other arrays, or with other options: this one cannot go on from "
            "there. Remove what it wrote and begin anew? Another target keeps it."
        )
    anew = box.addButton("Begin anew", QMessageBox.ButtonRole.DestructiveRole)
    anew.setObjectName("exportLeftoverAnew")
    cancel = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    cancel.setObjectName("exportLeftoverCancel")
    box.setDefaultButton(resume or cancel)
    box.setEscapeButton(cancel)

    def finished(_code: int) -> None:
        clicked = box.clickedButton()
        if clicked is anew or (resume is not None and clicked is resume):
            answered(clicked is not anew)

    box.finished.connect(finished)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
