"""The dialogs that ask for the URL of a document, a store, or a service of CDM Remote."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.actions.file import FLAVOURS
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.parts import grow_to_words, plain_label, push_button

_REMOTE = "cdmremote:"


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
            "http, https, s3, gs, abfs, cdmremote:http…, or the path of a local file", role="muted"
        )
        self._flavour = QComboBox()
        self._flavour.setObjectName("urlFlavour")
        self._flavour.setAccessibleName("Open a store as")
        self._flavour.addItem("As found", "")
        for name, title in FLAVOURS:
            self._flavour.addItem(title.replace("&", ""), name)
        self._flavour.setToolTip("Whose rules the metadata of a store follows; documents say it themselves")
        self._buttons = QDialogButtonBox()
        self._connection = push_button(
            "Connection…", "urlConnectionButton", lambda: self.connectionWanted.emit(self.url())
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

    def flavour(self) -> str:
        """Return the flavour that a store is to be read as; empty to find it out."""
        return str(self._flavour.currentData())

    def _check(self) -> None:
        from refbrowser.errors import RefbrowserError
        from refbrowser.io.origins import scheme_of, split_url

        problem = ""
        if self.url():
            try:
                split_url(self.url())
            except RefbrowserError as error:
                problem = f"{error.message[:1].upper()}{error.message[1:]}."
        self._problem.setText(problem)
        self._hint.setVisible(not problem)
        self._problem.setVisible(bool(problem))
        self._open.setEnabled(bool(self.url()) and not problem)
        is_remote = bool(self.url()) and scheme_of(self.url()) not in (None, "file")
        self._connection.setEnabled(is_remote and not problem)
        grow_to_words(self)


class OpenRemoteDialog(OpenUrlDialog):
    """Asks for the address of a dataset that a server offers as CDM Remote."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("openRemoteDialog")
        self.setWindowTitle("Open CDM Remote")
        self._heading.setText("Open a dataset that a server offers as CDM Remote")
        self._field.setAccessibleName("Address of the dataset")
        self._field.setPlaceholderText("https://server.org/thredds/cdmremote/folder/dataset.nc")
        self._hint.setText("Only what is shown is asked for: variables and sections of them.")
        self._flavour_label.hide()
        self._flavour.hide()

    def url(self) -> str:
        """Return what was typed, as the URL of a service."""
        typed = super().url()
        return typed if not typed or typed.lower().startswith(_REMOTE) else f"{_REMOTE}{typed}"
