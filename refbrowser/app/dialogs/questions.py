"""The dialogs of the window: each asks for one decision and tells it by a callback, without waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.dialogs.compare_dialog import CompareDialog
from refbrowser.app.dialogs.open_dialogs import ConnectionDialog, OpenUrlDialog
from refbrowser.app.dialogs.recovery import RecoveryPreview
from refbrowser.app.dialogs.save_dialogs import SavePreviewDialog, UnsavedDialog, file_dialog, has_news
from refbrowser.app.dialogs.trust import TrustSheet
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.file_filters import open_filter
from refbrowser.app.widgets.small_widgets import plain_label
from refbrowser.errors import RefbrowserError
from refbrowser.views.words import one_line
from refbrowser.words import count_text, counted_plain, counted_spaced, plural

if TYPE_CHECKING:
    from refbrowser.engine.journal import Recovery
    from refbrowser.engine.links import Link
    from refbrowser.exporting.saving.save import StoreChange
    from refbrowser.exporting.saving.save_preview import SavePreview
    from refbrowser.io.access.access import Want
    from refbrowser.io.origins import ConnectionSettings, Origin


#: Templates that get a field; a document may have 10,000.
SHOWN = 200


class TemplateValuesDialog(QDialog):
    """One field per template; an empty field leaves the document's own text in force."""

    def __init__(self, document: OpenDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("templateValuesDialog")
        self.setWindowTitle("Template values")
        self.setModal(True)
        self.resize(620, 380)
        heading = plain_label("Values for templates")
        heading.setFont(theme.heading_font())
        text = plain_label(
            "A value replaces the template's text while the document is open here, for example "
            "with a mirror of the data. It is never saved. An empty field keeps the document's text.",
            role="muted",
        )
        self._fields: dict[str, QLineEdit] = {}
        form = QWidget()
        rows = QFormLayout(form)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        state = document.document
        templates = (
            {} if state is None else {name: str(text) for name, text in state.templates.templates.items()}
        )
        for name, source in list(templates.items())[:SHOWN]:
            field = QLineEdit(document.template_values.get(name, ""))
            field.setObjectName(f"templateValue_{name}")
            field.setAccessibleName(f"Value of template {name}")
            field.setPlaceholderText(one_line(source))
            field.setFont(theme.mono_font())
            rows.addRow(plain_label(one_line(name), wrap=False), field)
            self._fields[name] = field
        if not templates:
            rows.addRow(plain_label("This document has no templates.", role="muted"))
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(form)
        buttons = QDialogButtonBox()
        buttons.addButton("Use", QDialogButtonBox.ButtonRole.AcceptRole).setObjectName(
            "templateValuesUseButton"
        )
        buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.HUGE, theme.HUGE, theme.HUGE, theme.HUGE)
        layout.setSpacing(theme.LARGE)
        layout.addWidget(heading)
        layout.addWidget(text)
        layout.addWidget(area, 1)
        layout.addWidget(buttons)

    def values(self) -> dict[str, str]:
        """Return the values that were given, by template."""
        return {name: field.text() for name, field in self._fields.items() if field.text()}


#: Asks how to connect to the origin of a URL, over a dialog.
Connect = Callable[[str, QWidget], object]


#: Places that a session reads from which are named.
_PLACES = 8


def _private_origin(path: str) -> Origin | None:
    """Return the origin of a path or URL where its host is a private address."""
    from refbrowser.io.access.access import is_private_origin
    from refbrowser.io.origins import split_url

    try:
        origin = split_url(path).origin
    except RefbrowserError:
        # Opening it says why.
        return None
    return origin if is_private_origin(origin) else None


class Unsaved(StrEnum):
    """What to do with edits that were not saved."""

    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


def unsaved_words(document: OpenDocument) -> str:
    """Return what closing a document would lose: how many edits, also those that are not applied, or all."""
    if document.is_new:
        return "The whole document, which was never saved,"
    count = document.pending_count + document.draft_count
    typed = f" ({document.draft_count} not applied yet)" if document.draft_count else ""
    return f"{counted_plain(count, 'edit')}{typed}"


class Questions(QObject):
    """Shows the dialogs over one window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window

    def open_files(self, chosen: Callable[[Sequence[str]], object], folder: str) -> None:
        """Ask for documents to open, first in a folder."""
        dialog = QFileDialog(self._window, "Open", folder, open_filter())
        dialog.setObjectName("openDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(chosen)
        self._show(dialog)

    def open_store(self, chosen: Callable[[str], object], folder: str) -> None:
        """Ask for the folder of a store, first in another folder."""
        dialog = QFileDialog(self._window, "Open the folder of a store", folder)
        dialog.setObjectName("openStoreDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(chosen)
        self._show(dialog)

    def open_url(self, chosen: Callable[[str, dict[str, str]], object], connect: Connect) -> None:
        """Ask for the URL of a document or a store, and for options of opening."""
        dialog = OpenUrlDialog(self._window)
        self.ask_url(dialog, lambda: chosen(dialog.url(), dialog.options()), connect)

    def ask_url(self, dialog: OpenUrlDialog, chosen: Callable[[], object], connect: Connect) -> None:
        """Show a dialog that asks for a URL, and how to connect to its server."""
        dialog.accepted.connect(chosen)
        dialog.connectionWanted.connect(lambda url: connect(url, dialog))
        self._show(dialog)

    def save_as(
        self,
        document: OpenDocument,
        chosen: Callable[[str, int], object],
        refused: Callable[[], object],
        *,
        is_copy: bool,
    ) -> None:
        """Ask where to save a document, or a copy of it, and in which version."""
        dialog = file_dialog(document, self._window, chosen, is_copy=is_copy)
        dialog.rejected.connect(refused)
        self._show(dialog)

    def preview(
        self,
        document: OpenDocument,
        path: str,
        preview: SavePreview,
        confirmed: Callable[[bool], object],
        refused: Callable[[], object],
    ) -> None:
        """Say what a save means where it means more; `confirmed` gets whether to rewrite relative URLs."""
        if not has_news(preview):
            confirmed(False)
            return
        dialog = SavePreviewDialog(document, path, preview, self._window)
        dialog.accepted.connect(lambda: confirmed(dialog.keeps_meaning))
        dialog.rejected.connect(refused)
        self._show(dialog)

    def save_store(
        self,
        document: OpenDocument,
        change: StoreChange,
        chosen: Callable[[bool], object],
        refused: Callable[[], object],
    ) -> None:
        """Ask whether edits go into the opened store (True), or into a file of references beside it."""
        from refbrowser.exporting.saving.save import BACKUP

        name = one_line(document.name)
        box = self._box("saveStoreQuestion", f"Where do the edits of {name} go?")
        count = len(change.keys)
        nouns = counted_spaced(count, "changed metadata file")
        named = ", ".join(one_line(key) for key in change.keys[:3]) + (" …" if count > 3 else "")
        into = (
            f"Into the store: {nouns} ({named}), and consolidated metadata that repeats it. "
            f"What was there before is kept beside the store, in {name}{BACKUP}. Chunks are never written."
        )
        if change.obstacle:
            into = f"The store itself cannot take them: {one_line(change.obstacle)}."
        beside = "Beside it: a new file of references that points into the store, which stays as it is."
        asked = "" if change.obstacle else "\n\nYou are asked once while the store is open."
        box.setInformativeText(f"{into}\n\n{beside}{asked}")
        write = box.addButton("Write into the store", QMessageBox.ButtonRole.AcceptRole)
        write.setEnabled(not change.obstacle)
        save = box.addButton("Save references beside it…", QMessageBox.ButtonRole.ActionRole)
        cancel = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        for button, title in ((write, "Into"), (save, "Beside"), (cancel, "Cancel")):
            button.setObjectName(f"saveStoreQuestion{title}")
        box.setDefaultButton(save if change.obstacle else cancel)

        def finished(_code: int) -> None:
            clicked = box.clickedButton()
            if clicked in (write, save):
                chosen(clicked is write)
            else:
                refused()

        box.finished.connect(finished)
        self._show(box)

    def unsaved(self, document: OpenDocument, answer: Callable[[Unsaved], object]) -> None:
        """Ask what to do with the pending edits of a document that is to be closed."""
        what = "" if document.is_new else "the changes to "
        box = self._box("unsavedQuestion", f"Save {what}{one_line(document.title)}?")
        box.setInformativeText(f"{unsaved_words(document)} would be lost otherwise.")
        verb = "Apply and save" if document.draft_count else "Save"
        save = box.addButton(verb, QMessageBox.ButtonRole.AcceptRole)
        discard = box.addButton("Discard", QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        for button, name in ((save, "unsavedSave"), (discard, "unsavedDiscard"), (cancel, "unsavedCancel")):
            button.setObjectName(f"{name}Button")
        box.setDefaultButton(save)
        answers = {save: Unsaved.SAVE, discard: Unsaved.DISCARD}

        def finished(_code: int) -> None:
            clicked = box.clickedButton()
            answer(next((chosen for button, chosen in answers.items() if button is clicked), Unsaved.CANCEL))

        box.finished.connect(finished)
        self._show(box)

    def unsaved_documents(
        self,
        documents: Sequence[OpenDocument],
        chosen: Callable[[list[OpenDocument]], object],
        refused: Callable[[], object],
    ) -> None:
        """Ask which of several documents with pending edits are to be saved before they are closed."""
        words = ["never saved" if each.is_new else unsaved_words(each) for each in documents]
        dialog = UnsavedDialog(documents, words, self._window)
        dialog.accepted.connect(lambda: chosen(dialog.chosen))
        dialog.rejected.connect(refused)
        self._show(dialog)

    def overwrite(
        self, document: OpenDocument, confirmed: Callable[[], object], compared: Callable[[], object]
    ) -> None:
        """Ask whether a file that others changed since it was opened is to be replaced."""
        box = self._box("overwriteQuestion", f"{one_line(document.name)} was changed by others")
        box.setInformativeText("Replace it with this document?")
        yes = box.addButton("Replace", QMessageBox.ButtonRole.AcceptRole)
        look = box.addButton("Compare…", QMessageBox.ButtonRole.ActionRole)
        no = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        for button, name in ((yes, "Yes"), (look, "Compare"), (no, "No")):
            button.setObjectName(f"overwriteQuestion{name}")
        box.setDefaultButton(no)
        answers = {yes: confirmed, look: compared}

        def finished(_code: int) -> None:
            for button, answer in answers.items():
                if box.clickedButton() is button:
                    answer()

        box.finished.connect(finished)
        self._show(box)

    def reload(self, document: OpenDocument, confirmed: Callable[[], object]) -> None:
        """Ask whether pending edits are to be given up for what is in the file."""
        text = f"{unsaved_words(document)} would be lost: the history starts over."
        self._confirm("reloadQuestion", f"Reload {one_line(document.title)}?", text, confirmed)

    def compare(
        self, document: OpenDocument, reload: Callable[[], object], keep: Callable[[], object]
    ) -> None:
        """Show what differs between a document and its file."""
        dialog = CompareDialog(document, self._window)
        dialog.reload.connect(reload)
        dialog.keep.connect(keep)
        self._show(dialog)

    def revert(self, document: OpenDocument, confirmed: Callable[[], object]) -> None:
        """Ask whether all pending edits are to be taken back."""
        text = "The document goes back to its saved state. Undo brings the edits back."
        self._confirm("revertQuestion", f"Revert {one_line(document.title)}?", text, confirmed)

    def preview_recovery(
        self, document: OpenDocument, recovery: Recovery, chosen: Callable[[], object]
    ) -> None:
        """Show the unsaved edits that a lost process left."""
        dialog = RecoveryPreview(document, recovery, self._window)
        dialog.accepted.connect(chosen)
        self._show(dialog)

    def discard_recovery(self, recovery: Recovery, confirmed: Callable[[], object]) -> None:
        """Ask whether unsaved edits of a lost process are to be given up."""
        text = "They are removed for good. The file stays as it is."
        self._confirm("discardQuestion", "Discard these unsaved edits?", text, confirmed)

    def large(self, document: OpenDocument, text: str, answer: Callable[[bool], object]) -> None:
        """Ask whether to go on with a document of unusual size."""
        heading = f"{one_line(document.title)} is large"
        box = self._confirm("sizeQuestion", heading, text, lambda: answer(True), lambda: answer(False))
        # The document may be closed, or its reading cancelled, before anyone answers.
        document.openFailed.connect(box.reject)
        document.destroyed.connect(box.reject)

    def permissions(
        self,
        document: OpenDocument,
        chosen: Callable[[TrustSheet], object],
        connect: Connect,
        wants: Sequence[Want] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Show what a document wants to read, or would (`wants`), and ask for permission."""
        sheet = TrustSheet(document, parent or self._window, wants)
        sheet.accepted.connect(lambda: chosen(sheet))
        sheet.connectionWanted.connect(lambda origin: connect(origin, sheet))
        self._show(sheet)

    def private_addresses(
        self, urls: Iterable[str], named_by: OpenDocument | None, confirmed: Callable[[], object]
    ) -> None:
        """Ask whether private addresses are to be read that a file named: those at which it does not lie."""
        own = None if named_by is None else _private_origin(named_by.path)
        origins = [each for each in dict.fromkeys(map(_private_origin, urls)) if each not in (None, own)]
        if not origins:
            confirmed()
            return
        named = ", ".join(one_line(str(each)) for each in origins[:SHOWN])
        text = (
            f"The file leads to {named}: {plural(len(origins), 'a private address', 'private addresses')}, "
            "of this computer or its network. Only continue where you expect that."
        )
        self._confirm("privateQuestion", "Read from this computer's network?", text, confirmed)

    def link(self, link: Link, answer: Callable[[bool], object]) -> None:
        """Ask whether to open what a link from outside names; nothing of it was looked at."""
        private = _private_origin(link.path)
        named = [("Opens", link.path), ("Shows", link.inside), ("Reads from", link.where)]
        lines = ["\n".join(f"{what}: {one_line(words)}" for what, words in named if words)]
        if private is not None:
            lines.append("That is a private address, of this computer or its network.")
        lines += [f"Left out of the link: {one_line(words)}." for words in link.left_out]
        lines.append("Nothing was read yet. Open it only if you expect it and know who sent it.")
        box = self._box("linkQuestion", "Open a link from another program?")
        box.setIcon(QMessageBox.Icon.Warning if private is not None else QMessageBox.Icon.Question)
        box.setInformativeText("\n\n".join(lines))
        yes = box.addButton("Open", QMessageBox.ButtonRole.AcceptRole)
        yes.setObjectName("linkQuestionYes")
        no = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        no.setObjectName("linkQuestionNo")
        # Whoever presses Return without reading opens nothing.
        box.setDefaultButton(no)
        box.setEscapeButton(no)
        box.finished.connect(lambda _code: answer(box.clickedButton() is yes))
        self._show(box)

    def session(
        self, name: str, paths: Sequence[str], outside: Sequence[str], confirmed: Callable[[], object]
    ) -> None:
        """Ask whether to open a session that names documents outside of its folder; none was looked at."""
        shown = [one_line(place) for place in outside[:_PLACES]]
        if len(outside) > _PLACES:
            shown.append(f"and {counted_spaced(len(outside) - _PLACES, 'other place', 'other places')}")
        lines = [
            "It also reads from:\n" + "\n".join(shown),
            "Nothing has been read yet, and nothing is trusted because the session names it. "
            "Open it only if you know who sent it.",
        ]
        is_private = any(_private_origin(path) is not None for path in paths)
        if is_private:
            lines.insert(1, "One of them is a private address, of this computer or its network.")
        box = self._box("sessionQuestion", f"Open the session {one_line(name)}?")
        box.setIcon(QMessageBox.Icon.Warning if is_private else QMessageBox.Icon.Question)
        box.setInformativeText("\n\n".join(lines))
        yes = box.addButton("Open", QMessageBox.ButtonRole.AcceptRole)
        yes.setObjectName("sessionQuestionYes")
        no = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        no.setObjectName("sessionQuestionNo")
        box.setDefaultButton(no)
        box.setEscapeButton(no)
        box.finished.connect(lambda _code: confirmed() if box.clickedButton() is yes else None)
        self._show(box)

    def connection(
        self,
        origin: Origin,
        settings: ConnectionSettings,
        parent: QWidget,
        chosen: Callable[[ConnectionSettings], object],
    ) -> None:
        """Ask how to connect to an origin, over the dialog from which that is asked."""
        dialog = ConnectionDialog(origin, settings, parent)
        dialog.accepted.connect(lambda: chosen(dialog.settings()))
        self._show(dialog)

    def template_values(self, document: OpenDocument, chosen: Callable[[dict[str, str]], object]) -> None:
        """Ask for values of templates."""
        dialog = TemplateValuesDialog(document, self._window)
        dialog.accepted.connect(lambda: chosen(dialog.values()))
        self._show(dialog)

    def costly(self, heading: str, text: str, confirmed: Callable[[], object]) -> None:
        """Ask whether to read what takes long."""
        self._confirm("costQuestion", heading, text, confirmed)

    def delete_keys(self, count: int, text: str, confirmed: Callable[[], object]) -> None:
        """Ask whether so many keys are to be deleted."""
        noun = plural(count, "key")
        self._confirm("deleteQuestion", f"Delete {count_text(count)} {noun}?", text, confirmed)

    def delete_group(self, path: str, contents: str, confirmed: Callable[[], object]) -> None:
        """Ask whether a group is to be deleted with what it holds."""
        text = f"{contents} would go with it. No data is touched, and Undo takes the step back."
        self._confirm("deleteGroupQuestion", f"Delete group {one_line(path)}?", text, confirmed)

    def _confirm(
        self,
        name: str,
        heading: str,
        text: str,
        confirmed: Callable[[], object],
        refused: Callable[[], object] = lambda: None,
    ) -> QMessageBox:
        box = self._box(name, heading)
        box.setInformativeText(text)
        yes = box.addButton("Continue", QMessageBox.ButtonRole.AcceptRole)
        yes.setObjectName(f"{name}Yes")
        box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole).setObjectName(f"{name}No")
        box.finished.connect(lambda _code: confirmed() if box.clickedButton() is yes else refused())
        self._show(box)
        return box

    def _box(self, name: str, heading: str) -> QMessageBox:
        box = QMessageBox(self._window)
        box.setObjectName(name)
        box.setWindowTitle("refbrowser")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(heading)
        return box

    def show(self, dialog: QFileDialog) -> None:
        """Show a dialog that asks for a file, which is gone once it is closed."""
        self._show(dialog)

    @staticmethod
    def _show(dialog: QFileDialog | QMessageBox | QWidget) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()  # type: ignore[union-attr]
