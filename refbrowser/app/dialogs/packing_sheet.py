"""The sheet "As codecs": how an array would say its packing in the other way, before it does as one step."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.cards import error_text
from refbrowser.app.widgets.side_texts import SideTexts
from refbrowser.app.widgets.small_widgets import plain_label, push_button, resize_within_screen
from refbrowser.model.nodes import ArrayNode
from refbrowser.views.words import one_line

if TYPE_CHECKING:
    from refbrowser.views.editing.packing_change import PackingChange

#: The title of the sheet, and what it does, by what the packing is said by afterwards.
_WORDS = {
    "codecs": (
        "As codecs",
        "The attributes scale_factor and add_offset become the codecs scale_offset and cast_value. "
        "Readers that know these of Zarr v3 get unpacked values. Chunks and references stay as they are.",
    ),
    "attributes": (
        "As attributes",
        "The codecs scale_offset and cast_value become the attributes scale_factor and add_offset of CF. "
        "Every reader gets the stored numbers. Chunks and references stay as they are.",
    ),
}


class PackingSheet(QDialog):
    """Shows the metadata of an array as it is and as it would be, and how far values would differ.

    Parameters
    ----------
    packing
        What the packing is to be said by: ``codecs`` or ``attributes``.
    export
        Shows the export dialog, for what cannot be done in the document.
    """

    def __init__(
        self,
        document: OpenDocument,
        node: ArrayNode,
        packing: str,
        export: Callable[[], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("packingSheet")
        title, about = _WORDS[packing]
        self.setWindowTitle(title)
        self.setModal(True)
        resize_within_screen(self, 960, 640)
        self._document, self._path, self._packing = document, node.path, packing
        self._change: PackingChange | None = None
        self._asked_export = export
        self._work = Latest(self, "packing")
        self._lay_out(f"{one_line(node.path)}: {title[:1].lower()}{title[1:]}", about)
        self.rejected.connect(self._work.cancel)
        self.finished.connect(self.deleteLater)
        document.destroyed.connect(self.reject)
        document.documentChanged.connect(self._look)
        self._look()

    def _lay_out(self, title: str, about: str) -> None:
        heading = plain_label(title)
        heading.setFont(theme.heading_font())
        self._outcome = plain_label("")
        self._outcome.setObjectName("packingOutcome")
        self._sides = SideTexts("packing", ("Now", "Then"))
        self._export = push_button("Export…", "packingExportButton", self._to_export)
        self._export.setToolTip("Write the array to Zarr v3, where Packing says it by codecs")
        self._apply = push_button("Apply", "packingApplyButton", self.apply)
        self._apply.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme.MEDIUM)
        line.addWidget(self._export)
        line.addStretch(1)
        for button in (push_button("Cancel", "packingCancelButton", self.reject), self._apply):
            line.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label(about, role="muted"))
        layout.addWidget(self._outcome)
        layout.addWidget(self._sides, 1)
        self._rest = QWidget()
        layout.addWidget(self._rest, 1)
        layout.addLayout(line)

    # Looking

    def _look(self) -> None:
        """Find out what the document, as it is now, would become."""
        self._show(None)
        self._outcome.setText("Reading…")
        state, dataset, hierarchy = self._document.document, self._document.dataset, self._document.hierarchy
        node = None if hierarchy is None else hierarchy.find(self._path)
        if state is None or dataset is None or hierarchy is None or not isinstance(node, ArrayNode):
            self._outcome.setText("The array is not there any more.")
            return
        packing, flavour = self._packing, hierarchy.flavour

        def find(control: TaskControl) -> PackingChange:
            from refbrowser.engine.node_metadata import read_metadata
            from refbrowser.views.editing.packing_change import packing_change

            texts = read_metadata(dataset, state, node, control.token)
            return packing_change(node, flavour, texts, packing)

        self._work.run(self._document, f"Packing of {self._path}", find, self._show, self._failed)

    def _show(self, change: PackingChange | None) -> None:
        self._change = change
        self._apply.setEnabled(change is not None)
        self._export.hide()
        self._sides.setVisible(change is not None)
        self._rest.setVisible(change is None)
        if change is None:
            return
        from refbrowser.views.side_lines import side_lines

        here, there = (json.dumps(text, ensure_ascii=False) for text in (change.before, change.after))
        self._sides.set_headings([f"{change.key}, now", f"{change.key}, then"])
        self._sides.set_lines(side_lines(here, there, both=True))
        self._outcome.setText("\n".join(change.lines()))
        # A disabled button had none.
        self._apply.setFocus()

    def _failed(self, error: BaseException) -> None:
        from refbrowser.errors import RefbrowserError
        from refbrowser.views.editing.packing_change import EXPORT_ADVICE

        self._show(None)
        can_export = isinstance(error, RefbrowserError) and error.advice == EXPORT_ADVICE
        self._export.setVisible(can_export)
        why = error_text(error)
        if isinstance(error, RefbrowserError) and can_export:
            why = (
                f"{error.message[:1].upper()}{error.message[1:]}. Export the array to Zarr v3, "
                "with the option Packing in the dialog."
            )
        self._outcome.setText(f"This cannot be done in the document. {why}")

    # Acting

    def _to_export(self) -> None:
        self.reject()
        self._asked_export()

    def apply(self) -> None:
        """Make what is shown one step of the history."""
        change, document = self._change, self._document
        if change is None:
            return
        document.documentChanged.disconnect(self._look)
        self.accept()
        document.apply(change.edit)
