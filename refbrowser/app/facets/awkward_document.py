"""What an opened document knows of the Awkward 0 file that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from refbrowser.app.shell.tasks import TaskControl
from refbrowser.formats.registry import AWKWARD0

if TYPE_CHECKING:
    from refbrowser.app.controller.edited_document import EditedDocument
    from refbrowser.formats.awkward0.arrays import Awkward0Array
    from refbrowser.formats.awkward0.opening import Awkward0Origin
    from refbrowser.views.safety import SafetyRow


class DocumentAwkward(QObject):
    """Follows one `OpenDocument`; of one that is no Awkward 0 file nothing is known here.

    Attributes
    ----------
    allow_functions
        Patterns of functions that the user allows in this file beside the usual ones.
    rows
        Its safety report; None until it is made.

    Signals
    -------
    reported()
        `rows` are there.
    """

    reported = Signal()

    def __init__(self, document: EditedDocument) -> None:
        super().__init__(document)
        self._document = document
        self.allow_functions: tuple[str, ...] = ()
        self.rows: list[SafetyRow] | None = None
        self._looked_at: Awkward0Origin | None = None

    @property
    def origin(self) -> Awkward0Origin | None:
        """The file; None of a document that is none."""
        state = self._document.document
        derived = None if state is None else state.derived
        return derived if derived is not None and derived.format == AWKWARD0.name else None  # type: ignore[return-value]

    @property
    def arrays(self) -> tuple[Awkward0Array, ...]:
        """Its arrays, in the order of the container."""
        origin = self.origin
        return () if origin is None else tuple(origin.arrays)

    def array_of(self, path: str) -> Awkward0Array | None:
        """Return the array that a node of the tree is, or is a part of; None where there is none."""
        for array in self.arrays:
            if path == array.path or path.startswith(f"{array.path}/"):
                return array
        return None

    def look(self) -> None:
        """Make the safety report of the file, off the GUI thread, unless it is there."""
        origin = self.origin
        if origin is None or origin is self._looked_at:
            return
        self._looked_at, self.rows = origin, None

        def look(control: TaskControl) -> list[SafetyRow]:
            from refbrowser.views.safety import safety_rows

            return safety_rows(origin, control.check)

        def made(rows: list[SafetyRow]) -> None:
            if origin is self._looked_at:
                self.rows = rows
                self.reported.emit()

        document = self._document
        document.tasks.run(document.owner("safety"), "Look at what the file names", look, made)

    @property
    def why_fixed(self) -> str:
        """Why other functions cannot be allowed now, for people; empty where they can."""
        if self._document.is_pending:
            return "Save or undo the edits first: they would be lost"
        is_file = "://" in self._document.path or self._document.is_derived
        return "" if self.origin is not None and is_file else "Open the Awkward 0 file itself for that"

    def allow(self, patterns: tuple[str, ...]) -> None:
        """Read the file again with these functions allowed; the history begins anew."""
        if not self.why_fixed and patterns != self.allow_functions:
            self.allow_functions = patterns
            self._document.reload()
