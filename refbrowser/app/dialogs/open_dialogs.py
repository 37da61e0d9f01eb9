"""What opening asks: the URL of a document or service, and how to connect to an origin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import grow_to_words, plain_label, push_button
from refbrowser.errors import RefbrowserError
from refbrowser.formats.store_rules import flavours
from refbrowser.tools.samples.public_sets import PUBLIC_SETS
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.io.origins import ConnectionSettings, Origin


_TEXTS = {
    "profile": ("&Profile", "name of stored credentials"),
    "endpoint": ("&Endpoint", "https://storage.example.org"),
    "region": ("&Region", "eu-central-1"),
    "account": ("A&ccount", "name of the storage account"),
    "credentials": ("Temporary cre&dentials from", "https://data.example.org/s3credentials"),
    "token": ("&Token from environment variable", "MY_TOKEN_VARIABLE"),
    "login": ("&Log in at", "https://urs.earthdata.nasa.gov"),
    "netrc": ("Netrc &file", "true for the usual one, or a path"),
}
_HEADER_HINT = "Authorization=MY_TOKEN_VARIABLE"
#: Settings of those who log in.
_LOGIN = ("token", "login", "netrc")
#: Settings that an origin of a protocol can have; `headers` stands for any number of them.
_FIELDS = {
    "http": ("headers", *_LOGIN),
    "https": ("headers", *_LOGIN),
    "s3": ("anonymous", "profile", "endpoint", "region", "requester_pays", "credentials", *_LOGIN),
    "gs": ("anonymous", "profile", "endpoint", "requester_pays"),
    "abfs": ("anonymous", "profile", "endpoint", "account"),
}


class ConnectionDialog(QDialog):
    """How to connect to one origin; `settings` gives what was chosen when it is accepted."""

    def __init__(self, origin: Origin, settings: ConnectionSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("connectionDialog")
        self.setWindowTitle("Connection")
        self.setModal(True)
        self.resize(560, 10)
        self._origin = origin
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
        from refbrowser.io.origins import ConnectionSettings

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
        # The netrc file is read when something is asked for, not by the window.
        replace(settings, netrc=None).header_values(self._origin)
        return settings

    def _make_form(self, settings: ConnectionSettings) -> QFormLayout:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        if "anonymous" in self._names:
            form.addRow(self._box("anonymous", "Send &no credentials", settings.anonymous))
        for name, (label, hint) in _TEXTS.items():
            if name in self._names:
                value = getattr(settings, name)
                shown = "true" if name == "netrc" and value == "" else value or ""
                form.addRow(label, self._line(name, label, hint, shown))
        if "requester_pays" in self._names:
            words = "The requester pa&ys: agree to be charged"
            form.addRow(self._box("requester_pays", words, settings.requester_pays))
        if "headers" in self._names:
            label = "&Headers from environment variables"
            given = ", ".join(f"{name}={variable}" for name, variable in settings.headers.items())
            form.addRow(label, self._line("headers", label, _HEADER_HINT, given))
        for name in ("profile", "credentials"):
            if (named := self._texts.get(name)) is not None:
                # Named credentials are there to be sent.
                named.textEdited.connect(lambda text: self._checks["anonymous"].setChecked(not text.strip()))
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


def _public_sets() -> QComboBox:
    """Return a list of public datasets, whose URLs are their data."""
    listed = QComboBox()
    listed.setObjectName("publicSets")
    listed.setAccessibleName("Public datasets to try")
    listed.addItem("Public datasets to try…", "")
    for each in PUBLIC_SETS:
        words = f"{each.words} ({each.format})"
        listed.addItem(words[0].upper() + words[1:], each.url)
    listed.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    listed.setToolTip("Nothing is asked of any of them before you press Open")
    return listed


class OpenUrlDialog(QDialog):
    """Asks for one URL; the address typed here counts as named by the user.

    Signals
    -------
    connectionWanted(str)
        The user wants to say how to connect to the origin of this URL.
    """

    connectionWanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("openUrlDialog")
        self.setWindowTitle("Open URL")
        self.setModal(True)
        self.resize(560, 10)
        self._heading = plain_label("Open a reference document, store or stream")
        self._heading.setFont(theme.heading_font())
        self._field = QLineEdit()
        self._field.setObjectName("urlField")
        self._field.setAccessibleName("URL of the document or store")
        self._field.setPlaceholderText("https://server.org/document.json or s3://bucket/store.zarr")
        self._field.textChanged.connect(lambda _text: self._check())
        self._problem = plain_label(" ", role="fault")
        self._problem.setObjectName("urlProblem")
        self._hint = plain_label(
            "http, https, s3, gs, abfs, cdmremote:http…, a local path, or a link: PATH::/array[0,:,:]",
            role="muted",
        )
        self._flavour = QComboBox()
        self._flavour.setObjectName("urlFlavour")
        self._flavour.setAccessibleName("Open a store as")
        self._flavour.addItem("As found", "")
        for flavour in flavours():
            self._flavour.addItem(flavour.label, str(flavour))
        self._flavour.setToolTip(
            "Which format's rules the metadata of a store follows; documents state it themselves"
        )
        self._public = _public_sets()
        self._public.activated.connect(lambda _row: self._field.setText(self._public.currentData()))
        self._buttons = QDialogButtonBox()
        self._connection = push_button(
            "Connection…", "urlConnectionButton", lambda: self.connectionWanted.emit(self._server())
        )
        self._buttons.addButton(self._connection, QDialogButtonBox.ButtonRole.HelpRole)
        self._open = self._buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        self._open.setObjectName("urlOpenButton")
        cancel = self._buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setObjectName("urlCancelButton")
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.MEDIUM)
        layout.addWidget(self._heading)
        layout.addWidget(self._field)
        layout.addWidget(self._hint)
        layout.addWidget(self._problem)
        layout.addWidget(self._public)
        self._flavour_label = label = QLabel("Open a store &as")
        label.setBuddy(self._flavour)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(label)
        line.addWidget(self._flavour)
        line.addStretch(1)
        layout.addLayout(line)
        layout.addWidget(self._buttons)
        self._check()

    def url(self) -> str:
        """Return what was typed."""
        return self._field.text().strip()

    def _server(self) -> str:
        """Return the URL whose server is meant: of a link the one that it opens."""
        from refbrowser.engine.links import Link

        return Link.parse(self.url(), lambda _name: False).path

    def options(self) -> dict[str, str]:
        """Return the options of opening that are chosen, by name."""
        flavour = str(self._flavour.currentData())
        return {"flavour": flavour} if flavour else {}

    def _check(self) -> None:
        from refbrowser.engine.links import Link
        from refbrowser.errors import RefbrowserError
        from refbrowser.io.origins import scheme_of, split_url

        problem, named = "", self.url()
        if named:
            try:
                # While somebody types no file is looked for.
                link = Link.parse(named, lambda _name: False)
                named = link.without_secrets().path if link.node else link.path
                split_url(named)
            except RefbrowserError as error:
                problem = f"{error.message[:1].upper()}{error.message[1:]}."
        self._problem.setText(problem)
        self._hint.setVisible(not problem)
        self._problem.setVisible(bool(problem))
        self._open.setEnabled(bool(self.url()) and not problem)
        is_remote = bool(named) and scheme_of(named) not in (None, "file")
        self._connection.setEnabled(is_remote and not problem)
        grow_to_words(self)
