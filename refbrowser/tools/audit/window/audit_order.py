"""What is to be audited: level, arrays, what it costs; Start, Cancel, and how far it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.elided_label import ElidedLabel
from refbrowser.app.widgets.rows import FlowLayout
from refbrowser.app.widgets.small_widgets import combo_box, plain_label, push_button, show_progress
from refbrowser.engine.audit.audit_plan import SAMPLE, AuditRequest, Level
from refbrowser.formats.option_fields import declared
from refbrowser.views.speed import SEPARATOR, Speed, job_words
from refbrowser.views.words import one_line
from refbrowser.words import counted, rounded_time_text, size_text

if TYPE_CHECKING:
    from refbrowser.app.controller.document_audit import AskedCost
    from refbrowser.engine.jobs import JobStatus

_OPTIONS = declared(AuditRequest)
_ALL = "all arrays"
_LONGEST = 40


class AuditOrder(QWidget):
    """One line of choices, and one that tells what they cost or how far the audit is.

    Signals
    -------
    requested(object)
        Another `AuditRequest` is chosen: what it costs is wanted.
    started(object)
        It is to begin, or to go on (`AuditRequest.resume`).
    cancelled()
        What runs is to end.
    permissionsWanted()
        The user wants to see what may be read.
    expectationWanted()
        The user wants to say what should be there.
    """

    requested = Signal(object)
    started = Signal(object)
    cancelled = Signal()
    permissionsWanted = Signal()
    expectationWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._array: str | None = None
        self._asked: AskedCost | None = None
        self._speed = Speed()
        self._is_running = self._has_lock = False
        self.level = combo_box("auditLevel", _OPTIONS["level"].title)
        for item in _OPTIONS["level"].items:
            self.level.addItem(item.title, Level(item.text))
        # What the document alone tells is shown without asking.
        self.level.setCurrentIndex(self.level.findData(Level.STAT))
        self.sample = QSpinBox()
        self.sample.setObjectName("auditSample")
        self.sample.setAccessibleName(_OPTIONS["sample"].title)
        self.sample.setRange(*_OPTIONS["sample"].limits)
        self.sample.setValue(SAMPLE)
        self.sample.setSuffix(f" {_OPTIONS['sample'].unit}")
        self.sample.setKeyboardTracking(False)
        self.arrays = combo_box("auditArrays", _OPTIONS["arrays"].title)
        self.arrays.addItem(_ALL, None)
        self.lock = QCheckBox(_OPTIONS["lock"].label)
        self.lock.setObjectName("auditLock")
        self.lock.setToolTip(_OPTIONS["lock"].tip)
        self.start = push_button("Start", "auditStartButton", lambda: self._start(resume=False))
        self.resume = push_button(
            _OPTIONS["resume"].label, "auditResumeButton", lambda: self._start(resume=True)
        )
        self.resume.setToolTip(_OPTIONS["resume"].tip)
        self.cancel = push_button("Cancel", "auditCancelButton", self.cancelled.emit)
        self.permissions = push_button("Permissions…", "auditPermissionsButton", self.permissionsWanted.emit)
        self.expected = push_button("Expected…", "auditExpectedButton", self.expectationWanted.emit)
        self.expected.setToolTip("Say or learn what should be there, and see what is missing by date")
        self.words = ElidedLabel("auditCost", role="muted")
        self.bar = QProgressBar()
        self.bar.setObjectName("auditProgress")
        self.bar.setAccessibleName("How much of the audit is done")
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self._build()
        self.level.activated.connect(lambda _at: self._changed())
        self.arrays.activated.connect(lambda _at: self._changed())
        self.sample.valueChanged.connect(lambda _value: self._changed())
        self.lock.toggled.connect(lambda _on: self._changed())
        self._show()

    def _build(self) -> None:
        label = plain_label("Look at", role="muted", wrap=False)
        label.setBuddy(self.level)
        buttons = (self.start, self.resume, self.cancel, self.permissions, self.expected)
        choices = flowing(label, self.level, self.sample, self.arrays, self.lock, *buttons)
        told = QHBoxLayout()
        told.setSpacing(theme.MEDIUM)
        told.addWidget(self.bar)
        told.addWidget(self.words, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SMALL, theme.SMALL, theme.SMALL, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(choices)
        layout.addLayout(told)

    # What is chosen

    def request(self, *, resume: bool = False) -> AuditRequest:
        """Return what is chosen."""
        path = self.arrays.currentData()
        arrays = () if path is None else (str(path),)
        level, lock = Level(self.level.currentData()), self._has_lock and self.lock.isChecked()
        return AuditRequest(level, arrays, self.sample.value(), resume, lock)

    def choose(self, request: AuditRequest) -> None:
        """Show a request as what is chosen."""
        self.level.setCurrentIndex(self.level.findData(request.level))
        self.sample.blockSignals(True)
        self.sample.setValue(request.sample)
        self.sample.blockSignals(False)
        self.lock.setChecked(request.lock)
        self.arrays.setCurrentIndex(
            max(0, self.arrays.findData(request.arrays[0] if request.arrays else None))
        )
        self._changed()

    def set_array(self, path: str | None) -> None:
        """Offer to look at an array alone, the one that is selected; what is chosen stays."""
        if path == self._array or self.arrays.currentIndex() > 0:
            return
        self._array = path
        while self.arrays.count() > 1:
            self.arrays.removeItem(1)
        if path is not None:
            name = one_line(path)
            shown = name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
            self.arrays.addItem(f"{shown} alone", path)

    def set_lock(self, has_lock: bool) -> None:
        """Offer to compare files with the lock of the document, where it has one."""
        self._has_lock = has_lock
        self._show()

    def reset(self) -> None:
        """Begin anew, for another document."""
        self.arrays.setCurrentIndex(0)
        self.set_array(None)
        self._asked = None
        self._show()

    def _changed(self) -> None:
        self._asked = None
        self._show()
        self.requested.emit(self.request())

    def _start(self, *, resume: bool) -> None:
        self.started.emit(self.request(resume=resume))

    # What is told

    def set_cost(self, asked: AskedCost) -> None:
        """Tell what the audit that is chosen costs; what others cost is of no interest any more."""
        if asked.request == self.request():
            self._asked = asked
            self._show()

    def set_words(self, words: str) -> None:
        """Tell something else: why there is no cost, or that an audit failed."""
        self.words.set_text(words)

    def set_running(self, is_running: bool, status: JobStatus | None) -> None:
        """Tell whether an audit is under way, and how far it is."""
        if not is_running:
            self._speed = Speed()
        self._is_running = is_running
        if status is not None and is_running:
            self._speed.take(status, time.monotonic())
            show_progress(self.bar, status.done, status.total)
            share = status.done / status.total if status.total else None
            self.words.set_text(SEPARATOR.join(job_words(status, share, self._speed, time.monotonic())))
        elif is_running:
            show_progress(self.bar, 0, None)
            self.words.set_text("waiting for its turn")
        self._show()

    def _show(self) -> None:
        running, asked = self._is_running, self._asked
        self.sample.setVisible(self.level.currentData() == Level.SAMPLE)
        self.lock.setVisible(self._has_lock)
        self.bar.setVisible(running)
        self.cancel.setVisible(running)
        self.start.setVisible(not running)
        self.start.setEnabled(asked is not None)
        kept = 0 if asked is None or running else asked.kept
        self.resume.setVisible(bool(kept))
        blocked = () if asked is None or running else asked.cost.blocked
        self.permissions.setVisible(bool(blocked))
        for box in (self.level, self.sample, self.arrays, self.lock):
            box.setEnabled(not running)
        if running:
            return
        if asked is None:
            self.words.set_text("…")
            return
        words = [f"{cost_words(asked)}."]
        if kept:
            words.append("An audit with these settings was interrupted; Go on keeps what it found.")
        if blocked:
            files = counted(sum(each.urls for each in blocked), "file")
            where = ", ".join(one_line(each.origin) for each in blocked[:3])
            words.append(f"Not checked without your permission: {files} at {where}.")
        self.words.set_text(" ".join(words))


def flowing(*parts: QWidget) -> QWidget:
    """Return a line of widgets that is wrapped where it is narrow."""
    box = QWidget()
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    box.setSizePolicy(policy)
    flow = FlowLayout(box, spacing=theme.SMALL)
    for part in parts:
        flow.addWidget(part)
    return box


def cost_words(asked: AskedCost) -> str:
    """Return what an audit costs, as a sentence without its full stop."""
    level, cost = asked.request.level, asked.cost
    if not (level.asks or asked.request.lock):
        return "Costs nothing: no file is asked about or read"
    about = "" if cost.is_exact else "about "
    read = f", {counted(cost.chunks, 'chunk')} read" if level.reads else ""
    compared = f", {counted(cost.compared, 'file')} compared with the lock" if cost.compared else ""
    return (
        f"Costs {about}{counted(cost.requests, 'request')}, {about}{size_text(cost.size)}, "
        f"{rounded_time_text(cost.seconds)} at the known speed: "
        f"{counted(cost.urls, 'file')} asked about{compared}{read}"
    )
