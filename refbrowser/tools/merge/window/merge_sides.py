"""What a merge is of: two documents beside the one that is open, or a list of conflicts that a merge left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QVBoxLayout, QWidget

from refbrowser.app.controller.compared_side import SavedSide
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.tools.compare.window.source_field import SourceField
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.compared_side import ComparedSide
    from refbrowser.app.tasks.tasks import TaskControl
    from refbrowser.io.origins import ConnectionSettings, Origin
    from refbrowser.references.document.document import Document
    from refbrowser.references.merging.conflict_file import ConflictFile
    from refbrowser.references.merging.merge import Merged
    from refbrowser.tools.compare.window.source_field import Source

    Merging = Callable[[Document, TaskControl], Merged]


class MergeSides(QWidget):
    """What the sheet that merges asks its sides for.

    Attributes
    ----------
    heading, action
        What is done to a document, and what the button says that does it.
    about
        What the sheet is for.
    nothing
        What is said where nothing is to be done.

    Signals
    -------
    changed()
        Something else is chosen or typed.
    """

    changed = Signal()
    heading = "Merge into"
    action = "Merge"
    about = ""
    nothing = ""

    def merging(self, settings: Mapping[Origin, ConnectionSettings]) -> Merging | None:
        """Return what merges with ours, in a task; None where something is to be chosen before."""
        raise NotImplementedError

    def title(self) -> str:
        """Return what the step of the history is called."""
        raise NotImplementedError


class TwoDocuments(MergeSides):
    """Asks for base and theirs."""

    about = (
        "Changes that theirs made since the base are merged into this document (ours), as one step that Undo "
        "takes back. Where both changed one place differently you choose the value; until then it is ours."
    )
    nothing = "Theirs has no change that is not here already."

    def __init__(self, bases: Sequence[ComparedSide], others: Sequence[ComparedSide]) -> None:
        super().__init__()
        self.base = SourceField("mergeBase", "Base: the common ancestor of both sides", bases)
        self.theirs = SourceField("mergeTheirs", "Theirs: the document whose changes are taken", others)
        for field in (self.base, self.theirs):
            field.changed.connect(self.changed)
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("&Base", self.base)
        form.addRow("T&heirs", self.theirs)

    def merging(self, settings: Mapping[Origin, ConnectionSettings]) -> Merging | None:
        """Return what merges the two with ours; None where one of them is not chosen."""
        base, theirs = self.base.source(), self.theirs.source()
        if base is None or theirs is None:
            return None
        sides = _given(base), _given(theirs)

        def merge(ours: Document, control: TaskControl) -> Merged:
            from refbrowser.tools.merge.merging import merged

            return merged(sides[0], ours, sides[1], settings, control)

        return merge

    def title(self) -> str:
        """Return what the step of the history is called."""
        theirs = self.theirs.source()
        if isinstance(theirs, str):
            return f"Merge {theirs.rstrip('/').rsplit('/', 1)[-1]}"
        return "Merge" if theirs is None else f"Merge {theirs.name}"


class ListedConflicts(MergeSides):
    """Tells of what merge the conflicts are that a file lists.

    Parameters
    ----------
    name
        Of the file.
    """

    heading = "Settle conflicts in"
    action = "Settle"
    about = (
        "A merge left these conflicts: both sides changed one place differently, and ours is in place. "
        "Choose a value for each; it is one step that Undo takes back."
    )
    nothing = "All conflicts are settled."

    def __init__(self, name: str, listed: ConflictFile) -> None:
        super().__init__()
        self._name, self._listed = name, listed
        sides = ", ".join(f"{side}: {one_line(text)}" for side, text in listed.sides.items())
        words = f"Listed in {one_line(name)}" + (f" ({sides})" if sides else "")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(plain_label(words))

    def merging(self, settings: Mapping[Origin, ConnectionSettings]) -> Merging | None:
        """Return what finds those that are not settled yet."""
        listed = self._listed

        def look(ours: Document, control: TaskControl) -> Merged:
            from refbrowser.tools.merge.merging import left_to_settle

            return left_to_settle(listed, ours, control)

        return look

    def title(self) -> str:
        """Return what the step of the history is called."""
        return f"Settle conflicts of {self._name}"


def _given(source: Source) -> str | Document:
    """Return what is merged: a path, or the document of what is open."""
    if isinstance(source, str):
        return source
    document = source.document
    state = document.saved_document if isinstance(source, SavedSide) else document.document
    return document.path if state is None else state
