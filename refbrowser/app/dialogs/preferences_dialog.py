"""The dialog of the preferences: each takes effect as it is changed; and who works where exports run."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.settings.preferences import COMPUTE, PREFERENCES, Preference, Preferences
from refbrowser.app.tasks.tasks import Tasks
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import framed, plain_label, push_button, resize_within_screen
from refbrowser.views.compute_places import CLUSTER, PROCESSES, ComputeChoice, ask_workers, workers_text
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.engine.compute import ComputeStatus

#: Least widths of a label and of a field.
_LABEL, _FIELD = 210, 210
#: Under this name a scheduler is asked; asked anew, the newest counts.
_ASKING = "ask workers"

#: Who answered is asked again after so long, in milliseconds, as long as the page is seen.
_AGAIN = 5000

#: What the command line calls its options, and what they are called here.
_OPTIONS = {
    "--dask-tls-ca": "“TLS authority”",
    "--dask-tls-cert": "“TLS certificate”",
    "--dask-tls-key": "“TLS key”",
}

Field = QCheckBox | QComboBox | QSpinBox | QLineEdit


class WorkersCard(QFrame):
    """Says who works where exports run: asked off the window's thread, told whatever the answer is."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self.setObjectName("card")
        self._tasks = tasks
        self._choice = ComputeChoice()
        self._dashboard = ""
        self._text = plain_label("")
        self._text.setObjectName("computeStatus")
        self._text.setAccessibleName("Workers of exports")
        self._open = push_button("Open the dashboard", "computeDashboardButton", self._open_dashboard)
        self._again = push_button("Ask again", "computeAskButton", lambda: self.ask(self._choice))
        # Workers come and go, and so does their memory.
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_AGAIN)
        self._later.timeout.connect(lambda: self._run(Tasks.PREPARING))
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(self._again)
        buttons.addWidget(self._open)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(self._text)
        layout.addLayout(buttons)
        self._tell("")

    def ask(self, choice: ComputeChoice) -> None:
        """Ask who works there, and show it; what was asked before counts no more."""
        self._choice = choice
        self.leave()
        if choice.kind == CLUSTER and not choice.scheduler:
            self._tell("Type the address that the scheduler printed when it started.")
            return
        if choice.kind == CLUSTER:
            self._tell(f"Asking {one_line(choice.scheduler)} for its workers…")
        self._run(f"List the workers {choice.words}" if choice.kind == CLUSTER else Tasks.PREPARING)

    def leave(self) -> None:
        """Let no answer come any more."""
        self._later.stop()
        self._tasks.cancel_owner(_ASKING)

    def _run(self, title: str) -> None:
        choice = self._choice
        self._tasks.run(
            _ASKING, title, lambda control: ask_workers(choice, control), self._show, self._failed
        )

    def _show(self, status: ComputeStatus | None) -> None:
        if self._choice.kind == PROCESSES:
            self._tell(
                "Each export starts its own processes, which end with it. They need more memory than "
                "threads of this program, and help where much is decoded and encoded."
            )
        elif status is not None and self._choice.kind == CLUSTER:
            link = one_line(status.dashboard or "")
            where = f"\nDashboard: {link}" if link else "\nThe scheduler has no dashboard."
            text = f"{one_line(self._choice.scheduler)} answers: {workers_text(status)}{where}"
            self._tell(text, link=link)
            self._later.start()
        else:
            self._tell("Exports run in threads of this program. There is nothing to set up.")

    def _failed(self, error: BaseException) -> None:
        text = error_text(error)
        for option, words in _OPTIONS.items():
            text = text.replace(option, words)
        self._tell(text, "fault")

    def _tell(self, text: str, role: str = "", link: str = "") -> None:
        self._dashboard = link
        # Not hidden in between: who has come to it by the keyboard stays there.
        self._open.setVisible(link.startswith(("http://", "https://")))
        self._again.setVisible(self._choice.kind == CLUSTER and bool(self._choice.scheduler))
        self._text.setProperty("role", role)
        self._text.style().unpolish(self._text)
        self._text.style().polish(self._text)
        self._text.setText(text)

    def _open_dashboard(self) -> None:
        QDesktopServices.openUrl(QUrl(self._dashboard))


class PreferencesDialog(QDialog):
    """Shows every preference with a widget of its own; there is nothing to apply."""

    def __init__(self, preferences: Preferences, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preferencesDialog")
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._preferences = preferences
        self._widgets: dict[str, Field] = {}
        #: What stands in the form for a field that has something beside it.
        self._rows: dict[str, QWidget] = {}
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        whole.setSpacing(theme.LARGE)
        self._tabs = QTabWidget()
        self._tabs.setObjectName("preferencesTabs")
        self._tabs.tabBar().setAccessibleName("Pages of the preferences")
        self._tabs.addTab(framed(self._make_general()), "General")
        self._workers = WorkersCard(tasks)
        self._tabs.addTab(framed(self._make_compute()), COMPUTE)
        self._tabs.currentChanged.connect(lambda _page: self._ask())
        whole.addWidget(self._tabs, 1)
        whole.addLayout(self._buttons())
        preferences.changed.connect(self._changed)
        for item in PREFERENCES:
            self._show(item.name)
        self._fit_compute()
        resize_within_screen(self, self.sizeHint().width(), self.sizeHint().height())

    def show_compute(self) -> None:
        """Show where exports run."""
        self._tabs.setCurrentIndex(1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Return ends what is typed; it does not close the dialog.
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not (is_return and isinstance(self.focusWidget(), QLineEdit)):
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._workers.leave()

    def _make_general(self) -> QWidget:
        body, layout = _page()
        general = (item for item in PREFERENCES if item.section != COMPUTE)
        for section, group in groupby(general, key=lambda item: item.section):
            title = plain_label(section, wrap=False)
            title.setFont(theme.heading_font(1))
            layout.addWidget(title)
            layout.addLayout(self._form(list(group)))
            layout.addSpacing(theme.MEDIUM)
        note = "Changes take effect at once. All other limits are fixed: "
        layout.addWidget(plain_label(f"{note}refbrowser limits lists them.", role="muted"))
        layout.addStretch(1)
        return body

    def _make_compute(self) -> QWidget:
        body, layout = _page()
        words = (
            "Where exports of stores run: their chunks are read, coded and written one by one. Everything "
            "else runs in this program."
        )
        layout.addWidget(plain_label(words, role="muted"))
        self._compute = self._form([item for item in PREFERENCES if item.section == COMPUTE])
        self._compute.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        layout.addLayout(self._compute)
        layout.addSpacing(theme.MEDIUM)
        layout.addWidget(self._workers)
        note = "The manual page On a cluster (Shift+F1) explains how to start one, and what its workers need."
        layout.addWidget(plain_label(note, role="muted"))
        layout.addStretch(1)
        return body

    def _changed(self, name: str) -> None:
        self._show(name)
        if name.startswith("compute"):
            self._fit_compute()
            self._ask()

    def _fit_compute(self) -> None:
        """Show the fields that count for what is chosen."""
        choice = self._preferences.compute
        is_cluster = choice.kind == CLUSTER
        is_tls = is_cluster and choice.scheduler.startswith("tls:")
        seen = {"compute_processes": choice.kind == PROCESSES, "compute_scheduler": is_cluster}
        for name in ("compute_processes", "compute_scheduler", "compute_ca", "compute_cert", "compute_key"):
            self._compute.setRowVisible(self._rows.get(name, self._widgets[name]), seen.get(name, is_tls))

    def _ask(self) -> None:
        if self._tabs.currentIndex() == 1:
            self._workers.ask(self._preferences.compute)
        else:
            self._workers.leave()

    def _form(self, items: list[Preference]) -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        form.setHorizontalSpacing(theme.HUGE)
        form.setVerticalSpacing(theme.MEDIUM)
        form.setContentsMargins(theme.LARGE, 0, 0, 0)
        for item in items:
            widget = self._widgets[item.name] = self._make(item)
            widget.setObjectName(f"preference_{item.name}")
            widget.setAccessibleName(item.title)
            widget.setAccessibleDescription(item.tip)
            widget.setToolTip(item.tip)
            if isinstance(widget, QCheckBox):
                form.addRow(widget)
                continue
            label = plain_label(item.title, wrap=False)
            label.setBuddy(widget)
            label.setMinimumWidth(_LABEL)
            if isinstance(widget, QLineEdit) and not item.typed:
                form.addRow(label, self._with_browse(item, widget))
            else:
                form.addRow(label, widget)
        return form

    def _with_browse(self, item: Preference, field: QLineEdit) -> QWidget:
        both = self._rows[item.name] = QWidget()
        both.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        line = QHBoxLayout(both)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.MEDIUM)
        line.addWidget(field, 1)
        line.addWidget(push_button("Browse…", f"{item.name}Browse", lambda: self._browse(item)))
        return both

    def _browse(self, item: Preference) -> None:
        dialog = QFileDialog(
            self, item.title, self._preferences.text(item.name), "PEM (*.pem *.crt *.key);;All files (*)"
        )
        dialog.setObjectName("preferenceFileDialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self._preferences.set(item.name, path))
        dialog.open()

    def _make(self, item: Preference) -> Field:
        if isinstance(item.default, bool):
            tick = QCheckBox(item.title)
            tick.toggled.connect(lambda on: self._preferences.set(item.name, on))
            return tick
        if isinstance(item.default, int):
            number = QSpinBox()
            number.setRange(item.low, item.high)
            number.setGroupSeparatorShown(True)
            number.setSuffix(f" {item.unit}" if item.unit else "")
            number.setSpecialValueText(item.lowest)
            # Not each digit on the way to a number.
            number.setKeyboardTracking(False)
            number.setMinimumWidth(_FIELD)
            number.valueChanged.connect(lambda value: self._preferences.set(item.name, value))
            return number
        if item.typed is not None:
            field = QLineEdit()
            field.setPlaceholderText(item.typed)
            field.setMinimumWidth(_FIELD if item.typed else 0)
            field.editingFinished.connect(lambda: self._preferences.set(item.name, field.text()))
            return field
        choice = QComboBox()
        for value, title in item.choices or _colour_maps():
            choice.addItem(title, value)
        choice.setMinimumWidth(_FIELD)
        choice.currentIndexChanged.connect(
            lambda index: self._preferences.set(item.name, str(choice.itemData(index)))
        )
        return choice

    def _buttons(self) -> QHBoxLayout:
        line = QHBoxLayout()
        restore = push_button(
            "Restore defaults", "preferencesDefaultsButton", self._preferences.restore_defaults
        )
        close = push_button("Close", "preferencesCloseButton", self.close)
        close.setDefault(True)
        line.addWidget(restore)
        line.addStretch(1)
        line.addWidget(close)
        return line

    def _show(self, name: str) -> None:
        """Show the value in force, without setting it again."""
        widget = self._widgets[name]
        widget.blockSignals(True)
        if isinstance(widget, QCheckBox):
            widget.setChecked(self._preferences.is_on(name))
        elif isinstance(widget, QSpinBox):
            widget.setValue(self._preferences.number(name))
        elif isinstance(widget, QLineEdit):
            widget.setText(self._preferences.text(name))
        else:
            widget.setCurrentIndex(widget.findData(self._preferences.text(name)))
        widget.blockSignals(False)


def _page() -> tuple[QWidget, QVBoxLayout]:
    body = QWidget()
    layout = QVBoxLayout(body)
    layout.setContentsMargins(theme.LARGE, theme.LARGE, theme.LARGE, theme.LARGE)
    layout.setSpacing(theme.MEDIUM)
    return body, layout


def _colour_maps() -> list[tuple[str, str]]:
    """Return the colour maps; the plot's libraries know them."""
    from refbrowser.app.plot.colours.colour_maps import all_maps

    return [(title, title) for title in all_maps()]
