"""The status bar: what runs, what was read, what is pending; and words about what is under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.panes.history_pane import pending_words
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import icons, theme
from refbrowser.app.widgets.elided_label import ElidedLabel, LineButton
from refbrowser.app.widgets.small_widgets import one_shot, plain_label
from refbrowser.views.hierarchy import short_format
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, size_text

if TYPE_CHECKING:
    from refbrowser.engine.jobs import JobStatus
    from refbrowser.io.archives.directory import ZipMember

#: Words about what was just done stay so long, in milliseconds.
SAID = 15_000
#: Members of archives that a tool tip names.
MEMBERS_NAMED = 5


class StatusLine(QObject):
    """Fills a status bar.

    Signals
    -------
    jobsWanted(), problemsWanted()
        The user wants to see the jobs, or the findings.
    serviceWanted(str)
        The user wants the address at which a dataset is offered.
    confirmWanted()
        The user wants what is shown to be confirmed now.
    """

    jobsWanted = Signal()
    findingsWanted = Signal()
    serviceWanted = Signal(str)
    confirmWanted = Signal()

    def __init__(self, bar: QStatusBar, tasks: Tasks) -> None:
        # It goes with the bar whose labels it fills: jobs may still tell of their end when the bar is gone.
        super().__init__(bar)
        self._tasks = tasks
        self._read: dict[int, tuple[int, int]] = {}
        self._all_read, self._all_requests = 0, 0
        self._hover = ElidedLabel("statusText", role="muted")
        self._hover.setMargin(theme.SMALL)
        self._said = one_shot(self, SAID, lambda: self._hover.set_text(""))
        self._jobs = LineButton()
        self._jobs.setObjectName("statusJobsButton")
        self._jobs.setAccessibleName("Show jobs")
        self._jobs.setAutoRaise(True)
        self._jobs.clicked.connect(self.jobsWanted.emit)
        self._findings = LineButton()
        self._findings.setObjectName("statusProblemsButton")
        self._findings.setAutoRaise(True)
        self._findings.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._findings.clicked.connect(self.findingsWanted.emit)
        self._service = LineButton()
        self._service.setObjectName("statusServiceButton")
        self._service.setAutoRaise(True)
        self._service.setAccessibleName("Copy the address at which the dataset is served")
        self._service.hide()
        self._service.clicked.connect(lambda: self.serviceWanted.emit(self._service.text()))
        self._unconfirmed = LineButton()
        self._unconfirmed.setObjectName("statusUnconfirmedButton")
        self._unconfirmed.setAccessibleName("Not confirmed yet: read all and compare checksums")
        self._unconfirmed.setAutoRaise(True)
        self._unconfirmed.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._unconfirmed.hide()
        self._unconfirmed.clicked.connect(self.confirmWanted.emit)
        self._amount = _label("statusRead")
        self._pending = _label("statusPending")
        self._version = _label("statusVersion")
        bar.setSizeGripEnabled(False)
        left, right = QWidget(), QWidget()
        words = QHBoxLayout(left)
        words.setContentsMargins(theme.MEDIUM, 0, 0, 0)
        words.addWidget(self._hover)
        facts = QHBoxLayout(right)
        facts.setContentsMargins(0, 0, theme.MEDIUM, 0)
        facts.setSpacing(theme.HUGE - 8)
        for label in (
            self._service,
            self._unconfirmed,
            self._jobs,
            self._amount,
            self._pending,
            self._findings,
            self._version,
        ):
            facts.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
        bar.addWidget(left, 1)
        bar.addPermanentWidget(right)
        tasks.statusChanged.connect(self._jobs_changed)
        self._show_jobs()
        self.show_problems(0, 0)
        self.set_document(None)

    def say(self, text: str) -> None:
        """Show words about what was just done, for a while; of a long path both ends are seen."""
        self._hover.elide_at(Qt.TextElideMode.ElideMiddle)
        self._hover.set_text(text)
        self._said.start()

    def point_out(self, text: str) -> None:
        """Show words about what is under the pointer, until there are others; the first matter most."""
        self._said.stop()
        self._hover.elide_at(Qt.TextElideMode.ElideRight)
        self._hover.set_text(text)

    def show_problems(self, faults: int, warnings: int) -> None:
        """Show how many findings there are in all documents."""
        scheme, count = theme.colors(), faults + warnings
        name, color = ("fault", scheme.fault) if faults else ("warning", scheme.warning)
        self._findings.setIcon(icons.icon(name, color) if count else icons.icon("done", scheme.muted))
        self._findings.setText(f"Problems {count_text(count)}" if count else "No problems")
        words = f"Show problems: {count_text(faults)} faults, {count_text(warnings)} warnings"
        self._findings.setAccessibleName(words)
        self._findings.setToolTip(words)

    def show_service(self, urls: Sequence[str]) -> None:
        """Show where datasets are offered: the address that came last; nothing where none is."""
        self._service.setVisible(bool(urls))
        if urls:
            more = f", and {len(urls) - 1} more" if len(urls) > 1 else ""
            words = f"Copy the address at which the dataset is served as CDM Remote: {urls[-1]}{more}"
            self._service.setText(one_line(urls[-1]))
            self._service.setAccessibleName(words)
            self._service.setToolTip(theme.plain_tooltip(words))

    def show_unconfirmed(self, members: Sequence[ZipMember]) -> None:
        """Show that parts of members of archives are shown whose checksums are not compared yet."""
        self._unconfirmed.setVisible(bool(members))
        if not members:
            return
        self._unconfirmed.setIcon(icons.icon("warning", theme.colors().warning))
        self._unconfirmed.setText("Not confirmed yet")
        names = [f"{one_line(each.name)} ({size_text(each.size)})" for each in members[:MEMBERS_NAMED]]
        if len(members) > MEMBERS_NAMED:
            names.append(f"and {count_text(len(members) - MEMBERS_NAMED)} more")
        words = (
            "Parts of these files are shown; whether the files are intact is known only once all of their "
            f"bytes are read and their checksums compared:\n{chr(10).join(names)}\nClick to read "
            "and compare them now."
        )
        self._unconfirmed.setToolTip(theme.plain_tooltip(words))

    def text(self) -> str:
        """Return the words shown."""
        return self._hover.text()

    def set_document(self, document: OpenDocument | None) -> None:
        """Show the state of a document."""
        state = None if document is None else document.document
        version = "" if state is None else f"Version {state.version}"
        if document is not None and state is not None and state.store is not None and document.store.is_here:
            version = state.store.flavour.label
        elif document is not None and state is not None and not state.has_keys:
            version = short_format(document)
        self._version.setText(version)
        self._pending.setText("" if document is None or state is None else pending_words(document))

    def _jobs_changed(self, statuses: list[JobStatus]) -> None:
        for status in statuses:
            before = self._read.pop(status.number, (0, 0))
            self._all_read += max(0, status.read_bytes - before[0])
            self._all_requests += max(0, status.requests - before[1])
            if not status.state.finished:
                self._read[status.number] = (status.read_bytes, status.requests)
        self._show_jobs()

    def _show_jobs(self) -> None:
        running = [status for status in self._tasks.statuses() if not status.state.finished]
        # With nothing to show the keyboard goes past it.
        policy = Qt.FocusPolicy.TabFocus if running else Qt.FocusPolicy.NoFocus
        if not running and self._jobs.hasFocus():
            self._jobs.focusNextChild()
        self._jobs.setFocusPolicy(policy)
        if not running:
            self._jobs.setText("No jobs")
        elif len(running) == 1:
            self._jobs.setText(one_line(running[0].job.title))
        else:
            self._jobs.setText(f"{len(running)} jobs")
        requests = counted_spaced(self._all_requests, "request")
        read = f"{size_text(self._all_read)} in {requests}" if self._all_read else ""
        self._amount.setText(read)


def _label(name: str) -> QLabel:
    label = plain_label("", role="muted", wrap=False)
    label.setObjectName(name)
    return label
