"""What the window remembers: recent documents and its layout."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings

#: Written with the settings; older ones are given up, not read wrongly.
VERSION = 1
#: Recent documents that are kept.
RECENT = 12


class Settings:
    """The user's settings file. A setting that cannot be read counts as not set."""

    def __init__(self) -> None:
        scope = QSettings.Scope.UserScope
        self._store = QSettings(QSettings.Format.IniFormat, scope, "refbrowser", "refbrowser")
        if self._store.value("version", VERSION, int) != VERSION:
            self._store.clear()
        self._store.setValue("version", VERSION)

    def recent(self) -> list[str]:
        """Return the documents that were opened lately, the newest first."""
        import json

        try:
            value = json.loads(str(self._store.value("recent", "[]")))
        except ValueError:
            return []
        return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []

    def add_recent(self, path: str) -> None:
        """Put a document at the front of the recent ones."""
        import json

        paths = [path, *(other for other in self.recent() if other != path)]
        self._store.setValue("recent", json.dumps(paths[:RECENT]))

    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Return geometry and state of the window, as it was left."""
        geometry, state = self._store.value("geometry"), self._store.value("state")
        if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
            return geometry, state
        return None

    def set_layout(self, geometry: QByteArray, state: QByteArray) -> None:
        """Remember geometry and state of the window."""
        self._store.setValue("geometry", geometry)
        self._store.setValue("state", state)
