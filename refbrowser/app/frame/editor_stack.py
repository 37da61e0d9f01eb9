"""The editor dock: the editor that fits what is selected; and the preview that follows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.widgets.docks import hint_of
from refbrowser.app.widgets.small_widgets import hint_label
from refbrowser.views.editing.field_drafts import PrefixDraft
from refbrowser.views.editing.typed_input import DraftKind, Typed

if TYPE_CHECKING:
    from refbrowser.app.editors.form import EditorForm
    from refbrowser.app.editors.gen_editor import GenEditor
    from refbrowser.app.editors.prefix_editor import PrefixEditor
    from refbrowser.app.editors.preview_view import PreviewView
    from refbrowser.app.editors.reference_editor import ReferenceEditor
    from refbrowser.app.editors.templates_editor import TemplatesEditor
    from refbrowser.errors import Place
    from refbrowser.references.content.url_prefixes import PrefixScope
    from refbrowser.views.editing.preview import CheckReport, PreviewSource


class EditorStack(QStackedWidget):
    """One editor of each kind, made when it is first needed.

    Signals
    -------
    ruleChosen(int)
        The user went to another gen rule from within the editor.
    keyChosen(str)
        The key of a reference that was added or renamed in the editor.
    useChosen(object)
        The `TemplateUse` that the user wants to see.
    previewMade(object)
        The `PreviewView` exists from now on.
    prefixWanted()
        The user wants to replace the beginning of URLs.
    changesWanted()
        The user wants to see which keys changed.
    """

    ruleChosen = Signal(int)
    keyChosen = Signal(str)
    useChosen = Signal(object)
    previewMade = Signal(object)
    prefixWanted = Signal()
    changesWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.preview_slot = QStackedWidget()
        self.preview_slot.addWidget(hint_label(hint_of("previewDock")))
        self._preview: PreviewView | None = None
        self._templates: TemplatesEditor | None = None
        self._rules: GenEditor | None = None
        self._references: ReferenceEditor | None = None
        self._prefix: PrefixEditor | None = None
        self._document: OpenDocument | None = None
        self._hint = hint_label("")
        self.addWidget(self._hint)
        self.clear()

    def clear(self, why: str = "") -> None:
        """Show no editor, and why, or what there is an editor for."""
        self._document = None
        self._hint.setText(why or hint_of("editorDock"))
        if self._templates is not None:
            self._templates.set_document(None)
        if self._rules is not None:
            self._rules.set_rule(None, 0)
        if self._references is not None:
            self._references.set_key(None, None)
        if self._prefix is not None:
            self._prefix.set_document(None)
        self.setCurrentIndex(0)
        self.preview_slot.setCurrentIndex(0)

    def show_templates(self, document: OpenDocument, name: str | None = None) -> None:
        """Edit the templates of a document, beginning with one of them."""
        editor = self._templates_editor()
        self._show(document, editor)
        editor.set_document(document, name)

    def add_template(self, document: OpenDocument) -> None:
        """Begin a template."""
        self.show_templates(document)
        self._templates_editor().add()

    def add_rule(self, document: OpenDocument, last: int) -> None:
        """Begin a gen rule after number `last` (-1 where there is none)."""
        self.show_rule(document, max(0, last))
        self._rule_editor().add_rule()

    def add_reference(self, document: OpenDocument) -> None:
        """Begin a reference."""
        self.show_reference(document, None)
        self._reference_editor().add()

    def show_rule(self, document: OpenDocument, number: int) -> None:
        """Edit a gen rule."""
        editor = self._rule_editor()
        self._show(document, editor)
        editor.set_rule(document, number)

    def show_rule_place(self, field: str | None, row: int | None) -> None:
        """Show a field of the rule that is edited, and one of its rows; the keyboard stays where it is."""
        if self._rules is not None and field is not None:
            self._rules.bring_into_view(field)
        if self._rules is not None and row is not None:
            self._rules.show_row(row)

    def go_to_rule_field(self, field: str) -> None:
        """Put the keyboard in a field of the rule that is edited."""
        self._rule_editor().show_field(field)

    def show_typed(self, document: OpenDocument, typed: Typed, place: Place) -> None:
        """Show what is typed in the editor that it was typed in, with the keyboard where it is wrong."""
        if isinstance(typed.draft, PrefixDraft):
            editor: EditorForm = self._prefix_editor()
            self._show(document, editor)
            self._prefix_editor().show_typed(document, typed.draft)
        elif typed.kind is DraftKind.RULE:
            self.show_rule(document, typed.at)
            editor = self._rule_editor()
        elif typed.kind is DraftKind.TEMPLATE:
            self.show_templates(document, typed.at)
            editor = self._templates_editor()
        else:
            self.show_reference(document, typed.at)
            editor = self._reference_editor()
        editor.show_field(place.field or "", place.span)

    def replace_prefix(
        self, document: OpenDocument, scopes: list[tuple[str, PrefixScope]], chosen: PrefixScope, old: str
    ) -> None:
        """Begin to replace the beginning of URLs (see `PrefixEditor.begin`)."""
        editor = self._prefix_editor()
        self._show(document, editor)
        editor.begin(document, scopes, chosen, old)

    def show_reference(self, document: OpenDocument, key: str | None) -> None:
        """Edit a reference; a new one when `key` is None."""
        editor = self._reference_editor()
        self._show(document, editor)
        editor.set_key(document, key)

    def show_preview(self, document: OpenDocument, source: PreviewSource) -> None:
        """Show what an edit that is typed elsewhere would give."""
        self.preview_slot.setCurrentWidget(self._made_preview())
        self._made_preview().show_source(document, source)

    def focus_editor(self) -> None:
        """Put the keyboard in the editor that is shown."""
        editor = self.currentWidget()
        if editor is not None:
            editor.setFocus()

    def preview(self) -> PreviewView | None:
        """Return the preview, once it was needed."""
        return self._preview

    def document(self) -> OpenDocument | None:
        """Return the document whose entry is edited."""
        return self._document

    # Making, when first needed or ahead

    def parts(self) -> Iterator[None]:
        """Make the editors and the preview ahead: each step of the iterator makes one of them."""
        for make in (
            self._made_preview,
            self._reference_editor,
            self._rule_editor,
            self._templates_editor,
            self._prefix_editor,
        ):
            make()
            yield

    def _reference_editor(self) -> ReferenceEditor:
        from refbrowser.app.editors.reference_editor import ReferenceEditor

        if self._references is None:
            self._references = ReferenceEditor()
            self._add(self._references)
            self._references.keyChosen.connect(self.keyChosen.emit)
            self._references.prefixWanted.connect(self.prefixWanted.emit)
        return self._references

    def _rule_editor(self) -> GenEditor:
        from refbrowser.app.editors.gen_editor import GenEditor

        if self._rules is None:
            self._rules = GenEditor()
            self._add(self._rules)
            self._rules.ruleChosen.connect(self.ruleChosen.emit)
        return self._rules

    def _templates_editor(self) -> TemplatesEditor:
        from refbrowser.app.editors.templates_editor import TemplatesEditor

        if self._templates is None:
            self._templates = TemplatesEditor()
            self._add(self._templates)
            self._templates.useChosen.connect(self.useChosen.emit)
        return self._templates

    def _prefix_editor(self) -> PrefixEditor:
        from refbrowser.app.editors.prefix_editor import PrefixEditor

        if self._prefix is None:
            self._prefix = PrefixEditor()
            self._add(self._prefix)
            self._prefix.changesWanted.connect(self.changesWanted.emit)
        return self._prefix

    def _made_preview(self) -> PreviewView:
        from refbrowser.app.editors.preview_view import PreviewView

        if self._preview is None:
            self._preview = PreviewView()
            self._preview.rowSelected.connect(self._row_selected)
            self._preview.reported.connect(self._reported)
            self.preview_slot.addWidget(self._preview)
            self.previewMade.emit(self._preview)
        return self._preview

    def _add(self, editor: EditorForm) -> None:
        editor.previewChanged.connect(self._made_preview().show_source)
        self.addWidget(editor)

    def _show(self, document: OpenDocument, editor: EditorForm) -> None:
        self._document = document
        self.preview_slot.setCurrentWidget(self._made_preview())
        self.setCurrentWidget(editor)

    def _reported(self, report: CheckReport) -> None:
        if self._rules is not None and self._made_preview().source() is self._rules.source():
            self._rules.take_findings(report.findings)

    def _row_selected(self, row: int) -> None:
        if self._rules is not None and self.currentWidget() is self._rules:
            self._rules.show_row(row)
