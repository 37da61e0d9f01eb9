"""Asking for the address of a service."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from refbrowser.app.dialogs.open_dialogs import OpenUrlDialog
from refbrowser.io.origins import REMOTE

_REMOTE = f"{REMOTE}:"


class OpenRemoteDialog(OpenUrlDialog):
    """Asks for the address of a dataset that a server offers as CDM Remote."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("openRemoteDialog")
        self.setWindowTitle("Open CDM Remote")
        self._heading.setText("Open a dataset that a server offers as CDM Remote")
        self._field.setAccessibleName("Address of the dataset")
        self._field.setPlaceholderText("https://server.org/thredds/cdmremote/folder/dataset.nc")
        self._hint.setText("Only what is shown is requested: variables and sections of them.")
        self._flavour_label.hide()
        self._flavour.hide()
        self._public.hide()

    def url(self) -> str:
        """Return what was typed, as the URL of a service."""
        typed = super().url()
        return typed if not typed or typed.lower().startswith(_REMOTE) else f"{_REMOTE}{typed}"
