"""Some versions of PySide6 lose a reference to True on each signal emission and abort after some hundred."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QCheckBox
from pytestqt.qtbot import QtBot


class Sender(QObject):
    told = Signal(bool)
    plain = Signal(object)


def test_two_thousand_emissions(qtbot: QtBot, qapp: QApplication) -> None:
    sender, box = Sender(), QCheckBox()
    qtbot.addWidget(box)
    count = 0

    def hear(_value: object) -> None:
        nonlocal count
        count += 1

    sender.told.connect(hear)
    sender.plain.connect(hear)
    box.toggled.connect(hear)
    for number in range(2_000):
        sender.told.emit(True)
        sender.plain.emit(number % 2 == 0)
        box.setChecked(number % 2 == 0)
    assert count == 6_000
    assert sys.getrefcount(True) > 100
