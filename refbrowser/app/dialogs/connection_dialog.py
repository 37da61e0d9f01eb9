"""The dialog for connecting to one origin; what it says is used until the window closes, and never saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import grow_to_words, plain_label
from refbrowser.errors import RefbrowserError
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.io.origins import Origin
    from refbrowser.io.settings import ConnectionSettings

_TEXTS = {
    "profile": ("&Profile", "name of stored credentials"),
    "endpoint": ("&Endpoint", "https://storage.example.org"),
    "region": ("&Region", "eu-central-1"),
    "account": ("A&ccount", "name of the storage account"),
}
_HEADER_HINT = "Authorization=MY_TOKEN_VARIABLE"
#: Settings that an origin of a protocol can have; `headers` stands for any number of them.
_FIELDS = {
    "http": ("headers",),
    "https": ("headers",),
    "s3": ("anonymous", "profile", "endpoint", "region", "requester_pays"),
    "gs": ("anonymous", "profile", "endpoint", "requester_pays"),
    "abfs": ("anonymous", "account"),
}


class ConnectionDialog(QDialog):
    """How to connect to one origin; `settings` gives what was chosen when it is accepted."""

    def __init__(self, origin: Origin, settings: ConnectionSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("connectionDialog")
        self.setWindowTitle("Connection")
        self.setModal(True)
        self.resize(560, 10)
        self._names = _FIELDS[origin.scheme]
        self._texts: dict[str, QLineEdit] = {}
        self._checks: dict[str, QCheckBox] = {}
        heading = plain_label(f"Connecting to {one_line(str(origin))}")
        heading.setFont(theme.heading_font())
        text = plain_label(
            "Used for this origin alone, by all documents, until the window is closed. It is never saved.",
            role="muted",
        )
        self._problem = plain_label("", role="fault")
        self._problem.setObjectName("connectionProblem")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addLayout(self._make_form(settings))
        layout.addWidget(self._problem)
        layout.addWidget(self._make_buttons())
        self._check()

    def settings(self) -> ConnectionSettings:
        """Return the settings that the fields say.

        Raises
        ------
        RefbrowserError
            `E_USAGE`: a field holds what cannot be.
        """
        from refbrowser.io.settings import ConnectionSettings

        settings = ConnectionSettings()
        for name, field in self._texts.items():
            value = field.text().strip()
            if name == "headers":
                for part in filter(None, map(str.strip, value.split(","))):
                    header, _equals, variable = part.partition("=")
                    settings = settings.with_option(f"header.{header.strip()}", variable.strip())
            elif value:
                settings = settings.with_option(name, value)
        for name, box in self._checks.items():
            settings = settings.with_option(name, "true" if box.isChecked() else "false")
        settings.header_values()
        return settings

    def _make_form(self, settings: ConnectionSettings) -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        if "anonymous" in self._names:
            form.addRow(self._box("anonymous", "Send &no credentials", settings.anonymous))
        for name, (label, hint) in _TEXTS.items():
            if name in self._names:
                form.addRow(label, self._line(name, label, hint, getattr(settings, name) or ""))
        if "requester_pays" in self._names:
            words = "The requester pa&ys: agree to be charged"
            form.addRow(self._box("requester_pays", words, settings.requester_pays))
        if "headers" in self._names:
            label = "&Headers from environment variables"
            given = ", ".join(f"{name}={variable}" for name, variable in settings.headers.items())
            form.addRow(label, self._line("headers", label, _HEADER_HINT, given))
        profile = self._texts.get("profile")
        if profile is not None:
            # Named credentials are there to be sent.
            profile.textEdited.connect(lambda text: self._checks["anonymous"].setChecked(not text.strip()))
        return form

    def _line(self, name: str, label: str, hint: str, value: str) -> QLineEdit:
        field = self._texts[name] = QLineEdit(value)
        field.setObjectName(f"connection_{name}")
        field.setAccessibleName(label.replace("&", ""))
        field.setPlaceholderText(hint)
        field.setMinimumWidth(field.fontMetrics().horizontalAdvance(hint) + theme.HUGE)
        field.textChanged.connect(lambda _text: self._check())
        return field

    def _box(self, name: str, label: str, value: bool) -> QCheckBox:
        box = self._checks[name] = QCheckBox(label)
        box.setObjectName(f"connection_{name}")
        box.setAccessibleName(label.replace("&", ""))
        box.setChecked(value)
        return box

    def _make_buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        self._use = buttons.addButton("Use", QDialogButtonBox.ButtonRole.AcceptRole)
        self._use.setObjectName("connectionUseButton")
        cancel = buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setObjectName("connectionCancelButton")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        return buttons

    def _check(self) -> None:
        problem = ""
        try:
            self.settings()
        except RefbrowserError as error:
            problem = f"{error.message[:1].upper()}{error.message[1:]}."
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self._use.setEnabled(not problem)
        grow_to_words(self)
