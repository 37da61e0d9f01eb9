"""The editor of a document's templates: their list, name and text, and a try-out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from refbrowser.app import theme
from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.drafts import TemplateDraft, drafts_of
from refbrowser.app.editors.form import EditorForm, follow
from refbrowser.app.editors.jinja_field import JinjaField, fault_spans
from refbrowser.app.editors.names import Names
from refbrowser.app.editors.preview_source import NoSource
from refbrowser.app.editors.rows import OutcomeLine, TextLine, named, tool_button
from refbrowser.app.editors.templates_table import TemplateRow, TemplatesTable
from refbrowser.app.editors.try_out import TryOut
from refbrowser.app.theme import count_text
from refbrowser.errors import RefbrowserError

if TYPE_CHECKING:
    from refbrowser.app.editors.template_uses import TemplateUses
    from refbrowser.references.document import ReferenceDocument
    from refbrowser.references.template import Template
    from refbrowser.references.templates import TemplateSet


class TemplatesEditor(EditorForm):
    """The templates of a document; the one at hand is parsed and tried out with each keystroke."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("template", "template", parent)
        self.setObjectName("templatesEditor")
        self.setAccessibleName("Templates")
        self._document: OpenDocument | None = None
        self._draft: TemplateDraft | None = None
        self._uses: tuple[ReferenceDocument, str, TemplateUses] | None = None
        self._loading = False
        self._build()
        self.setFocusProxy(self.table)
        self.applyWanted.connect(self.apply)
        self.resetWanted.connect(self.reset)
        self._show_template()

    def _build(self) -> None:
        self.header.addWidget(tool_button("templateAdd", "+", "Add a template", self.add))
        self.header.addWidget(tool_button("templateRemove", "−", "Remove the template", self.remove))
        self.table = TemplatesTable()
        self.table.chosen.connect(self._chosen)
        self._name = named(TextLine(), "templateNameField", "Name of the template")
        self._name.setFont(theme.mono_font())
        self._name.textEdited.connect(self._renamed)
        self._name_outcome = OutcomeLine("templateNameOutcome")
        self._text = JinjaField("templateTextField", "Text of the template")
        self._text.set_names(Names(any_name=True))
        self._text.edited.connect(self._typed)
        self._text_outcome = OutcomeLine("templateTextOutcome")
        self._given = OutcomeLine("templateGivenValue")
        self.try_out = TryOut()
        self.grid.addWidget(self.table, 0, 0, 1, 2)
        self.grid.setRowMinimumHeight(1, theme.MEDIUM)
        self.add_label(2, "&Name", self._name)
        self.grid.addWidget(self._name, 2, 1)
        self.grid.addWidget(self._name_outcome, 3, 1)
        self.add_label(4, "Te&xt", self._text)
        self.grid.addWidget(self._text, 4, 1)
        self.grid.addWidget(self._text_outcome, 5, 1)
        self.grid.addWidget(self._given, 6, 1)
        self.grid.addWidget(self.try_out, 7, 0, 1, 2)
        self.grid.setRowStretch(8, 1)

    # What is shown

    @property
    def draft(self) -> TemplateDraft | None:
        """The template as it is typed, None where there is none."""
        return self._draft

    @property
    def is_pending(self) -> bool:
        """Whether the shown template has edits that are not applied."""
        return self._draft is not None and self._draft.is_changed

    def set_document(self, document: OpenDocument | None, name: str | None = None) -> None:
        """Show the templates of a document, and the one called `name`."""
        if document is not self._document:
            follow(self._document, document, self._document_changed)
            self._document = document
        self._document_changed()
        if name is not None:
            self.table.choose(name)

    def _templates(self) -> TemplateSet | None:
        document = None if self._document is None else self._document.document
        return None if document is None else document.templates

    def _document_changed(self) -> None:
        self._show_rows()
        templates = self._templates()
        if self.table.current() is None and templates is not None:
            self.table.choose(next(iter(templates.texts), None))
        self._show_template()
        self._count_uses()

    def _show_rows(self) -> None:
        templates = self._templates()
        if templates is None or self._document is None:
            self.table.show_rows([])
            return
        drafts = drafts_of(self._document)
        faults = dict(templates.faults)
        rows = []
        for name in templates.texts:
            draft = drafts.template(name)
            given = name in templates.values
            text = draft.text if draft is not None and not given else templates.texts[name]
            fault = faults[name].message if name in faults else ""
            rows.append(TemplateRow(name, str(text), given, draft is not None, fault))
        self.table.show_rows(rows)

    def _count_uses(self) -> None:
        opened = self._document
        document = None if opened is None else opened.document
        if opened is None or document is None:
            return
        from refbrowser.app.editors.template_uses import count_uses

        def counted(uses: dict[str, int]) -> None:
            if opened is self._document and document is opened.document:
                self.table.show_uses(uses)

        self.table.show_uses(None)
        opened.tasks.run(
            opened.owner("template uses"),
            "Count the uses of templates",
            lambda control: count_uses(document, control.check),
            counted,
        )

    def _chosen(self, name: str | None) -> None:
        self._show_template()

    def _show_template(self) -> None:
        templates, name = self._templates(), self.table.current()
        self._draft = None
        if (
            templates is not None
            and name is not None
            and name in templates.templates
            and self._document is not None
        ):
            text = templates.templates[name]
            pending = drafts_of(self._document).template(name)
            self._draft = pending or TemplateDraft(name, str(text), name, str(text))
        self._loading = True
        draft = self._draft or TemplateDraft("", "", "", "")
        if self._name.text() != draft.name:
            self._name.setText(draft.name)
        self._text.set_text(draft.text)
        for field in (self._name, self._text):
            field.setEnabled(self._draft is not None)
        self._loading = False
        self._follow()

    # Typing

    def _renamed(self, name: str) -> None:
        if self._draft is not None:
            self._keep(replace(self._draft, name=name))

    def _typed(self, text: str) -> None:
        if not self._loading and self._draft is not None:
            self._keep(replace(self._draft, text=text))

    def _keep(self, draft: TemplateDraft) -> None:
        self._draft = draft
        if self._document is not None:
            drafts_of(self._document).put_template(draft)
        self._show_rows()
        self._follow()

    def _follow(self) -> None:
        templates, draft, opened = self._templates(), self._draft, self._document
        self._show_given(templates)
        if templates is None or draft is None or opened is None or opened.document is None:
            self._show_nothing()
            return
        from refbrowser.references.templates import TemplateSet

        # A template sees its arguments alone: the others do not matter here, however many there are.
        alone = TemplateSet({draft.name: draft.text})
        template = alone.scope.templates.get(draft.name)
        self._show_fault(draft, template, alone.scope.faults.get(draft.name))
        self.try_out.show_template(template, lambda arguments: alone.try_out(draft.name, arguments))
        mistake = self._name_mistake(templates, draft)
        if mistake:
            self._name_outcome.show_fault(mistake)
        elif draft.name != draft.old_name and self.table.uses(draft.old_name) != 0:
            self._name_outcome.show_warning(f"what uses {draft.old_name} keeps the old name")
        else:
            self._name_outcome.clear()
        heading = f"Templates ({count_text(len(templates.texts))})"
        moved_on = drafts_of(opened).template_moved_on(draft.old_name)
        self.show_pending(heading, pending=self.is_pending, can_apply=not mistake, moved_on=moved_on)
        self._publish_affected(opened, draft)

    def _publish_affected(self, opened: OpenDocument, draft: TemplateDraft) -> None:
        """Hand what uses the template to the preview; who uses it is found once for each document."""
        from refbrowser.app.editors.template_source import template_source
        from refbrowser.app.editors.template_uses import uses_of

        document = opened.document
        assert document is not None
        if self._uses is not None and self._uses[:2] == (document, draft.old_name):
            self.publish(opened, template_source(document, opened.saved_document, draft, self._uses[2]))
            return

        def found(uses: TemplateUses) -> None:
            self._uses = (document, draft.old_name, uses)
            if opened is self._document and document is opened.document and self._draft is not None:
                self._follow()

        self.publish(opened, NoSource())
        opened.tasks.run(
            opened.owner("template"),
            f"Find what uses template {draft.old_name}",
            lambda control: uses_of(document, draft.old_name, control.check),
            found,
        )

    def _show_fault(
        self, draft: TemplateDraft, template: Template | None, fault: RefbrowserError | None
    ) -> None:
        if template is None or fault is not None:
            reason = "" if fault is None else fault.message
            self._text.set_faults(fault_spans([fault] if fault is not None else [], draft.text), reason)
            self._text_outcome.show_fault(reason)
            return
        self._text.set_faults((), "")
        if template.names:
            self._text_outcome.show_result(f"called with {', '.join(f'{name}=…' for name in template.names)}")
        else:
            self._text_outcome.show_result("literal: used by its name")

    def _name_mistake(self, templates: TemplateSet, draft: TemplateDraft) -> str:
        if draft.name == "":
            return "the template has no name"
        if draft.name != draft.old_name and draft.name in templates.texts:
            return "there is another template of this name"
        if not draft.name.isidentifier():
            return "" if draft.name == draft.old_name else "jinja cannot name it: letters, digits and _ only"
        return ""

    def _show_given(self, templates: TemplateSet | None) -> None:
        name = self.table.current()
        given = templates is not None and name in templates.values
        self._given.setVisible(given)
        if templates is not None and name is not None and given:
            self._given.show_warning(f"given by you and used instead, never saved: {templates.values[name]}")

    def _show_nothing(self) -> None:
        self.show_pending("Templates", pending=False, can_apply=False, moved_on=False)
        self._name_outcome.clear()
        self._text_outcome.clear()
        self._text.set_faults((), "")
        self.try_out.hide()
        self.publish(self._document, NoSource())

    # Acting

    def apply(self) -> None:
        """Make what is typed one step of the history."""
        draft, opened = self._draft, self._document
        if draft is None or opened is None or not self.apply_button.isEnabled():
            return
        drafts_of(opened).drop_template(draft.old_name)
        if opened.apply(template_edit(draft)):
            self.table.choose(draft.name)
            self._name.settle()
            self._text.settle()
        else:
            drafts_of(opened).put_template(draft)

    def reset(self) -> None:
        """Forget what is typed and show what the document has."""
        if self._document is not None and self._draft is not None:
            drafts_of(self._document).drop_template(self._draft.old_name)
            self._show_rows()
            self._show_template()
            self._text.setFocus()

    def add(self) -> None:
        """Add a template with a new name, as one step of the history."""
        opened, templates = self._document, self._templates()
        if opened is None or templates is None or opened.document is None:
            return
        from refbrowser.references.edits import AddTemplate, Compound, SetVersion

        name = next(name for number in range(1, 10**6) if (name := f"t{number}") not in templates.texts)
        edit: Any = AddTemplate(name, "")
        if opened.document.version != 1:
            edit = Compound(edit.title, (SetVersion(1), edit))
        if opened.apply(edit):
            self.table.choose(name)
            self._name.setFocus()
            self._name.selectAll()

    def remove(self) -> None:
        """Remove the template at hand as one step of the history."""
        if self._document is None or self._draft is None:
            return
        from refbrowser.references.edits import RemoveTemplate

        drafts_of(self._document).drop_template(self._draft.old_name)
        self._document.apply(RemoveTemplate(self._draft.old_name))


def template_edit(draft: TemplateDraft) -> Any:
    """Return the edit of `references.edits` that a draft stands for."""
    from refbrowser.references.edits import Compound, RenameTemplate, SetTemplate

    edits: list[Any] = []
    if draft.name != draft.old_name:
        edits.append(RenameTemplate(draft.old_name, draft.name))
    if draft.text != draft.old_text:
        edits.append(SetTemplate(draft.name, draft.text))
    return edits[0] if len(edits) == 1 else Compound(f"Change template {draft.old_name}", tuple(edits))
