"""The sheet "Compute": an expression of arrays that are open, what it gives, and its array as a document."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.documents import Documents
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.small_widgets import (
    answer_line,
    one_shot,
    plain_label,
    push_button,
    resize_within_screen,
)
from refbrowser.model.expressions.grammar import NamedArray
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.app.controller.work import Opened
    from refbrowser.engine.dataset import Dataset

_ABOUT = (
    "Write an expression of arrays, such as mean(/t2m, time) or /t2m[time=2024-07] - 273.15. It opens as an "
    "array that is computed when it is read: plot it, read its values, export it."
)
_EXAMPLES = "sqrt(/u**2 + /v**2)"
#: Milliseconds without a keystroke after which an expression is looked at.
_PAUSE = 150
#: Arrays of one document that are listed.
_LISTED = 2_000
_INSERTED = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Computed:
    """What an expression gives: in words, and as it is shown."""

    words: str
    name: str
    opened: Opened

    def show(self, beside: OpenDocument, documents: Documents) -> str:
        """Open it as a document, in the folder of the one that it is about; return what was done."""
        documents.add_made(os.path.join(os.path.dirname(beside.path), self.name), self.opened)
        return f"{one_line(self.name)} is computed as it is read; Export writes it"


@dataclass(frozen=True, slots=True)
class Chosen:
    """An array that was chosen, and what of it."""

    document: OpenDocument
    path: str
    selection: str = ""

    def named(self, labels: Mapping[str, OpenDocument]) -> NamedArray:
        """Return it as expressions name it, by the label of its document."""
        label = next(label for label, document in labels.items() if document is self.document)
        return NamedArray(label, self.path, self.selection)


class ComputeSheet(QDialog):
    """Takes an expression, tells what it gives as it is typed, and opens that.

    Signals
    -------
    helpWanted()
        The page of the manual about expressions is to be shown.
    told(str)
        What was done.
    """

    helpWanted = Signal()
    told = Signal(str)

    def __init__(self, document: OpenDocument, documents: Documents, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("computeSheet")
        self.setWindowTitle("Compute")
        self.setModal(True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        resize_within_screen(self, 760, 520)
        self._document, self._documents = document, documents
        self._labels = labels_of(document, documents.all())
        self._computed: Computed | None = None
        self._work = Latest(self, "compute")
        self._pause = one_shot(self, _PAUSE, self._look)
        self._lay_out()
        self.rejected.connect(self._work.cancel)
        document.destroyed.connect(self.reject)
        self._field.setFocus()

    def _lay_out(self) -> None:
        heading = plain_label(f"{one_line(self._document.name)}: compute")
        heading.setFont(theme.heading_font())
        self._field = QLineEdit()
        self._field.setObjectName("computeExpression")
        self._field.setAccessibleName("Expression")
        self._field.setPlaceholderText(_EXAMPLES)
        self._field.setFont(theme.mono_font())
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._typed)
        self._outcome = plain_label()
        self._outcome.setObjectName("computeOutcome")
        self._outcome.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self._outcome.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._list = self._make_list()
        self._compute = push_button("Compute", "computeButton", self.compute)
        self._compute.setDefault(True)
        self._compute.setEnabled(False)
        cancel = push_button("Cancel", "computeCancelButton", self.reject)
        line = answer_line(
            cancel,
            self._compute,
            beside=[push_button("Functions…", "computeHelpButton", self.helpWanted.emit)],
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(_ABOUT, role="muted"))
        layout.addWidget(self._field)
        layout.addWidget(self._outcome)
        layout.addWidget(plain_label("Arrays: a double click inserts one"))
        layout.addWidget(self._list, 1)
        layout.addLayout(line)

    def _make_list(self) -> QTreeWidget:
        listed = QTreeWidget()
        listed.setObjectName("computeArrays")
        listed.setAccessibleName("Arrays that can be inserted")
        listed.setHeaderLabels(["Array", "Dimensions", "Units"])
        listed.setUniformRowHeights(True)
        for label, document in self._labels.items():
            root = QTreeWidgetItem([one_line(document.title)])
            listed.addTopLevelItem(root)
            for node in arrays_of(document)[:_LISTED]:
                sizes = ", ".join(
                    f"{name or '?'} {size}" for name, size in zip(node.dimensions, node.shape, strict=False)
                )
                row = QTreeWidgetItem([one_line(node.path), sizes, str(node.attributes.get("units", ""))])
                row.setData(0, _INSERTED, (label, node.path))
                root.addChild(row)
            root.setExpanded(not label)
        for column in range(2):
            listed.resizeColumnToContents(column)
        listed.itemActivated.connect(self._insert_row)
        return listed

    def _insert_row(self, row: QTreeWidgetItem) -> None:
        inserted = row.data(0, _INSERTED)
        if inserted is not None:
            self.insert(*inserted)

    def insert(self, label: str, path: str) -> None:
        """Write an array of a document, by its label, where the cursor is."""
        self._field.insert(str(NamedArray(label, path)))
        self._field.setFocus()

    # Looking

    def _typed(self) -> None:
        self._computed = None
        self._compute.setEnabled(False)
        self._work.cancel()
        self._pause.start()
        if not self._field.text().strip():
            self._outcome.clear()

    def _look(self) -> None:
        """Find out what the expression gives."""
        text = self._field.text()
        if not text.strip():
            return
        datasets = datasets_of(self._labels)

        def find(control: TaskControl) -> Computed:
            return look_at(text, datasets, control)

        self._work.run(self._document, "Look at an expression", find, self._show, self._failed)

    def _show(self, computed: Computed) -> None:
        self._computed = computed
        self._outcome.setText(computed.words)
        self._compute.setEnabled(True)

    def _failed(self, error: BaseException) -> None:
        self._outcome.setText(error_text(error))

    # Acting

    def compute(self) -> None:
        """Open what the expression gives."""
        computed = self._computed
        if computed is None:
            return
        self.accept()
        self.told.emit(computed.show(self._document, self._documents))


def labels_of(current: OpenDocument, documents: list[OpenDocument]) -> dict[str, OpenDocument]:
    """Return documents by the labels that their arrays are named with: none for the current one."""
    found = {"": current}
    for document in documents:
        if document is current or document.dataset is None:
            continue
        stem = re.sub(r"\W+", "_", os.path.splitext(document.name)[0]).strip("_") or "other"
        stem = stem if not stem[0].isdigit() else f"d{stem}"
        label, number = stem, 1
        while label in found:
            number += 1
            label = f"{stem}_{number}"
        found[label] = document
    return found


def datasets_of(labels: Mapping[str, OpenDocument]) -> dict[str, Dataset]:
    """Return the datasets of documents by their labels."""
    return {label: document.dataset for label, document in labels.items() if document.dataset is not None}


def arrays_of(document: OpenDocument) -> list[ArrayNode]:
    """Return the arrays of a document that can be read."""
    hierarchy = document.hierarchy
    nodes = () if hierarchy is None else hierarchy.walk()
    return [node for node in nodes if isinstance(node, ArrayNode) and node.error is None]


def look_at(
    text: str, datasets: Mapping[str, Dataset], control: TaskControl, long_name: str = ""
) -> Computed:
    """Return what an expression gives, and make what would be shown of it; the array may have a long name.

    Raises
    ------
    RefbrowserError
        As `refbrowser.compute` does.
    """
    from refbrowser.app.controller.work import Opened, state_of
    from refbrowser.references.document.history import History
    from refbrowser.tools.read.public import compute

    others = {label: dataset for label, dataset in datasets.items() if label}
    array = compute(datasets[""], text, others, long_name=long_name, progress=control)
    sizes = ", ".join(
        f"{name or '?'} {size}" for name, size in zip(array.dimensions, array.shape, strict=True)
    )
    units = str(array.attrs.get("units", "")) or "no units"
    words = f"Gives {sizes or 'one number'}: {array.dtype}, {'a plain number' if units == '1' else units}"
    dataset = array.dataset
    return Computed(words, array.name, Opened(History(dataset.document), state_of(dataset, None), None))
