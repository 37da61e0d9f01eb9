"""The editor of templates: their table, their texts, what uses them, and a place to try one out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QGroupBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMessageBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from refbrowser.app.controller.open_document import OpenDocument
from refbrowser.app.editors.code_field import JinjaField
from refbrowser.app.editors.drafts import drafts_of
from refbrowser.app.editors.form import EditorForm, access_of, follow
from refbrowser.app.editors.templates_table import TemplateRow, TemplatesTable
from refbrowser.app.tasks.latest import Latest
from refbrowser.app.tasks.tasks import TaskControl
from refbrowser.app.widgets import theme
from refbrowser.app.widgets.rows import OutcomeLine, TextLine, named, tool_button
from refbrowser.app.widgets.small_widgets import ThemedItem
from refbrowser.errors import RefbrowserError
from refbrowser.views.editing.preview import NoSource
from refbrowser.views.editing.rule_draft import integer
from refbrowser.views.editing.text_marks import Names, fault_spans
from refbrowser.views.editing.typed_input import TemplateDraft, Typed, name_mistake, template_edit
from refbrowser.views.words import one_line
from refbrowser.words import count_text, plural

if TYPE_CHECKING:
    from refbrowser.references.content.content import Edit
    from refbrowser.references.document.document import Document
    from refbrowser.references.templates.syntax import Template
    from refbrowser.references.templates.templates import TemplateSet
    from refbrowser.views.editing.template_source import TemplateUse, TemplateUses, UsesListed


class TryOut(QGroupBox):
    """Arguments of the template at hand and its result, following each keystroke.

    An argument that spells an integer is one; in quotation marks it is text. What was typed is kept by the
    argument's name, also for other templates.
    """

    def __init__(self) -> None:
        super().__init__("Try out")
        self.setObjectName("templateTryOut")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(theme.MEDIUM)
        self._form.setVerticalSpacing(theme.SMALL)
        layout.addLayout(self._form)
        self.outcome = OutcomeLine("templateTryOutResult")
        layout.addWidget(self.outcome)
        self._fields: dict[str, QLineEdit] = {}
        self._kept: dict[str, str] = {}
        self._required: tuple[str, ...] = ()
        self._render: Callable[[Mapping[str, Any]], str] = lambda _arguments: ""

    def show_template(self, template: Template | None, render: Callable[[Mapping[str, Any]], str]) -> None:
        """Show a field for each parameter; `render` makes the result of the arguments or raises."""
        parameters = () if template is None else template.parameters
        self._required = () if template is None else template.needed
        self._render = render
        if parameters != tuple(self._fields):
            self._make_fields(parameters)
        self.setVisible(bool(parameters))
        if parameters:
            self._follow()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments by name; an empty field gives none."""
        return {name: argument(field.text()) for name, field in self._fields.items() if field.text() != ""}

    def _make_fields(self, parameters: tuple[str, ...]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self._fields = {}
        for name in parameters:
            field = named(QLineEdit(self._kept.get(name, "")), f"templateArgument_{name}", f"Argument {name}")
            field.setFont(theme.mono_font())
            field.setPlaceholderText("value")
            field.textEdited.connect(lambda text, name=name: self._typed(name, text))
            self._fields[name] = field
            self._form.addRow(name, field)

    def _typed(self, name: str, text: str) -> None:
        self._kept[name] = text
        self._follow()

    def _follow(self) -> None:
        missing = [name for name in self._required if self._fields[name].text() == ""]
        if missing:
            self.outcome.show_result(f"needs {', '.join(missing)}")
            return
        try:
            self.outcome.show_result(self._render(self.arguments()))
        except RefbrowserError as error:
            self.outcome.show_fault(error.message)


def argument(text: str) -> Any:
    """Return what a typed argument stands for: an integer, or text, with its quotation marks taken off."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    number = integer(text)
    return text if number is None else number


_USE = Qt.ItemDataRole.UserRole
_ROWS = 7


class UsesList(QWidget):
    """Where a template is used: fields of gen rules first, then keys.

    Signals
    -------
    chosen(object)
        The `TemplateUse` that the user wants to see.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self.list = _List()
        self._title.setBuddy(self.list)
        self.list.itemClicked.connect(lambda item, _column: self._go(item))
        self.list.returned.connect(self._go)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SMALL, 0, 0)
        layout.setSpacing(theme.SMALL)
        layout.addWidget(self._title)
        layout.addWidget(self.list)
        self.show_uses(None)

    def show_uses(self, found: UsesListed | None) -> None:
        """Show other uses; None while they are looked for."""
        self.list.clear()
        self.list.setVisible(found is not None and found.count > 0)
        if found is None:
            self._title.setText("Looking for uses…")
            return
        if not found.count:
            self._title.setText("Not used")
            return
        more = found.count - len(found.uses)
        rest = f", the first {count_text(len(found.uses))}" if more else ""
        self._title.setText(f"Used {uses_words(found)}{rest}")
        for use in found.uses:
            item = ThemedItem([one_line(use.title), one_line(use.text)])
            item.setData(0, _USE, use)
            item.setToolTip(0, theme.plain_tooltip(use.title))
            item.setToolTip(1, theme.plain_tooltip(use.text))
            item.setFont(1, theme.mono_font(-1))
            item.color(1, "muted")
            self.list.addTopLevelItem(item)

    def title(self) -> str:
        """Return how often it is used, in words."""
        return self._title.text()

    def _go(self, item: QTreeWidgetItem | None) -> None:
        use: TemplateUse | None = None if item is None else item.data(0, _USE)
        if use is not None:
            self.chosen.emit(use)


class _List(QTreeWidget):
    returned = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        named(self, "templateUses", "Uses of the template")
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setToolTip("Click goes to the use")
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setMaximumSectionSize(220)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self.returned.emit(self.currentItem())
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().lineSpacing() * _ROWS)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, self.fontMetrics().lineSpacing() * 4)


def uses_words(found: UsesListed) -> str:
    """Return how often a template is used and by what."""
    parts = []
    if found.rule_fields:
        many = plural(found.rule_fields, "field")
        parts.append(f"{count_text(found.rule_fields)} gen rule {many}")
    if found.references:
        many = plural(found.references, "reference")
        parts.append(f"{count_text(found.references)} {many}")
    return f"in {' and '.join(parts)}" if parts else "nowhere"


#: Uses that are named before a template that is used is removed.
NAMED_USES = 6


class TemplatesEditor(EditorForm):
    """The templates of a document; the one at hand is parsed and tried out with each keystroke.

    Signals
    -------
    useChosen(object)
        The user wants to see a `TemplateUse`.
    """

    useChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("template", "template", parent)
        self.setObjectName("templatesEditor")
        self.setAccessibleName("Templates")
        self._document: OpenDocument | None = None
        self._draft: TemplateDraft | None = None
        self._uses: tuple[Document, str, TemplateUses, UsesListed] | None = None
        self._removing = ""
        self._loading = False
        self._counting, self._finding = Latest(self, "template uses"), Latest(self, "template")
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
        self.add_line(self._name)
        self._name_outcome = OutcomeLine("templateNameOutcome")
        self._text = JinjaField("templateTextField", "Text of the template")
        self._text.set_names(Names(any_name=True))
        self._text.edited.connect(self._typed)
        self._text.returnPressed.connect(self.apply_button.click)
        self._text_outcome = OutcomeLine("templateTextOutcome")
        self._given = OutcomeLine("templateGivenValue")
        self.try_out = TryOut()
        self.grid.addWidget(self.table, 0, 0, 1, 2)
        self.grid.setRowMinimumHeight(1, theme.MEDIUM)
        self.add_label(2, "&Name", self._name)
        self.grid.addWidget(self._name, 2, 1)
        self.grid.addWidget(self._name_outcome, 3, 1)
        self._rename_uses = named(
            QCheckBox("Rename its &uses too"), "templateRenameUses", "Rename the uses of the template too"
        )
        self._rename_uses.setToolTip("References and gen rules that use the template use its new name")
        self._rename_uses.clicked.connect(self._uses_switched)
        self.grid.addWidget(self._rename_uses, 4, 1)
        self.uses = UsesList()
        self.uses.chosen.connect(self.useChosen)
        self.add_label(5, "Te&xt", self._text)
        self.grid.addWidget(self._text, 5, 1)
        self.grid.addWidget(self._text_outcome, 6, 1)
        self.grid.addWidget(self._given, 7, 1)
        self.grid.addWidget(self.try_out, 8, 0, 1, 2)
        self.grid.addWidget(self.uses, 9, 0, 1, 2)
        self.grid.setRowStretch(10, 1)

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
            follow(self._document, document, self, self._document_changed)
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
        from refbrowser.views.editing.template_source import count_uses

        def counted(uses: dict[str, int]) -> None:
            if opened is self._document and document is opened.document:
                self.table.show_uses(uses)

        self.table.show_uses(None)
        self._counting.run(
            opened,
            "Count the uses of templates",
            lambda control: count_uses(document, control.check),
            counted,
        )

    def _chosen(self, name: str | None) -> None:
        self._removing = ""
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

    def _uses_switched(self, checked: bool) -> None:
        if self._draft is not None:
            self._keep(replace(self._draft, renames_uses=checked))

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
        from refbrowser.references.templates.templates import TemplateSet

        # A template sees its arguments alone: the others do not matter here, however many there are.
        alone = TemplateSet({draft.name: draft.text})
        template = alone.scope.templates.get(draft.name)
        self._show_fault(draft, template, alone.scope.faults.get(draft.name))
        self.try_out.show_template(template, lambda arguments: alone.try_out(draft.name, arguments))
        mistake = name_mistake(opened.document, draft)
        self._show_renaming(draft, mistake)
        heading = f"Templates ({count_text(len(templates.texts))})"
        moved_on = drafts_of(opened).template_moved_on(draft.old_name)
        self.show_pending(heading, pending=self.is_pending, can_apply=not mistake, moved_on=moved_on)
        self.uses.show()
        self._publish_affected(opened, draft)

    def _known_uses(self, draft: TemplateDraft) -> UsesListed | None:
        """Return who uses the template; None while that is looked for."""
        document = None if self._document is None else self._document.document
        if self._uses is None or self._uses[0] is not document or self._uses[1] != draft.old_name:
            return None
        return self._uses[3]

    def _show_renaming(self, draft: TemplateDraft, mistake: str) -> None:
        """Say what another name does to what uses the template."""
        known = self._known_uses(draft)
        is_renamed, is_used = draft.name != draft.old_name, known is None or known.count > 0
        self._rename_uses.setVisible(is_renamed and is_used)
        self._rename_uses.setChecked(draft.renames_uses)
        if mistake:
            self._name_outcome.show_fault(mistake)
        elif not is_renamed or not is_used:
            self._name_outcome.clear()
        elif not draft.renames_uses:
            self._name_outcome.show_warning(f"what uses {draft.old_name} keeps the old name")
        elif known is not None:
            uses = plural(known.count, "use is", f"{count_text(known.count)} uses are")
            self._name_outcome.show_result(f"its {uses} renamed too")
        else:
            self._name_outcome.show_result("what uses it is renamed too")

    def _publish_affected(self, opened: OpenDocument, draft: TemplateDraft) -> None:
        """Hand what uses the template to the preview; who uses it is found once for each document."""
        from refbrowser.views.editing.template_source import listed_uses, template_source, uses_of

        document = opened.document
        assert document is not None
        if self._uses is not None and self._uses[:2] == (document, draft.old_name):
            # Uses that are renamed too mean what they meant.
            seen = replace(draft, name=draft.old_name) if draft.renames_uses else draft
            self.publish(opened, template_source(document, access_of(opened), seen, self._uses[2]))
            return

        def look(control: TaskControl) -> tuple[TemplateUses, UsesListed]:
            uses = uses_of(document, draft.old_name, control.check)
            return uses, listed_uses(document, draft.old_name, uses)

        def found(result: tuple[TemplateUses, UsesListed]) -> None:
            self._uses = (document, draft.old_name, *result)
            self.uses.show_uses(result[1])
            if self._removing == draft.old_name:
                self._ask_removal(draft.old_name, result[1])
            if opened is self._document and document is opened.document and self._draft is not None:
                self._follow()

        self.publish(opened, NoSource())
        self.uses.show_uses(None)
        self._finding.run(opened, f"Find what uses template {draft.old_name}", look, found)

    def _show_fault(
        self, draft: TemplateDraft, template: Template | None, fault: RefbrowserError | None
    ) -> None:
        if template is None or fault is not None:
            reason = "" if fault is None else fault.message
            self._text.set_faults(fault_spans([fault] if fault is not None else [], draft.text), reason)
            self._text_outcome.show_fault(reason)
            return
        self._text.set_faults((), "")
        if template.parameters:
            arguments = ", ".join(f"{name}=…" for name in template.parameters)
            self._text_outcome.show_result(f"called with {arguments}")
        else:
            self._text_outcome.show_result("literal: used by its name")

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
        self.uses.hide()
        self._rename_uses.hide()
        self.publish(self._document, NoSource())

    def field_of(self, name: str) -> QWidget:
        """Return the field of name or text."""
        return self._name if name == "name" else self._text

    def take_applied(self, typed: tuple[Typed, ...]) -> None:
        """Go on with the name that a template has now."""
        for one in typed:
            if isinstance(one.draft, TemplateDraft) and one.draft.name != one.at:
                self.table.choose(one.draft.name)
        super().take_applied(typed)

    # Acting

    def apply(self) -> None:
        """Make what is typed one step of the history."""
        draft, opened = self._draft, self._document
        if draft is None or opened is None or not self.apply_button.isEnabled():
            return
        drafts_of(opened).drop_template(draft.old_name)
        if opened.apply(template_edit(draft)):
            self.table.choose(draft.name)
            self.settle()
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
        from refbrowser.references.edits.edits import Compound, SetVersion
        from refbrowser.references.edits.outer_edits import AddTemplate

        name = next(name for number in range(1, 10**6) if (name := f"t{number}") not in templates.texts)
        edit: Edit = AddTemplate(name, "")
        if opened.document.version != 1:
            edit = Compound(edit.title, (SetVersion(1), edit))
        if opened.apply(edit):
            self.table.choose(name)
            self._name.setFocus()
            self._name.selectAll()

    def remove(self) -> None:
        """Remove the template at hand; where it is used, after the user has seen by what."""
        if self._document is None or self._draft is None:
            return
        known = self._known_uses(self._draft)
        if known is None:
            self._removing = self._draft.old_name
        else:
            self._ask_removal(self._draft.old_name, known)

    def _ask_removal(self, name: str, known: UsesListed) -> None:
        self._removing = ""
        if not known.count:
            self._remove(name)
            return
        box = QMessageBox(self.window())
        box.setObjectName("templateRemoveQuestion")
        box.setWindowTitle("refbrowser")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"Remove template {one_line(name)}?")
        shown = [f"• {one_line(use.title)}" for use in known.uses[:NAMED_USES]]
        more = known.count - len(shown)
        if more:
            shown.append(f"and {count_text(more)} more")
        lines = "\n".join(shown)
        box.setInformativeText(f"It is used {uses_words(known)}, which would fail:\n{lines}")
        yes = box.addButton("Remove", QMessageBox.ButtonRole.DestructiveRole)
        yes.setObjectName("templateRemoveYes")
        no = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        no.setObjectName("templateRemoveNo")
        box.setDefaultButton(no)
        yes.clicked.connect(lambda: self._remove(name))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _remove(self, name: str) -> None:
        """Remove a template as one step of the history."""
        opened, templates = self._document, self._templates()
        if opened is None or templates is None or name not in templates.templates:
            return
        from refbrowser.references.edits.outer_edits import RemoveTemplate

        drafts_of(opened).drop_template(name)
        opened.apply(RemoveTemplate(name))
