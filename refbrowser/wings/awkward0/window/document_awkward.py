"""Files of Awkward 0 in the window: what is known of one that is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from refbrowser.app.controller.document_files import FormatPart
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.formats.registry import AWKWARD0
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_spaced, plural, size_text

if TYPE_CHECKING:
    from refbrowser.app.controller.open_document import OpenDocument
    from refbrowser.findings.finding import Finding
    from refbrowser.wings.awkward0.reading.arrays import Awkward0Array
    from refbrowser.wings.awkward0.reading.opening import Awkward0Origin
    from refbrowser.wings.awkward0.views.safety_rows import SafetyRow


class DocumentAwkward(FormatPart):
    """What is known of an Awkward 0 file that is open.

    Attributes
    ----------
    rows
        Its safety report; None until it is made.
    """

    _document: OpenDocument

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(document)
        self.rows: list[SafetyRow] | None = None
        self._looked_at: Awkward0Origin | None = None
        self._looking = Latest(self, "safety")

    @property
    def allow_functions(self) -> tuple[str, ...]:
        """Patterns of functions that are allowed in this file beside the usual ones."""
        return () if self.origin is None else self.origin.options.allow_functions

    @property
    def subject(self) -> object:
        """The file as it was read."""
        return self.origin or self._document

    def damage_words(self, damage: Sequence[Finding]) -> tuple[str, str]:
        """Return what is lost of the archive; what is left can be written."""
        if self.origin is None:
            return super().damage_words(damage)
        words = rescue_words(self._document.name, self.origin)
        return words or super().damage_words(damage)[0], "Save what is left…"

    @property
    def origin(self) -> Awkward0Origin | None:
        """The file; None of a document that is none."""
        state = self._document.document
        # Its class is not loaded for documents of other formats.
        return state.origin if state is not None and state.format == AWKWARD0.name else None  # type: ignore[return-value]

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
            from refbrowser.wings.awkward0.views.safety_rows import safety_rows

            return safety_rows(origin, control.check)

        def made(rows: list[SafetyRow]) -> None:
            if origin is self._looked_at:
                self.rows = rows
                self.changed.emit()

        self._looking.run(self._document, "Look at what the file names", look, made)

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
            self._document.choose("allow_functions", patterns)
            self._document.reload()


def awkward_of(document: OpenDocument | None) -> DocumentAwkward | None:
    """Return what is known of an Awkward 0 file; None of a document that was made from none."""
    part = None if document is None else document.part
    return part if isinstance(part, DocumentAwkward) and part.origin is not None else None


def rescue_words(name: str, origin: Awkward0Origin) -> str:
    """Return what is lost of an archive whose directory cannot be read; nothing of any other file."""
    container = origin.container
    if not getattr(container, "is_rescued", False):
        return ""
    members = sum(1 for _ in container.names())
    found = (
        f"{count_text(members)} {plural(members, 'member of it was', 'members of it were')} found one by one"
    )
    parts = [f"The directory of {one_line(name)} cannot be read: {found}."]
    # What the directory itself has is told first.
    lost = [each.place for each in container.findings[1:] if each.place.start is not None]
    if lost:
        size = sum((place.stop or 0) - (place.start or 0) for place in lost)
        where = f"from byte {count_text(lost[0].start or 0)}{' on' if len(lost) == 1 else ''}"
        places = where if len(lost) == 1 else f"in {count_text(len(lost))} stretches, the first {where}"
        parts.append(f"{size_text(size)} are lost, {places}.")
    arrays, sound = len(origin.arrays), sum(1 for array in origin.arrays if array.error is None)
    opened = f"{count_text(sound)} of {counted_spaced(arrays, 'array')} can be opened"
    return " ".join([*parts, f"{opened if arrays else 'No array is left'}."])
