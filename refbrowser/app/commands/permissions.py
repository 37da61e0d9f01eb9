"""What documents may read, and the unsaved edits of runs that were lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refbrowser.app.commands.group import CommandGroup, by_name
from refbrowser.app.dialogs.trust import TrustSheet, open_wants

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from refbrowser.app.dialogs.recovery import RecoveryBar
    from refbrowser.engine.journal import Recovery


class PermissionCommands(CommandGroup):
    """What the bars over the tabs ask for."""

    def table(self) -> dict[str, Callable[[], object]]:
        """Return what each action of this group does."""
        return by_name(self.review_trust)

    def review_trust(self) -> None:
        """Show what the current document wants to read."""
        document = self._current
        if document is None:
            return

        def chosen(sheet: TrustSheet) -> None:
            document.allow(sheet.chosen, always=sheet.always)

        self._window.questions.permissions(document, chosen, self.connect_origin)

    def allow_this_time(self) -> None:
        """Allow all that the current document wants, until it is closed."""
        document = self._current
        if document is not None:
            document.allow(want for want in open_wants(document) if want.kind != "private")

    def connect_origin(self, url: str, parent: QWidget) -> None:
        """Ask how to connect to the origin of a URL; all documents use the answer from now on."""
        from refbrowser.io.origins import Origin
        from refbrowser.io.settings import ConnectionSettings

        documents, origin = self._window.documents, Origin.parse(url)
        settings = documents.settings.get(origin) or ConnectionSettings()
        self._window.questions.connection(
            origin, settings, parent, lambda given: documents.use_settings({origin: given})
        )

    # Unsaved edits of lost processes

    def connect_recovery(self, bar: RecoveryBar) -> None:
        """Carry out what the bar is asked for."""
        bar.preview.connect(self._preview_recovery)
        bar.restore.connect(self._restore)
        bar.discard.connect(self._discard_recovery)

    def _preview_recovery(self, recovery: Recovery) -> None:
        document = self._current
        if document is not None:
            restore = document.journal.restore
            self._window.questions.preview_recovery(document, recovery, lambda: restore(recovery))

    def _restore(self, recovery: Recovery) -> None:
        if self._current is not None:
            self._current.journal.restore(recovery)

    def _discard_recovery(self, recovery: Recovery) -> None:
        document = self._current
        if document is not None:
            discard = document.journal.discard
            self._window.questions.discard_recovery(recovery, lambda: discard(recovery))
