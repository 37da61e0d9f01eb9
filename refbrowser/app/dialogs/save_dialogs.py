"""Where to save, in which form, what it will mean; and which unsaved documents to save before closing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QRadioButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.small_widgets import answer_line, plain_label, push_button
from refbrowser.views.words import one_line
from refbrowser.words import count_text, plural, size_text

if TYPE_CHECKING:
    from refbrowser.exporting.saving.save_preview import SavePreview


class Form(NamedTuple):
    """A version, and the suffix that its file ends with."""

    version: int
    suffix: str


#: What the file dialog offers; the suffixes .gz and .zst pack the file whatever is chosen here.
FORMS = {
    "Version 1 (*.json)": Form(1, ".json"),
    "Version 1, packed with gzip (*.json.gz)": Form(1, ".json.gz"),
    "Version 1, packed with Zstandard (*.json.zst)": Form(1, ".json.zst"),
    "Version 0: all rows written out (*.json)": Form(0, ".json"),
    "Version 0, packed with gzip (*.json.gz)": Form(0, ".json.gz"),
    "Version 0, packed with Zstandard (*.json.zst)": Form(0, ".json.zst"),
}
PACKED = (".gz", ".zst")
RULES_WORDS = (
    "Version 1 keeps the gen rules of arrays without missing chunks. "
    "fsspec reads rules only with simple_templates=False; "
    "by default it silently treats their chunks as missing. Version 0 has no rules."
)


def path_for(path: str, form: Form) -> str:
    """Return a path with the suffix of a form, where what was typed does not say another one."""
    lower = path.lower()
    if form.suffix == ".json" or lower.endswith(PACKED):
        return path if Path(path).suffix else f"{path}.json"
    packing = form.suffix.removeprefix(".json")
    return f"{path}{packing}" if lower.endswith(".json") else f"{path}{form.suffix}"


def file_dialog(
    document: OpenDocument, parent: QWidget, chosen: Callable[[str, int], object], *, is_copy: bool
) -> QFileDialog:
    """Return the dialog that asks for a path and a form, beginning with those of the document."""
    from refbrowser.exporting.saving.save_preview import proposed_version

    is_local = "://" not in document.path
    folder = str(Path(document.path).parent) if is_local else ""
    dialog = QFileDialog(parent, "Save a copy" if is_copy else "Save as", folder)
    dialog.setObjectName("saveCopyDialog" if is_copy else "saveAsDialog")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    state = document.document
    version = 1 if state is None else proposed_version(state) if document.store.is_here else state.version
    name = document.name
    suffix = next((packed for packed in PACKED if name.lower().endswith(packed)), "")
    forms = sorted(FORMS, key=lambda title: FORMS[title].version != version)
    dialog.setNameFilters(forms)
    dialog.selectNameFilter(next(title for title in forms if FORMS[title] == Form(version, f".json{suffix}")))
    if document.store.is_here or document.is_derived:
        name = f"{name.split('.')[0] or 'store'}.json"
    dialog.selectFile(_copy_name(name) if is_copy else name)

    def accepted(path: str) -> None:
        form = FORMS[dialog.selectedNameFilter()]
        chosen(path_for(path, form), form.version)

    dialog.fileSelected.connect(accepted)
    return dialog


def _copy_name(name: str) -> str:
    stem, dot, rest = name.partition(".")
    return f"{stem} copy{dot}{rest}"


class SavePreviewDialog(QDialog):
    """Says what a save means that changes more than the place: all rows written out, or relative URLs.

    Signals
    -------
    accepted()
        Go on; `keeps_meaning` tells what is to be done about relative URLs.
    """

    def __init__(self, document: OpenDocument, path: str, preview: SavePreview, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("savePreviewDialog")
        self.setWindowTitle("Save")
        self.setModal(True)
        self.setMinimumWidth(540)
        name = one_line(Path(path).name)
        heading = plain_label(f"Save as {name}")
        heading.setFont(theme.heading_font())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        if preview.rows is not None:
            self._say(layout, version0_words(document, preview))
        elif preview.rules:
            self._say(layout, RULES_WORDS)
        self._rewrite = QRadioButton("&Rewrite them, so that they still name the same files", self)
        self._rewrite.setObjectName("savePreviewRewrite")
        self._keep = QRadioButton("&Keep them as written", self)
        self._keep.setObjectName("savePreviewKeep")
        for choice in (self._rewrite, self._keep):
            choice.setVisible(bool(preview.relative or preview.obstacle))
        if preview.relative or preview.obstacle:
            self._add_relative(layout, preview)
        save = push_button("Save", "savePreviewSaveButton", self.accept)
        save.setDefault(True)
        save.setEnabled(not preview.is_larger_than_opened)
        cancel = push_button("Cancel", "savePreviewCancelButton", self.reject)
        layout.addLayout(answer_line(cancel, save))

    @property
    def keeps_meaning(self) -> bool:
        """Whether relative URLs are to be rewritten."""
        return self._rewrite.isChecked()

    def _say(self, layout: QVBoxLayout, text: str) -> None:
        words = plain_label(text)
        words.setObjectName("savePreviewVersion")
        layout.addWidget(words)

    def _add_relative(self, layout: QVBoxLayout, preview: SavePreview) -> None:
        words = plain_label(relative_words(preview))
        words.setObjectName("savePreviewRelative")
        layout.addWidget(words)
        choices = QVBoxLayout()
        choices.setContentsMargins(theme.LARGE, 0, 0, 0)
        choices.setSpacing(theme.MEDIUM)
        for choice in (self._rewrite, self._keep):
            choice.setAccessibleName(choice.text().replace("&", ""))
            choices.addWidget(choice)
        layout.addLayout(choices)
        self._rewrite.setEnabled(not preview.obstacle)
        (self._keep if preview.obstacle else self._rewrite).setChecked(True)


def version0_words(document: OpenDocument, preview: SavePreview) -> str:
    """Return what becomes of a document that is saved as Version 0."""
    rows = count_text(preview.rows or 0)
    state = document.document
    if state is not None and state.rules_are_made:
        text = f"All {rows} references are written out"
    else:
        text = f"Version 0 has no templates and no gen rules: all {rows} rows are written out"
    text += f", about {size_text(preview.size)}."
    if document.store.is_here:
        text += " So fsspec reads it as it is."
    if document.template_values:
        text += " The values that you gave for templates are written into them."
    if preview.is_larger_than_opened:
        text += " That is more than can be opened again, so it is not written."
    return text


def relative_words(preview: SavePreview) -> str:
    """Return that relative URLs would mean something else in the new folder."""
    if preview.obstacle:
        words = preview.obstacle[:1].upper() + preview.obstacle[1:]
        return f"{words}. They would name other files in the new folder."
    number = count_text(preview.relative)
    which = plural(preview.relative, "1 URL is", f"{number} URLs are")
    first = one_line(preview.example)
    return (
        f"{which} relative to the folder of the document, first {first}. "
        "In the new folder they would name other files."
    )


def has_news(preview: SavePreview) -> bool:
    """Tell whether there is anything to say before the save."""
    told = (preview.rows is not None, preview.rules, preview.relative, preview.obstacle)
    return any(told)


class UnsavedDialog(QDialog):
    """Which documents to save; the others lose their edits. `accept` means to go on with `chosen`."""

    def __init__(self, documents: Sequence[OpenDocument], words: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("unsavedDialog")
        self.setWindowTitle("Unsaved edits")
        self.setModal(True)
        self.resize(560, 320)
        self.chosen: list[OpenDocument] = []
        self._documents = list(documents)
        heading = plain_label(f"{len(self._documents)} documents have unsaved edits")
        heading.setFont(theme.heading_font())
        self._list = self._make_list(words)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(plain_label("Documents that are not ticked lose their edits.", role="muted"))
        layout.addWidget(self._list, 1)
        layout.addLayout(self._make_buttons())
        self._list.itemChanged.connect(lambda *_: self._update())
        self._update()

    def _make_list(self, words: Sequence[str]) -> QTreeWidget:
        view = QTreeWidget()
        view.setObjectName("unsavedList")
        view.setAccessibleName("Documents with unsaved edits")
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setHeaderLabels(["Save", "Edits"])
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        view.header().resizeSection(1, 190)
        for document, edits in zip(self._documents, words, strict=True):
            row = QTreeWidgetItem([one_line(document.title), edits])
            row.setCheckState(0, Qt.CheckState.Checked)
            row.setToolTip(0, theme.plain_tooltip(document.path))
            row.setSizeHint(0, QSize(0, theme.ROW))
            view.addTopLevelItem(row)
        view.setCurrentIndex(view.model().index(0, 0))
        return view

    def _make_buttons(self) -> QHBoxLayout:
        discard = push_button("Discard all", "unsavedDiscardAllButton", self._discard)
        cancel = push_button("Cancel", "unsavedCancelAllButton", self.reject)
        self._save = push_button("Save all", "unsavedSaveAllButton", self._save_ticked)
        self._save.setDefault(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.MEDIUM)
        buttons.addWidget(discard)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._save)
        return buttons

    def _ticked(self) -> list[OpenDocument]:
        rows = [self._list.topLevelItem(number) for number in range(len(self._documents))]
        return [
            document
            for document, row in zip(self._documents, rows, strict=True)
            if row is not None and row.checkState(0) == Qt.CheckState.Checked
        ]

    def _update(self) -> None:
        ticked = len(self._ticked())
        self._save.setEnabled(ticked > 0)
        self._save.setText("Save all" if ticked == len(self._documents) else "Save ticked")

    def _save_ticked(self) -> None:
        self.chosen = self._ticked()
        self.accept()

    def _discard(self) -> None:
        self.chosen = []
        self.accept()
