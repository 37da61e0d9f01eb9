"""What of a comparison is taken over, and to which side: this difference, all of its kind, or everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QWidget

from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import plain_label, push_button
from refbrowser.references.edits.compare import Side
from refbrowser.tools.compare.chunk_blocks import block_around, box_text, count_of, single
from refbrowser.views.words import one_line
from refbrowser.words import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refbrowser.engine.comparing.apply_differences import WantedDifferences
    from refbrowser.tools.compare.compared import Compared
    from refbrowser.tools.compare.compared_entries import ComparedEntry


@dataclass(frozen=True, slots=True)
class Scope:
    """Some of the differences: in words, and the entries; some chunks where a `box` of them is told."""

    words: str
    entries: tuple[ComparedEntry, ...]
    box: tuple[range, ...] | None = None

    @property
    def first(self) -> tuple[int, ...] | None:
        """Coordinates of the first chunk of the box."""
        return None if self.box is None else tuple(part.start for part in self.box)


@dataclass(frozen=True, slots=True)
class Taking:
    """What is taken over, in which direction, and what the history calls it."""

    to_left: bool
    wanted: WantedDifferences
    words: str


def scopes_of(found: Compared, entry: ComparedEntry, coords: tuple[int, ...] | None) -> Iterator[Scope]:
    """Yield what may be taken over when an entry, and of its map a chunk, is chosen."""
    alike = tuple(each for each in found.entries if each.section == entry.section and each.what != "values")
    everything = tuple(each for each in found.entries if each.what != "values")
    if entry.what == "values" and entry.array is not None:
        return
    if entry.array is not None and coords is not None:
        yield Scope(f"chunk {'.'.join(map(str, coords)) or '0'}", (entry,), single(coords))
        block = block_around(entry.array.chunks, coords)
        if count_of(block) > 1:
            yield Scope(f"block {box_text(block)} ({count_text(count_of(block))} chunks)", (entry,), block)
    if entry.array is not None:
        yield Scope(f"all references of {entry.path}", (entry,))
    else:
        yield Scope(entry.title, (entry,))
    if len(alike) > 1:
        yield Scope(f"all of {entry.section} ({count_text(len(alike))})", alike)
    if len(everything) > len(alike):
        yield Scope(f"everything ({count_text(len(everything))})", everything)


class TakingBar(QWidget):
    """Two buttons, one for each direction, what they are about, and why one cannot be used.

    Signals
    -------
    wanted(object)
        `Taking`: what is to be taken over.
    """

    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._found: Compared | None = None
        self._scopes: list[Scope] = []
        self._blocked = ("", "")
        self.scope = QComboBox()
        self.scope.setObjectName("takingScope")
        self.scope.setAccessibleName("What is taken over")
        self.scope.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.scope.setMinimumContentsLength(24)
        self.scope.currentIndexChanged.connect(lambda _index: self._update())
        self.left = push_button(
            "← Take over to the &left", "takeLeftButton", lambda: self._want(to_left=True)
        )
        self.right = push_button(
            "Take over to the &right →", "takeRightButton", lambda: self._want(to_left=False)
        )
        for button, side in ((self.left, "left"), (self.right, "right")):
            button.setAccessibleName(f"Take over to the {side}")
            button.setToolTip(
                f"Copy the other side's value to the {side}, as one step of its history (undone there)"
            )
        self._why = [plain_label("", role="muted"), plain_label("", role="muted")]
        for number, label in enumerate(self._why):
            label.setObjectName(f"takingWhy{number}")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MEDIUM)
        grid.setVerticalSpacing(theme.SMALL)
        middle = QHBoxLayout()
        middle.addWidget(self.scope, 1)
        grid.addWidget(self.left, 0, 0)
        grid.addLayout(middle, 0, 1)
        grid.addWidget(self.right, 0, 2)
        grid.setColumnStretch(1, 1)
        below = QHBoxLayout()
        for label in self._why:
            below.addWidget(label, 1)
        grid.addLayout(below, 1, 0, 1, 3)
        self.offer(None, None, None)

    def offer(
        self, found: Compared | None, entry: ComparedEntry | None, coords: tuple[int, ...] | None
    ) -> None:
        """Offer what may be taken over of an entry; the same kind of scope stays chosen."""
        self._found = found
        scopes = [] if found is None or entry is None else list(scopes_of(found, entry, coords))
        self._scopes = scopes
        blocked = self.scope.blockSignals(True)
        self.scope.clear()
        for each in scopes:
            self.scope.addItem(one_line(each.words))
        self.scope.setCurrentIndex(0 if scopes else -1)
        self.scope.blockSignals(blocked)
        self._update()

    def set_obstacles(self, left: str, right: str) -> None:
        """Say why nothing can be taken over to a side now; empty where something can."""
        self._blocked = (left, right)
        self._update()

    def reasons(self) -> tuple[str, str]:
        """Return why buttons cannot be used."""
        return self._why[0].text(), self._why[1].text()

    def _current(self) -> Scope | None:
        at = self.scope.currentIndex()
        return self._scopes[at] if 0 <= at < len(self._scopes) else None

    def _update(self) -> None:
        self.setVisible(bool(self._scopes))
        for number, button in enumerate((self.left, self.right)):
            why = self._blocked[number] or self._obstacle(to_left=number == 0)
            button.setEnabled(not why)
            side = "left" if number == 0 else "right"
            self._why[number].setText(f"Not to the {side}: {why}" if why else "")
            self._why[number].setVisible(bool(why))

    def _obstacle(self, *, to_left: bool) -> str:
        """Return why nothing of the scope can be taken over; empty where some of it can."""
        scope, found = self._current(), self._found
        if scope is None or found is None:
            return "nothing is chosen"
        first = ""
        for each in scope.entries:
            why = _why_not(found, each, scope.first, to_left=to_left)
            if not why:
                return ""
            first = first or why
        return first

    def _want(self, *, to_left: bool) -> None:
        from refbrowser.engine.comparing.apply_differences import WantedDifferences

        scope, found = self._current(), self._found
        if scope is None or found is None:
            return
        possible = [each for each in scope.entries if not _why_not(found, each, scope.first, to_left=to_left)]
        wanted = WantedDifferences(
            tuple(each.difference for each in possible if each.difference is not None),
            tuple(each.array for each in possible if each.array is not None),
            scope.box,
        )
        words = scope.words if len(scope.entries) == 1 else f"{count_text(len(possible))} differences"
        self.wanted.emit(Taking(to_left, wanted, words))


def _why_not(found: Compared, entry: ComparedEntry, coords: tuple[int, ...] | None, *, to_left: bool) -> str:
    from refbrowser.tools.compare.compared import why_not_taken

    return why_not_taken(found, entry, coords, Side.HERE if to_left else Side.THERE)
